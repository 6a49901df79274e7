"""Openings of games: the shipped balanced ones, a file of openings, or the empty board."""

from importlib import resources
from pathlib import Path

from core.records.openings import parse_openings, read_openings
from core.records.record import RecordError
from core.rules import Cell, Rules

BALANCED, EMPTY_BOARD = "balanced", "empty"


def load_openings(choice: str, rules: Rules, *, for_training: bool = False) -> list[tuple[Cell, ...]]:
    """Return openings: `balanced` (shipped), `empty` (the empty board) or those of a file. Raises `RecordError`.

    Training takes every second one of the shipped openings, and evaluation the others, so no match repeats training.
    """
    if choice == EMPTY_BOARD:
        return [()]
    if choice != BALANCED:
        return read_openings(Path(choice), rules)
    name = f"freestyle{rules.size}.txt"
    file = resources.files("curriculum") / "openings" / name
    if rules.connect != 5 or not file.is_file():
        raise RecordError(f"there are no balanced openings for {rules}: use --openings empty or a file of your own")
    openings = parse_openings(file.read_text(encoding="utf-8"), rules, name)
    return openings[1::2] if for_training else openings[0::2]


def evaluation_openings(rules: Rules) -> list[tuple[Cell, ...]]:
    """Return the shipped balanced openings, or the empty board if none are shipped for these rules."""
    try:
        return load_openings(BALANCED, rules)
    except RecordError:
        return load_openings(EMPTY_BOARD, rules)
