"""The newest game of self-play in a run folder."""

from dataclasses import dataclass
from pathlib import Path

from core.records.record import GameRecord, RecordError
from core.records.sgf import parse_sgf
from core.rules import colour_name

_TAIL_BYTES = 1 << 16
"""The last game of a file is in its last bytes: a game takes some 2 kB."""


@dataclass(frozen=True, slots=True)
class NewestGame:
    """A finished game as its file has it."""

    name: str
    """Of the file, without its suffix."""
    record: GameRecord

    @property
    def result(self) -> str:
        """`black wins in 31 moves`."""
        winner, moves = self.record.winner, len(self.record.moves)
        return f"draw in {moves} moves" if winner is None else f"{colour_name(winner)} wins in {moves} moves"


def newest_file(run: Path) -> Path | None:
    """Return the newest file of self-play games of a run."""
    try:
        files = [(path.stat().st_mtime_ns, path.name, path) for path in (run / "games").glob("*.sgf")]
    except OSError:
        return None
    return max(files)[2] if files else None


def read_newest_game(path: Path) -> NewestGame | None:
    """Return the last game of a file that self-play wrote, of a torn one as far as it goes; None for any other file."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, 2) - _TAIL_BYTES))
            text = file.read().decode(errors="replace").rstrip()
    except OSError:
        return None
    text = text[max(0, text.rfind("(;FF[")) :]
    if not text.endswith(")"):
        text = text[: max(0, text.rfind("\n;"))] + ")"
    try:
        return NewestGame(path.stem, parse_sgf(text)[0])
    except RecordError:
        return None
