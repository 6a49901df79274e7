"""Openings of games: the shipped balanced ones, a file of openings, or the empty board."""

import hashlib
import re
from collections.abc import Sequence
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from core.compiled.symmetry import targets
from core.records.openings import parse_openings, read_openings
from core.records.record import RecordError
from core.rules import Cell, Rules, Variant, shipped_variant
from curriculum.config import Config
from curriculum.reporting import Context

BALANCED, EMPTY_BOARD = "balanced", "empty"
_HEAD = 4096
"""Bytes at the beginning of a file that are searched for the command that made it."""


def load_openings(choice: str, rules: Rules, *, for_training: bool = False) -> list[tuple[Cell, ...]]:
    """Return openings: `balanced` (shipped), `empty` (the empty board) or those of a file. Raises `RecordError`.

    Where none are shipped for the variant of the rules, those of freestyle are taken (`balanced_for`). About half of
    the shipped openings are for training, and the others for evaluation: the same under all rules, so no match repeats
    a start that its nets, or those that they began as, were trained on.
    """
    if choice == EMPTY_BOARD:
        return [()]
    if choice != BALANCED:
        return read_openings(Path(choice), rules)
    variant = balanced_for(rules)
    if variant is None:
        raise RecordError(f"there are no balanced openings for {rules}: use --openings empty or a file of your own")
    file = _shipped(rules, variant)
    openings = parse_openings(file.read_text(encoding="utf-8"), rules, file.name)
    return [moves for moves in openings if _is_for_training(moves, rules.size) == for_training]


def canonical(moves: Sequence[Cell], size: int) -> list[tuple[int, int]]:
    """Return the cells and colours of an opening's stones, the same for all that symmetries carry into each other."""
    return min(
        sorted((symmetry[cell], ply % 2) for ply, cell in enumerate(moves)) for symmetry in targets(size).tolist()
    )


def _is_for_training(moves: Sequence[Cell], size: int) -> bool:
    """Draw whether an opening is for training, by its stones: however it is turned, and whatever file it is in.

    Its place in a file says nothing: there, those that favour Black and those that favour White take turns.
    """
    return bool(hashlib.sha256(repr(canonical(moves, size)).encode()).digest()[0] & 1)


def variant_of_file(choice: str) -> str | None:
    """Return the variant for which `gomoku openings` made a file, None for another choice or file."""
    if choice in (BALANCED, EMPTY_BOARD):
        return None
    head = Path(choice).read_bytes()[:_HEAD].decode("utf-8", "replace")
    match = re.search(r"^# gomoku openings .*--variant=([\w-]+)", head, re.MULTILINE)
    return match[1] if match else None


def balanced_for(rules: Rules) -> Variant | None:
    """Return the variant that the shipped openings of these rules were made for; None if there are none.

    That is their own variant (`shipped_variant`), or else freestyle.
    """
    variants = (shipped_variant(rules.variant), Variant.FREESTYLE) if rules.connect == 5 else ()
    return next((variant for variant in variants if _shipped(rules, variant).is_file()), None)


def note_on_balanced(rules: Rules) -> str | None:
    """Return a note if the shipped openings of these rules were made for another variant, else None."""
    variant = balanced_for(rules)
    if variant in (None, shipped_variant(rules.variant)):
        return None
    return f"note: the balanced openings are those of {variant}: none are shipped for {rules}"


def _shipped(rules: Rules, variant: Variant) -> Traversable:
    return resources.files("curriculum") / "openings" / f"{variant}{rules.size}.txt"


def training_openings(config: Config, context: Context) -> list[tuple[Cell, ...]]:
    """Return the balanced openings to start self-play from; none, with a note, where none are shipped for the rules."""
    share = config.selfplay.balanced_share
    if share <= 0:
        return []
    if balanced_for(config.rules) is None:
        context.reporter.say(
            f"no balanced openings are shipped for {config.rules}: the {100 * share:.0f} % of self-play games that "
            "selfplay.balanced_share starts from them start from the empty board"
        )
        return []
    if note := note_on_balanced(config.rules):
        context.reporter.say(note)
    return load_openings(BALANCED, config.rules, for_training=True)


def evaluation_openings(rules: Rules) -> list[tuple[Cell, ...]]:
    """Return the shipped balanced openings, or the empty board if none are shipped for these rules."""
    return load_openings(BALANCED if balanced_for(rules) else EMPTY_BOARD, rules)
