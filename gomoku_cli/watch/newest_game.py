"""The newest game of self-play in a run folder."""

from pathlib import Path

from core.records.record import GameRecord, RecordError
from core.records.sgf import parse_sgf

_TAIL_BYTES = 1 << 16
"""The last game of a file is in its last bytes: a game takes some 2 kB."""


def newest_file(run: Path) -> Path | None:
    """Return the newest file of self-play games of a run."""
    try:
        files = [(path.stat().st_mtime_ns, path.name, path) for path in (run / "games").glob("*.sgf")]
    except OSError:
        return None
    return max(files)[2] if files else None


def read_newest_game(path: Path) -> GameRecord | None:
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
        return parse_sgf(text)[0]
    except RecordError:
        return None
