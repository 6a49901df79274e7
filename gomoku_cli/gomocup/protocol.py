"""The syntax of the Gomocup protocol: commands, numbers, and the stones of a BOARD.

Source: https://plastovicka.github.io/protocl2en.htm. Every command has exactly one answer, except INFO and END, which
have none. The answer to BOARD and SWAP2BOARD comes after DONE. MESSAGE and DEBUG may come before an answer. ERROR
answers a command that cannot be carried out; such a command changes nothing. Points are column from the left and row
from the top, from 0.

Commands that begin with YX are those of Yixin's board (https://github.com/accreator/Yixin-Board). Most have no answer.
"""

import re
from dataclasses import dataclass, field
from enum import IntEnum

from core.input_limits import quoted
from core.notation import NotationError, parse_point, point_name
from core.rules import MAX_SIZE, Cell, Rules, Variant

CONNECT = 5
"""Length of a winning line in this protocol."""
_INTEGER = re.compile(r"[+-]?[0-9]{1,20}")
_EXACTLY_FIVE, _CONTINUOUS, _RENJU, _CARO = 1, 2, 4, 8
"""The bits of INFO rule."""


class CommandError(ValueError):
    """A command cannot be carried out. The message is the text of the ERROR."""


def parse_command(line: str) -> tuple[str, str]:
    """Return a command's name, in upper case, and its argument; both are empty for a blank line."""
    name, argument = (*line.split(None, 1), "", "")[:2]
    return name.upper(), argument.strip()


def parse_integer(text: str) -> int | None:
    """Return the integer that `text` is, or None."""
    return int(text) if _INTEGER.fullmatch(text) else None


def parse_size(argument: str) -> int:
    """Return the board size of a START; Yixin's board sends width and height. Raises `CommandError`."""
    sides = [parse_integer(side) for side in argument.split()]
    return _square(sides * 2 if len(sides) == 1 else sides, f"START takes the board's size, not {quoted(argument)}")


def parse_square(argument: str) -> int:
    """Return the board size of a RECTSTART, whose width and height must be equal. Raises `CommandError`."""
    sides = [parse_integer(side.strip()) for side in argument.split(",")]
    return _square(sides, f"RECTSTART takes width,height, not {quoted(argument)}")


def _square(sides: list[int | None], otherwise: str) -> int:
    width, height = sides if len(sides) == 2 else (None, None)
    if width is None or height is None:
        raise CommandError(otherwise)
    if width != height:
        raise CommandError(f"this engine plays square boards only, not {width}x{height}")
    return width


def rules_of_size(size: int, variant: Variant) -> Rules:
    """Return the rules of a board of this size. Raises `CommandError`."""
    if not CONNECT <= size <= MAX_SIZE:
        raise CommandError(f"this engine plays boards of size {CONNECT} to {MAX_SIZE}, not {size}")
    return Rules(size, CONNECT, variant)


def variant_of(rule: int) -> Variant:
    """Return the variant that INFO rule requests."""
    if rule & _RENJU:
        return Variant.RENJU
    if rule & _CARO:
        return Variant.CARO_EXACT if rule & _EXACTLY_FIVE else Variant.CARO
    return Variant.STANDARD if rule & _EXACTLY_FIVE else Variant.FREESTYLE


def unsupported_rules(rule: int) -> list[str]:
    """Return the names of the rules that INFO rule requests and this engine does not play."""
    names = ["the game goes on after five (Yixin: renju, here 4)"] if rule & _CONTINUOUS else []
    known = _EXACTLY_FIVE | _CONTINUOUS | _RENJU | _CARO
    return [*names, *([f"rule {rule} is unknown"] if rule & ~known else [])]


class Field(IntEnum):
    """The owner of a stone in a BOARD."""

    OWN = 1
    OPPONENT = 2
    WINNING_LINE = 3
    """A stone of a line that has won, in games that go on after five."""


@dataclass(slots=True)
class BoardBlock:
    """The lines of a BOARD, a YXBOARD or a SWAP2BOARD so far."""

    command: str
    fault: str | None = None
    """The first error in the block."""
    stones: list[tuple[Cell, Field]] = field(default_factory=list)
    """In the order of the lines. The stones of a SWAP2BOARD have no owner, and `OWN` here."""

    @property
    def cells(self) -> list[Cell]:
        """The cells of the stones."""
        return [cell for cell, _ in self.stones]

    def cells_of(self, owner: Field) -> list[Cell]:
        """Return the cells of one owner's stones."""
        return [cell for cell, other in self.stones if other == owner]

    def add(self, line: str, size: int) -> None:
        """Add one line of the block, or keep its error."""
        if self.fault is not None:
            return
        try:
            point, owner = line, "1"
            if self.command != "SWAP2BOARD":
                point, comma, owner = line.rpartition(",")
                if not comma or owner.strip() not in ("1", "2", "3"):
                    raise CommandError(f"{quoted(line)} is not x,y,field with a field of 1, 2 or 3")
            cell = parse_point(point, size)
            if cell in self.cells:
                raise CommandError(f"{point_name(cell, size)} holds two stones")
        except (NotationError, CommandError) as error:
            self.fault = str(error)
        else:
            self.stones.append((cell, Field(int(owner))))
