"""Measure `gomoku watch` and `gomoku report` on a run: `python -m benchmarks.watching RUN`.

It opens the view in a pseudo-terminal of 160x50, and prints the seconds until the first plots are painted, the memory
of the view, and its share of one processor while it follows the run. The run slows down by no more than that share, and
only where all processors are busy. Then it writes the report. Times are upper bounds beside other work. Needs Linux.

"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.screen import Board

_FOLLOWED_S = 30.0
_BRAILLE = re.compile(rb"\xe2[\xa0-\xa3][\x80-\xbf]")
"""A character of a drawn curve."""


def measure_watch(run: Path, trials: int) -> dict[str, object]:
    """Return the figures of the view."""
    painted = []
    for trial in range(trials + 1):
        board = _view(run)
        at = board.until(lambda text: _BRAILLE.search(text) is not None)
        if trial:  # the first one warms the caches
            painted.append(at)
        board.press(b"q")
        board.wait()
    board = _view(run)
    board.until(lambda text: _BRAILLE.search(text) is not None)
    board.quiet(0.5)
    before, started = _processor_s(board.pid), time.perf_counter()
    while time.perf_counter() < started + _FOLLOWED_S:
        board.read(0.1)
    share = (_processor_s(board.pid) - before) / (time.perf_counter() - started)
    memory = _memory_mb(board.pid)
    board.press(b"q")
    board.wait()
    return {
        "first_plots_s": {"median": round(statistics.median(painted), 2), "max": round(max(painted), 2)},
        "memory_mb": memory,
        "share_of_a_processor": round(share, 4),
    }


def _view(run: Path) -> Board:
    return Board(run, str(run), command="watch", size=(160, 50))


def _processor_s(pid: int) -> float:
    """Return the processor time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _memory_mb(pid: int) -> int:
    """Return the most memory that a process has had."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return round(next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1000)


def measure_report(run: Path) -> dict[str, object]:
    """Return seconds and size of the report."""
    with tempfile.TemporaryDirectory() as name:
        page = Path(name) / "report.html"
        before = time.perf_counter()
        subprocess.run([sys.executable, "-m", "gomoku_cli", "report", str(run), "--output", str(page)], check=True)
        return {"report_s": round(time.perf_counter() - before, 1), "report_kb": round(page.stat().st_size / 1000)}


def main() -> None:
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="folder of a run")
    parser.add_argument("--trials", type=int, default=5)
    arguments = parser.parse_args()
    print(json.dumps(measure_watch(arguments.run, arguments.trials) | measure_report(arguments.run), indent=1))


if __name__ == "__main__":
    main()
