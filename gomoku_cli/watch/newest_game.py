"""The newest game of self-play in a run folder, read without the rules' compiled code: the screen stays small."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from core.notation import cell_name
from core.rules import BLACK, Cell, Colour

_TAIL_BYTES = 1 << 16
"""The last game of a file is in its last bytes: a game takes some 2 kB."""
_NODE = re.compile(r";[BW]\[([a-z])([a-z])\](?:[A-Z]+\[\d*\])?(?:C\[value ([+-]\d\.\d+) for black)?")
_SIZE = re.compile(r"SZ\[(\d{1,2})\]")
_CONNECT = re.compile(r"RU\[(\d) in a row")
_RESULT = re.compile(r"RE\[([BW])\+")


@dataclass(frozen=True, slots=True)
class NewestGame:
    """A finished game as its file has it."""

    name: str
    """Of the file, without its suffix."""
    size: int
    connect: int
    moves: Sequence[Cell]
    values: Sequence[float | None]
    """The value after each move, for Black."""
    winner: Colour | None

    @property
    def result(self) -> str:
        """`black wins in 31 moves`."""
        if self.winner is None:
            return f"draw in {len(self.moves)} moves"
        return f"{'black' if self.winner == BLACK else 'white'} wins in {len(self.moves)} moves"

    def stones(self, plies: int) -> dict[Cell, Colour]:
        """Return the stones after the first `plies` moves."""
        return {cell: BLACK if ply % 2 == 0 else -BLACK for ply, cell in enumerate(self.moves[:plies])}

    def winning_line(self) -> frozenset[Cell]:
        """Return the cells of the line that the last move completed; none without a winner."""
        if self.winner is None or not self.moves:
            return frozenset()
        stones = self.stones(len(self.moves))
        row, column = divmod(self.moves[-1], self.size)
        found: set[Cell] = set()
        for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
            line = [self.moves[-1]]
            for sign in (1, -1):
                at, across = row + sign * down, column + sign * right
                while 0 <= at < self.size and 0 <= across < self.size:
                    if stones.get(at * self.size + across) != self.winner:
                        break
                    line.append(at * self.size + across)
                    at, across = at + sign * down, across + sign * right
            if len(line) >= self.connect:
                found.update(line)
        return frozenset(found)

    def move_name(self, ply: int) -> str:
        """Return the name of a move: `h8`."""
        return cell_name(self.moves[ply], self.size)


def newest_file(run: Path) -> Path | None:
    """Return the newest file of self-play games of a run."""
    try:
        files = [(path.stat().st_mtime_ns, path.name, path) for path in (run / "games").glob("*.sgf")]
    except OSError:
        return None
    return max(files)[2] if files else None


def read_newest_game(path: Path) -> NewestGame | None:
    """Return the last game of a file that self-play wrote; None for any other file."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, 2) - _TAIL_BYTES))
            text = file.read().decode(errors="replace")
    except OSError:
        return None
    text = text[max(0, text.rfind("(;FF[")) :]
    size, connect, result = _SIZE.search(text), _CONNECT.search(text), _RESULT.search(text)
    if size is None:
        return None
    edge = int(size[1])
    moves: list[Cell] = []
    values: list[float | None] = []
    for column, row, value in _NODE.findall(text):
        cell = (edge - 1 - (ord(row) - ord("a"))) * edge + ord(column) - ord("a")
        if not 0 <= cell < edge * edge:
            return None
        moves.append(cell)
        values.append(float(value) if value else None)
    winner = None if result is None else BLACK if result[1] == "B" else -BLACK
    return NewestGame(path.stem, edge, int(connect[1]) if connect else 5, moves, values, winner)
