"""Measure the board of `gomoku play` in a pseudo-terminal: `python -m benchmarks.screen`.

It starts the command as a person would and watches what it writes. Times are those of this machine with whatever else
runs on it: upper bounds. Needs a Unix system. Games go to a temporary folder.
"""

import os
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.measuring import parser_of, show, spread
from benchmarks.terminal import Terminal
from core.records.formats import write_games
from core.records.record import GameRecord
from core.rules import BLACK, Rules

_SAVED_S = 5.0
_GAMES = 5000
_CURSOR = b"\x1b[1;38;2;255;255;255;48;2;74;44;6m"


def board(folder: Path, *options: str, shows: bytes = b"Your move") -> Terminal:
    """Return a board whose games are in `folder`, when it shows a text."""
    opened = Terminal(("play", *options), {"XDG_DATA_HOME": str(folder)})
    opened.until(lambda text: shows in text)
    return opened


def thinking(folder: Path, seconds: int) -> Terminal:
    """Return a board whose engine thinks about its first answer."""
    opened = board(folder, "--seconds", str(seconds))
    opened.press(b"\r")
    opened.until(lambda text: b"simulations. White" in text)
    return opened


def rows(folder: Path, trials: int) -> Iterator[dict[str, Any]]:
    """Yield all figures."""
    painted, answered = [], []
    for _ in range(trials + 1):
        opened = board(folder)
        opened.press(b"\r")
        painted.append(opened.until(lambda text: b"Loading default" in text or b"is thinking" in text))
        answered.append(opened.until(lambda text: text.rpartition(b"Loading default")[2].count(b"Your move") > 0))
        opened.end()
    yield {"what": "board painted and move taken, s", **spread(painted[1:])}  # the first one warms the caches
    yield {"what": "first answer played, s", **spread(answered[1:])}
    yield {"what": "key to cursor during a search, ms, without the slowest 5 %", **spread(_keys(folder))}
    yield {"what": "bytes of a cursor move", **spread(_sizes(folder))}
    listed, whole = _listed(folder / "many", trials)
    yield {"what": f"key to the painted list of {_GAMES:,} saved games, s", **spread(listed)}
    yield {"what": "until all are in it, s", **spread(whole)}
    for name, number in (("Ctrl-C", None), ("SIGTERM", signal.SIGTERM), ("SIGHUP", signal.SIGHUP)):
        times = []
        for _ in range(trials):
            opened = thinking(folder, 10)
            times.append(opened.end(number=number))
            if b"Traceback" in opened.text or b"\x1b[?1049l" not in opened.text:
                raise SystemExit(f"{name}: the terminal was not restored: {opened.text[-600:]!r}")
        yield {"what": f"end by {name}, s", **spread(times)}
    yield {"what": f"games of {trials} that are whole after SIGKILL", "games": _whole(folder / "killed", trials)}


def _keys(folder: Path) -> list[float]:
    """Return the milliseconds from a key to the painted cursor during a long search, without the slowest 5 %."""
    opened, times = thinking(folder, 60), []
    for step in range(200):
        opened.quiet(0.02)
        start, written = time.perf_counter(), b""
        opened.press(b"\x1b[D" if step % 8 < 4 else b"\x1b[C")
        while _CURSOR not in written:
            written += opened.read(1.0)
        times.append(1000 * (time.perf_counter() - start))
    opened.end()
    return sorted(times)[:190]


def _listed(folder: Path, trials: int) -> tuple[list[float], list[float]]:
    """Return the seconds from the key to the list of saved games, and to the whole list, of boards just opened.

    A game has 40 moves and 20 analyses of 40 candidates.
    """
    games = folder / "gomoku" / "games"
    games.mkdir(parents=True)
    analysis = '["h8",0.1234,0.0123,12,null,"h8 i9 g7"],' * 40
    record = GameRecord(Rules(), range(40), BLACK, black="you", white="level:3", analyses=(analysis, "") * 20 + ("",))
    write_games(games / "0.sgf", [record])
    for number in range(1, _GAMES):
        os.link(games / "0.sgf", games / f"{number}.sgf")
    painted, whole = [], []
    for _ in range(trials):
        opened = board(folder, "--two-players", shows=b"Black to move")
        opened.quiet(2.0)
        start = time.perf_counter() - opened.started
        opened.press(b"o")
        painted.append(opened.until(lambda text: b"Saved games: 30" in text) - start)
        whole.append(opened.until(lambda text: f"Saved games: {_GAMES:,}".encode() in text) - start)
        opened.end(b"\x03")
    return painted, whole


def _sizes(folder: Path) -> list[float]:
    """Return the bytes of cursor moves when nothing else changes."""
    opened, sizes = board(folder, "--two-players", shows=b"Black to move"), []
    opened.quiet(1.0)
    for step in range(20):
        start = len(opened.text)
        opened.press(b"\x1b[D" if step % 8 < 4 else b"\x1b[A")
        opened.quiet(0.2)
        sizes.append(len(opened.text) - start)
    opened.end()
    return sizes


def _whole(folder: Path, trials: int) -> int:
    """Kill the screen's process right after its n-th stone is drawn; return the games that are saved whole."""
    whole = 0
    for trial in range(trials):
        opened = board(folder, "--two-players", shows=b"Black to move")
        moves = 1 + trial % 5
        for move in range(moves):
            turn, start = (b"White to move", b"Black to move")[move % 2], len(opened.text)
            opened.press(b"\r\x1b[D")
            opened.until(lambda text, start=start, turn=turn: turn in text[start:])
        opened.end(number=signal.SIGKILL)
        deadline = time.perf_counter() + _SAVED_S  # the engine's process may still be importing what it saves with
        while time.perf_counter() < deadline and _moves_of_newest(folder / "gomoku" / "games") != moves:
            time.sleep(0.05)
        whole += _moves_of_newest(folder / "gomoku" / "games") == moves
    return whole


def _moves_of_newest(games: Path) -> int:
    """Return the number of moves of the newest game in a folder, 0 without one."""
    files = sorted(games.glob("*.sgf"), key=lambda path: path.stat().st_mtime)
    return files[-1].read_text().count("\n;") if files else 0


def main() -> None:
    """Print the figures."""
    parser = parser_of(__doc__)
    parser.add_argument("--trials", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        show(rows(Path(folder), arguments.trials), arguments.json)


if __name__ == "__main__":
    main()
