"""Measure the board of `gomoku play` in a pseudo-terminal: `python -m benchmarks.screen`.

It starts the command as a person would and watches what it writes. Times are those of this machine with whatever else
runs on it: upper bounds. Needs a Unix system. Games go to a temporary folder.
"""

import os
import re
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.measuring import parser_of, show, spread
from benchmarks.terminal import Terminal
from core.records.formats import write_games
from core.records.record import GameRecord
from core.rules import BLACK, Rules

_SAVED_S = 5.0
_GAMES = 5000
_ESCAPE = re.compile(rb"\x1b\[[0-9;?]*[a-zA-Z]")
_CURSOR = {
    "none": b"\x1b[1;38;2;255;255;255;48;2;74;44;6m",
    "kitty": "\U0010eeee".encode(),
    "iterm2": b"\x1b]1337;File=",
    "sixel": b"\x1bP0;1;0q",
}
"""The beginning of a painted cursor, by the protocol for pictures of the board."""


def has(shown: bytes) -> Callable[[bytes], bool]:
    """Return the question whether a text holds another."""
    return lambda text: shown in text


def board(folder: Path, *options: str, shows: bytes = b"Your move", size: tuple[int, int] = (24, 80)) -> Terminal:
    """Return a board whose games are in `folder`, when it shows a text."""
    opened = Terminal(("play", *options), {"XDG_DATA_HOME": str(folder)}, size)
    opened.until(has(shows))
    return opened


def thinking(folder: Path, seconds: int, graphics: str = "none") -> Terminal:
    """Return a board whose engine thinks about its first answer."""
    opened = board(folder, "--seconds", str(seconds), "--graphics", graphics)
    opened.answer(b"\r", has(b"simulations. White"))
    return opened


def analysing(folder: Path) -> Terminal:
    """Return a board of two players with an open three and a running analysis, which colours the cells."""
    opened = board(folder, "--two-players", shows=b"Black to move")
    opened.quiet(1.0)
    opened.answer(b"/h8a1h9c15h10\r", has(b"White to move"))
    opened.quiet(0.5)  # letters that follow pasted moves at once would be pasted too
    opened.answer(b"c", has(b"running"))
    opened.press(b"cpa")  # no table, no panel: the colours go on
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
    for graphics in _CURSOR:
        moved = spread(_keys(thinking(folder, 60, graphics), graphics))
        yield {"what": f"key to cursor during a search, ms, without the slowest 5 %, graphics {graphics}", **moved}
        for columns, lines in ((80, 24), (120, 50)):
            sizes = spread(_sizes(folder, graphics, (lines, columns)))
            yield {"what": f"bytes of a cursor move, {columns}x{lines}, graphics {graphics}", **sizes}
    opened = analysing(folder)
    yield {"what": "key to threats beside an endless analysis, s", **spread(_threats(opened, trials))}
    moved = spread(_keys(opened))
    yield {"what": "key to cursor and to the line for a move there, ms, without the slowest 5 %", **moved}
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


def _keys(opened: Terminal, graphics: str = "none") -> list[float]:
    """Return the milliseconds from a key to the painted cursor or line for a move, without the slowest 5 %."""
    times = []
    for step in range(200):
        key, painted = (
            (b"\x1b[D" if step % 8 < 4 else b"\x1b[C", _CURSOR[graphics]) if step % 4 else (b"/", b"a move, such as h8")
        )
        time.sleep(0.05)
        opened.read(0)
        times.append(1000 * opened.answer(key, has(painted)))
        opened.press(b"\x1b" if key == b"/" else b"")
    opened.end()
    return sorted(times)[:190]


def _threats(opened: Terminal, trials: int) -> list[float]:
    """Return the seconds from the key to the painted threats, each time in another position."""
    times = []
    for trial in range(trials):
        opened.press(f"/a{3 + trial}o{3 + trial}\r".encode())
        opened.wait_for(lambda: False, 2.0)
        # One 4 is in the message on the marks.
        times.append(opened.answer(b"f", lambda text: _ESCAPE.sub(b"", text).count(b"4") > 1))
        opened.press(b"f")
    return times


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
        painted.append(opened.answer(b"o", has(b"Saved games: 30")))
        whole.append(opened.until(has(f"Saved games: {_GAMES:,}".encode())) - start)
        opened.end()
    return painted, whole


def _sizes(folder: Path, graphics: str, size: tuple[int, int]) -> list[float]:
    """Return the bytes of cursor moves when nothing else changes, on a terminal of these rows and columns."""
    opened = board(folder, "--two-players", "--graphics", graphics, shows=b"Black to move", size=size)
    opened.quiet(1.0)
    sizes: list[float] = []
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
            turn = (b"White to move", b"Black to move")[move % 2]
            opened.answer(b"\r\x1b[D", has(turn))
        opened.end(number=signal.SIGKILL)
        # The engine's process may still be importing what it saves with.
        whole += opened.wait_for(partial(_newest_has, folder / "gomoku" / "games", moves), _SAVED_S)
    return whole


def _newest_has(games: Path, moves: int) -> bool:
    """Return True if the newest game in a folder has so many moves."""
    files = sorted(games.glob("*.sgf"), key=lambda path: path.stat().st_mtime)
    return bool(files) and files[-1].read_text().count("\n;") == moves


def main() -> None:
    """Print the figures."""
    parser = parser_of(__doc__)
    parser.add_argument("--trials", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        show(rows(Path(folder), arguments.trials), arguments.json)


if __name__ == "__main__":
    main()
