"""All subcommands of `gomoku` in the order of its help, each loaded only when it is used."""

from importlib import import_module
from typing import Any

import typer
from typer.main import get_command, get_group

from gomoku_cli.commands.help import Command, subcommand

_TRAIN, _MEASURE, _PLAY, _OTHER = "Train", "Measure", "Play and study", "Other"
_TRAINING = {
    "train": ("train", "Train a model from nothing, through all three phases."),
    "generate-basics": ("generate_basics", "Phase 1: basic positions, and a first training on them."),
    "imitate": ("phase:imitate", "Phase 2: imitation of a teacher."),
    "selfplay": ("phase:selfplay", "Phase 3: gated self-play."),
    "watch": ("watch", "Watch a run: curves, gates, the newest game, the time left."),
    "report": ("report", "Write a report of runs, or of a game, as one page."),
    "runs": ("runs", "List runs."),
    "info": ("info", "Describe a model or a run."),
    "config": ("config", "List, explain and compare settings."),
    "export": ("export", "Export a model's nets for other programs."),
}
_TABLE = {
    _TRAIN: {name: (f"training.{module}", text) for name, (module, text) in _TRAINING.items()}
    | {"curves": ("pictures.curves", "Show the curves of a run, or of runs joined.")},
    _MEASURE: {
        "evaluate": ("evaluate", "Play a match: result, Elo difference and interval."),
        "tournament": ("tournament", "Rate many players."),
        "strength": ("training.strength", "Rate every kept model of a run on one scale."),
        "ladder": ("ladder", "Play against stronger and stronger pure MCTS."),
        "suite": ("suite", "Solve tactical positions."),
        "openings": ("openings", "Make balanced openings."),
        "papers": ("papers", "Check claims of the three papers."),
        "bench": ("bench", "Measure this machine's speed."),
    },
    _PLAY: {
        "play": ("play", "Play and study on a board in the terminal."),
        "puzzles": ("puzzles", "Solve puzzles on a board in the terminal."),
        "analyze": ("pictures.analyze", "Show positions and games as a player sees them."),
        "picture": ("pictures.picture", "Show a game with its values."),
        "book": ("book", "Make and show opening books."),
        "convert": ("convert", "Convert files of games."),
        "engine": ("engine", "Play by the Gomocup (Piskvork) protocol."),
    },
    _OTHER: {
        "warmup": ("warmup", "Compile ahead, so that other commands start at once."),
        "help": ("help", "Show the help of a command."),
    },
    "": {"analyse": ("pictures.analyze", "")},
}
"""Module and short help of each command, by the parts of the help; what is in none has no place there."""


class Lazy(Command):
    """A subcommand by its name and a short help; its module is imported by the call or the help of the command.

    The imports of all of them took a quarter of the time of `gomoku --help`.
    """

    def __init__(self, name: str, module: str, text: str, panel: str) -> None:
        """`module`: in this package, with the name of its function unless it is `command`; `panel`: in the help."""
        super().__init__(name, short_help=text, rich_help_panel=panel, hidden=not panel)
        self._module = module

    def make_context(self, *args: Any, **others: Any) -> Any:
        """Return the context of the command itself."""
        return self.load().make_context(*args, **others)

    def load(self) -> Any:
        """Return the command itself, with its options."""
        path, _, name = self._module.partition(":")
        module = import_module(f"{__package__}.{path}")
        if hasattr(module, "app"):
            group = get_group(module.app)
            group.name = self.name
            return group
        app = typer.Typer(add_completion=False, rich_markup_mode="rich")
        subcommand(app, self.name)(getattr(module, name or "command"))
        return get_command(app)


def commands() -> dict[str, Lazy]:
    """Return all subcommands by name."""
    return {
        name: Lazy(name, module, text, panel)
        for panel, entries in _TABLE.items()
        for name, (module, text) in entries.items()
    }
