"""The library: `import gomoku_cli as gomoku` gives all names of `__all__`, each at its first use.

Nothing is imported before, so a program pays for numpy, the kernels and torch only where it uses them. docs/python.md
shows each name in an example. The `gomoku` command line and its screens are in this package too.
"""

TYPE_CHECKING = False  # `typing` has the same constant, and would have to be imported
if TYPE_CHECKING:
    from core.book import Book, BookMove
    from core.errors import BadDataError, FailedError, UsageError, UserError
    from core.evaluation import BatchEvaluator, PositionBatch
    from core.position import IllegalMoveError, Outcome, Position
    from core.records.formats import read_games, read_trees, write_games
    from core.records.record import GameRecord as Record
    from core.records.tree import GameTree, Node
    from core.rules import BLACK, NO_CELL, WHITE, Rules
    from curriculum.arena.players import PlayerSettings, open_engine, open_player
    from curriculum.arena.results import MatchResult
    from curriculum.arena.tournament import play_match
    from curriculum.config import Config
    from curriculum.phases.all import train
    from curriculum.presets import resolve as load_config
    from curriculum.run.folder import RunFolder as Run
    from curriculum.run.folder import read_metrics
    from gomoku_cli.study.game import analyses_of, record_game
    from nets.checkpoint import load_model
    from nets.runtimes.loading import open_model
    from search.analysis import Analysis, MoveAnalysis
    from search.engine import Engine
    from search.limit import Limit
    from search.players import Decision, ForfeitError, FunctionPlayer, Player
    from search.running import RunningSearch
    from search.tree.player import MctsPlayer
    from search.tree.settings import Policy, SearchSettings

__version__ = "0.1.0"

__all__ = [
    "BLACK",
    "NO_CELL",
    "WHITE",
    "Analysis",
    "BadDataError",
    "BatchEvaluator",
    "Book",
    "BookMove",
    "Config",
    "Decision",
    "Engine",
    "FailedError",
    "ForfeitError",
    "FunctionPlayer",
    "GameTree",
    "IllegalMoveError",
    "Limit",
    "MatchResult",
    "MctsPlayer",
    "MoveAnalysis",
    "Node",
    "Outcome",
    "Player",
    "PlayerSettings",
    "Policy",
    "Position",
    "PositionBatch",
    "Record",
    "Rules",
    "Run",
    "RunningSearch",
    "SearchSettings",
    "UsageError",
    "UserError",
    "analyses_of",
    "load_config",
    "load_model",
    "open_engine",
    "open_model",
    "open_player",
    "play_match",
    "read_games",
    "read_metrics",
    "read_trees",
    "record_game",
    "train",
    "write_games",
]

_MODULES = {
    "BLACK": "core.rules",
    "NO_CELL": "core.rules",
    "WHITE": "core.rules",
    "Analysis": "search.analysis",
    "BadDataError": "core.errors",
    "BatchEvaluator": "core.evaluation",
    "Book": "core.book",
    "BookMove": "core.book",
    "Config": "curriculum.config",
    "Decision": "search.players",
    "Engine": "search.engine",
    "FailedError": "core.errors",
    "ForfeitError": "search.players",
    "FunctionPlayer": "search.players",
    "GameTree": "core.records.tree",
    "IllegalMoveError": "core.position",
    "Limit": "search.limit",
    "MatchResult": "curriculum.arena.results",
    "MctsPlayer": "search.tree.player",
    "MoveAnalysis": "search.analysis",
    "Node": "core.records.tree",
    "Outcome": "core.position",
    "Player": "search.players",
    "PlayerSettings": "curriculum.arena.players",
    "Policy": "search.tree.settings",
    "Position": "core.position",
    "PositionBatch": "core.evaluation",
    "Record": "core.records.record",
    "Rules": "core.rules",
    "Run": "curriculum.run.folder",
    "RunningSearch": "search.running",
    "SearchSettings": "search.tree.settings",
    "UsageError": "core.errors",
    "UserError": "core.errors",
    "analyses_of": "gomoku_cli.study.game",
    "load_config": "curriculum.presets",
    "load_model": "nets.checkpoint",
    "open_engine": "curriculum.arena.players",
    "open_model": "nets.runtimes.loading",
    "open_player": "curriculum.arena.players",
    "play_match": "curriculum.arena.tournament",
    "read_games": "core.records.formats",
    "read_metrics": "curriculum.run.folder",
    "read_trees": "core.records.formats",
    "record_game": "gomoku_cli.study.game",
    "train": "curriculum.phases.all",
    "write_games": "core.records.formats",
}
"""The module of each name."""
_NAMES_THERE = {"Record": "GameRecord", "load_config": "resolve", "Run": "RunFolder"}
"""Names that are other ones in their module."""


if not TYPE_CHECKING:  # which would take any name for one of ours

    def __getattr__(name: str) -> object:
        """Return a name of `__all__` and keep it. Raises `ImportError` where another package takes our place."""
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        check_packages()
        from importlib import import_module

        value = globals()[name] = getattr(import_module(_MODULES[name]), _NAMES_THERE.get(name, name))
        return value


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})


def check_packages() -> None:
    """Raise `ImportError` if Python finds other packages of the names of ours, such as a `nets.py` beside a script."""
    import os
    from importlib.util import find_spec

    root = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    for name in ("core", "search", "nets", "curriculum"):
        spec = find_spec(name)
        found = "nothing" if spec is None else os.path.realpath(spec.origin or name)
        if found != os.path.join(root, name, "__init__.py"):
            raise ImportError(
                f"gomoku_cli needs its own package {name}, but Python finds {found} under this name: rename that one, "
                "or start Python from another folder"
            )
