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

__all__ = ["BLACK", "NO_CELL", "WHITE", "IllegalMoveError", "Outcome", "Position", "Rules"]
__all__ += ["Book", "BookMove", "GameTree", "Node", "Record", "read_games", "read_trees", "write_games"]
__all__ += ["Analysis", "Engine", "Limit", "MoveAnalysis", "RunningSearch", "analyses_of", "open_engine", "record_game"]
__all__ += ["Decision", "ForfeitError", "FunctionPlayer", "MctsPlayer", "Player", "PlayerSettings", "open_player"]
__all__ += ["BatchEvaluator", "Policy", "PositionBatch", "SearchSettings", "load_model", "open_model"]
__all__ += ["Config", "MatchResult", "Run", "load_config", "play_match", "read_metrics", "train"]
__all__ += ["BadDataError", "FailedError", "UsageError", "UserError"]

_MODULES = {
    name: module
    for module, names in {
        "core.book": "Book BookMove",
        "core.errors": "BadDataError FailedError UsageError UserError",
        "core.evaluation": "BatchEvaluator PositionBatch",
        "core.position": "IllegalMoveError Outcome Position",
        "core.records.formats": "read_games read_trees write_games",
        "core.records.record": "Record",
        "core.records.tree": "GameTree Node",
        "core.rules": "BLACK NO_CELL WHITE Rules",
        "curriculum.arena.players": "PlayerSettings open_engine open_player",
        "curriculum.arena.results": "MatchResult",
        "curriculum.arena.tournament": "play_match",
        "curriculum.config": "Config",
        "curriculum.phases.all": "train",
        "curriculum.presets": "load_config",
        "curriculum.run.folder": "Run read_metrics",
        "gomoku_cli.study.game": "analyses_of record_game",
        "nets.checkpoint": "load_model",
        "nets.runtimes.loading": "open_model",
        "search.analysis": "Analysis MoveAnalysis",
        "search.engine": "Engine",
        "search.limit": "Limit",
        "search.players": "Decision ForfeitError FunctionPlayer Player",
        "search.running": "RunningSearch",
        "search.tree.player": "MctsPlayer",
        "search.tree.settings": "Policy SearchSettings",
    }.items()
    for name in names.split()
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
