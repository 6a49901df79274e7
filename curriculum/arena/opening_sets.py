"""Openings of games: the shipped balanced ones, a file of openings, or the empty board."""

import re
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from core.records.openings import parse_openings, read_openings
from core.records.record import RecordError
from core.rules import Cell, Rules

BALANCED, EMPTY_BOARD = "balanced", "empty"
_HEAD = 4096
"""Bytes at the beginning of a file that are searched for the command that made it."""


def load_openings(choice: str, rules: Rules, *, for_training: bool = False) -> list[tuple[Cell, ...]]:
    """Return openings: `balanced` (shipped), `empty` (the empty board) or those of a file. Raises `RecordError`.

    Training takes every second one of the shipped openings, and evaluation the others, so no match repeats training.
    """
    if choice == EMPTY_BOARD:
        return [()]
    if choice != BALANCED:
        return read_openings(Path(choice), rules)
    if not has_balanced_openings(rules):
        raise RecordError(f"there are no balanced openings for {rules}: use --openings empty or a file of your own")
    file = _shipped(rules)
    openings = parse_openings(file.read_text(encoding="utf-8"), rules, file.name)
    return openings[1::2] if for_training else openings[0::2]


def variant_of_file(choice: str) -> str | None:
    """Return the variant for which `gomoku openings` made a file, None for another choice or file."""
    if choice in (BALANCED, EMPTY_BOARD):
        return None
    head = Path(choice).read_bytes()[:_HEAD].decode("utf-8", "replace")
    match = re.search(r"^# gomoku openings .*--variant=([\w-]+)", head, re.MULTILINE)
    return match[1] if match else None


def has_balanced_openings(rules: Rules) -> bool:
    """Return True if openings are shipped for these rules."""
    return rules.connect == 5 and _shipped(rules).is_file()


def _shipped(rules: Rules) -> Traversable:
    return resources.files("curriculum") / "openings" / f"freestyle{rules.size}.txt"


def evaluation_openings(rules: Rules) -> list[tuple[Cell, ...]]:
    """Return the shipped balanced openings, or the empty board if none are shipped for these rules."""
    return load_openings(BALANCED if has_balanced_openings(rules) else EMPTY_BOARD, rules)
