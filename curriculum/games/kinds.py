"""Kinds of basic positions: patterns along a line, with their answers and values (A IV-B).

A pattern has `o` for the attacker's stones, `_` for the answers, `.` for cells that stay empty, and `x` for a
defender's stone or the edge of the board.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from core.errors import UsageError
from core.rules import Rules
from curriculum.keys import nearest


class BasicsError(UsageError, ValueError):
    """Basic positions that cannot be drawn: an unknown kind, or a board too small or too full for it."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of basic position."""

    pattern: Callable[[int], str]
    """The pattern for a connect length."""
    attacks: bool
    """True if the side to move owns the `o` stones."""
    value: float
    """z for the side to move."""
    weights: tuple[float, ...] | None = None
    """Shares of the answers in pi, in the pattern's order; None puts all on one of them at random."""
    any_colour: bool = True
    """True if the attacker's colour is drawn at random; else the attacker is black, as in the paper."""
    against_four: bool = False
    """True if the defender has a line of one stone less than the attacker needs, too: the attacker moves first."""


KINDS: Mapping[str, Kind] = {
    # The paper's text: black attacks, white defends, one answer.
    "attack-four": Kind(lambda k: "_" + "o" * (k - 1) + "_", True, 1.0, any_colour=False),
    "defend-four": Kind(lambda k: "x" + "o" * (k - 1) + "_", False, 0.0, any_colour=False),
    # The eight kinds of the paper's repository.
    "open-four-attack": Kind(lambda k: "_" + "o" * (k - 1) + "_", True, 1.0, (0.5, 0.5)),
    "open-four-defend": Kind(lambda k: "_" + "o" * (k - 1) + "_", False, -1.0, (0.5, 0.5)),
    "open-three-attack": Kind(lambda k: "._" + "o" * (k - 2) + "_.", True, 1.0, (0.5, 0.5)),
    "open-three-defend": Kind(lambda k: "._" + "o" * (k - 2) + "_.", False, 0.0, (0.5, 0.5)),
    "split-three-attack": Kind(lambda k: "." + "o" * (k - 3) + "_o.", True, 1.0, (1.0,)),
    "split-three-defend": Kind(lambda k: "_" + "o" * (k - 3) + "_o_", False, 0.0, (0.25, 0.5, 0.25)),
    "split-four-defend": Kind(lambda k: "o" * ((k - 1) // 2) + "_" + "o" * (k // 2), False, 0.0, (1.0,)),
    "broken-four-defend": Kind(lambda k: "o" * (k - 2) + "_o", False, 0.0, (1.0,)),
    # Of our own: both sides could win with their next stone, and the side to move does.
    "four-first": Kind(lambda k: "o" * (k - 1) + "_", True, 1.0, against_four=True),
    "split-four-first": Kind(lambda k: "o" * ((k - 1) // 2) + "_" + "o" * (k // 2), True, 1.0, against_four=True),
    "broken-four-first": Kind(lambda k: "o" * (k - 2) + "_o", True, 1.0, against_four=True),
}
"""Every kind by its name."""
LITERAL_KINDS = ("attack-four", "defend-four")
OWN_KINDS = ("four-first", "split-four-first", "broken-four-first")
REPOSITORY_KINDS = tuple(name for name in KINDS if name not in LITERAL_KINDS + OWN_KINDS)


def check(rules: Rules, kinds: Sequence[str], noise_stones: tuple[int, int]) -> None:
    """Raise `BasicsError` for positions that can never be drawn: an unknown kind, a board too small or too full."""
    if not kinds:
        raise BasicsError("name at least one kind of basic position")
    for name in kinds:
        if name not in KINDS:
            raise BasicsError(f"there is no kind of basic position {name!r}{nearest(name, KINDS)}")
        if name in REPOSITORY_KINDS and rules.connect < 4:
            raise BasicsError(f"{name} needs a connect length of 4 or more")
        length = len(KINDS[name].pattern(rules.connect).strip("x"))
        if length > rules.size:
            raise BasicsError(f"{name} does not fit on a board of {rules.size}x{rules.size}")
        if length + noise_stones[0] > rules.cells:
            raise BasicsError(f"{name} and {noise_stones[0]} other stones do not fit on {rules.cells} cells")
    low, high = noise_stones
    if not 0 <= low <= high:
        raise BasicsError(f"noise of {low} to {high} stones makes no sense: give the minimum and the maximum")
