"""Opening rules: three stones that one side places for both colours, and a choice of colours by the other side.

Black has an advantage on the empty board. Where the other side may take Black, the first one places stones that are
worth as much to either colour. https://gomocup.org/swap2-tournament-rules/ has the rule of swap2; renju's first three
stones are those of the rules of the Renju International Federation (RIF).
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Self

from core.position import IllegalMoveError, Position
from core.rules import BLACK, WHITE, Cell, Colour

Side = Literal[0, 1]
"""One of the two players before their colours are chosen: 0 places the first stones, 1 is the other."""


class OpeningRule(StrEnum):
    """The rule by which the colours are chosen."""

    FREE = "free"
    """The colours are fixed before the game."""
    SWAP = "swap"
    """One side places three stones, the other one chooses its colour."""
    SWAP2 = "swap2"
    """Likewise; or the other side places two stones more, and the first one chooses."""
    RIF = "rif"
    """Swap with one of renju's 26 openings: a stone at the centre, one beside it, one at most two lines from it."""


class Choice(StrEnum):
    """A choice of the side whose turn it is."""

    BLACK = "black"
    WHITE = "white"
    """White is to move after three stones and after five."""
    MORE = "more"
    """Two stones more; the other side chooses its colour."""


@dataclass(frozen=True, slots=True)
class Opening:
    """The choices of an opening so far; with the number of stones on the board they say what comes next.

    >>> opening = Opening(OpeningRule.SWAP2).after(Choice.MORE).after(Choice.BLACK)
    >>> opening.stones, opening.black, str(opening)
    (5, 0, 'swap2 more black')
    """

    rule: OpeningRule
    choices: tuple[Choice, ...] = ()

    def __post_init__(self) -> None:
        allowed = {
            OpeningRule.FREE: ("",),
            OpeningRule.SWAP: ("", "black", "white"),
            OpeningRule.RIF: ("", "black", "white"),
            OpeningRule.SWAP2: ("", "black", "white", "more", "more black", "more white"),
        }
        if " ".join(self.choices) not in allowed[self.rule]:
            raise ValueError(f"{self} is no opening")

    @property
    def stones(self) -> int:
        """Stones that belong to the opening so far, black first, in turn."""
        if self.rule is OpeningRule.FREE:
            return 0
        return 5 if Choice.MORE in self.choices else 3

    def allows(self, position: Position, cell: Cell) -> bool:
        """Return True if the next stone of the opening may stand on this cell, as far as this rule says."""
        size, reach = position.rules.size, position.ply
        if self.rule is not OpeningRule.RIF or reach >= self.stones:
            return True
        return max(abs(cell // size - size // 2), abs(cell % size - size // 2)) <= reach

    def check(self, position: Position, cell: Cell) -> None:
        """Raise `IllegalMoveError` for a cell that `allows` refuses."""
        if not self.allows(position, cell):
            far = ("at the centre", "one line from the centre at most", "two lines from the centre at most")
            raise IllegalMoveError(f"in {self.rule} stone {position.ply + 1} stands {far[position.ply]}")

    @property
    def is_chosen(self) -> bool:
        """True once the colours are fixed."""
        return self.rule is OpeningRule.FREE or (bool(self.choices) and self.choices[-1] is not Choice.MORE)

    def is_over(self, ply: int) -> bool:
        """Return True if the game goes on by turns: the colours are fixed and the stones are placed."""
        return self.is_chosen and ply >= self.stones

    def actor(self, ply: int) -> Side:
        """Return the side whose turn it is with `ply` stones on the board, before the end of the opening."""
        places = ply < self.stones
        return 0 if places == (Choice.MORE not in self.choices) else 1

    def options(self, ply: int) -> tuple[Choice, ...]:
        """Return the choices of the side whose turn it is; none while it places stones, and after the end."""
        if self.is_chosen or ply < self.stones:
            return ()
        more = self.rule is OpeningRule.SWAP2 and not self.choices
        return (Choice.WHITE, Choice.BLACK, Choice.MORE) if more else (Choice.WHITE, Choice.BLACK)

    def after(self, choice: Choice) -> "Opening":
        """Return the opening after a choice. Raises `ValueError` for one that the rule does not allow."""
        return Opening(self.rule, (*self.choices, choice))

    @property
    def black(self) -> Side:
        """The side that has Black; before the choice the one that began."""
        if self.rule is OpeningRule.FREE or not self.is_chosen:
            return 0
        takes, first_chooses = self.choices[-1] is Choice.BLACK, Choice.MORE in self.choices
        return 0 if takes == first_chooses else 1

    def colour_of(self, side: Side) -> Colour:
        """Return the colour of a side; before the choice the one that began counts as Black."""
        return BLACK if side == self.black else WHITE

    def __str__(self) -> str:
        return " ".join((self.rule, *self.choices))

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the opening of a text that `str` has made. Raises `ValueError` for any other."""
        rule, *choices = text.split() or [""]
        return cls(OpeningRule(rule), tuple(map(Choice, choices)))


FREE = Opening(OpeningRule.FREE)
"""Colours that are fixed before the game."""
