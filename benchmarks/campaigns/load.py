"""Engine games beside busy loops: `python -m benchmarks.campaigns.load`.

Real `gomoku engine` processes play short games against the mentor while other processes keep every core busy. The time
of a move runs from the request to the reading of its answer. With `--bursts` the loops work and rest in turns, so that
load comes when the engine has known none. A late answer, a crash, a hang or an illegal move is a defect. Some games are
played by TURN, some have every position set up by BOARD, and some have a limit of the game too.

A virtual machine stands still while its host serves others: a late answer does not count as the engine's if a thread in
real time, where the system allows one, woke up as late in the same move.
"""

import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from benchmarks.measuring import parser_of, progress, show
from core.position import Position
from core.rules import Rules
from search.engines.player import GRACE_S, EngineLimits, EnginePlayer
from search.limit import Limit
from search.mentor.player import Mentor
from search.players import ForfeitError

_RULES = Rules(15)
_MAX_MOVES = 25
"""Own moves of the engine, after which a game ends without a result."""
_OPPONENTS_NODES = (60, 200, 800)
"""Nodes a move of the opponent, one of these a game."""
_BUSY = """
import os, sys, time
parent, burst = os.getppid(), float(sys.argv[1])
while os.getppid() == parent:
    if burst and int(time.monotonic() / burst) % 2:
        time.sleep(burst - time.monotonic() % burst)
    for _ in range(100_000): pass
"""
_WAKE_EVERY_S = 0.005


@contextmanager
def busy_loops(count: int, burst_s: float) -> Iterator[None]:
    """Keep `count` processes busy; with `burst_s` above 0 all work for that long, and rest for as long."""
    loops = [subprocess.Popen([sys.executable, "-c", _BUSY, str(burst_s)], process_group=0) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


class Stalls:
    """Measures how late a thread of this process wakes up, in real time where the system allows it."""

    def __init__(self) -> None:
        self._late: list[tuple[float, float]] = []
        threading.Thread(target=self._measure, daemon=True).start()

    def longest_since(self, start: float) -> float:
        """Return the longest delay of a wake-up that was due since an instant of `time.monotonic`."""
        time.sleep(2 * _WAKE_EVERY_S)  # a late wake-up may still be to come
        return max((late for due, late in self._late[-2000:] if due >= start - _WAKE_EVERY_S), default=0.0)

    def _measure(self) -> None:
        try:
            os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(10))
        except OSError:
            return  # the wake-ups of a usual thread are late under load, which excuses nothing
        while True:
            due = time.monotonic() + _WAKE_EVERY_S
            time.sleep(_WAKE_EVERY_S)
            self._late.append((due, time.monotonic() - due))


def play(model: str, limit_s: float, chance: random.Random, stalls: Stalls) -> tuple[list[float], str]:
    """Play a game; return the time of each answer as a share of its limit, and the defect or an empty text."""
    match_s = _MAX_MOVES * limit_s + 10.0 if chance.random() < 0.3 else None
    limits = EngineLimits(turn_seconds=limit_s, match_seconds=match_s, start_seconds=120.0)
    command = [sys.executable, "-m", "gomoku_cli", "engine", "--model", model, "--seed", str(chance.getrandbits(16))]
    opponent, nodes = Mentor(variety=40, memory_bytes=1 << 20), Limit(nodes=chance.choice(_OPPONENTS_NODES))
    position, shares, by_board = Position(_RULES), list[float](), chance.random() < 0.3
    start = time.monotonic()
    for _ in range(chance.randint(0, 6)):
        free = [cell for cell in position.legal_moves() if all(4 <= at <= 10 for at in divmod(cell, 15))]
        position.push(int(chance.choice(free)))
    engine = EnginePlayer(command, _RULES, limits)
    try:
        engine.choose(Position(_RULES))  # the start may compile, and the first move is not timed
        for _ in range(_MAX_MOVES):
            start = time.monotonic()
            if by_board:
                engine.choose(Position.from_moves(_RULES, [chance.randrange(225)]))  # another position comes between
            start = time.monotonic()
            position.push(engine.choose(position).move)
            took_s = time.monotonic() - start
            shares.append(took_s / limit_s)
            if took_s > limit_s and stalls.longest_since(start) < took_s - limit_s:
                return shares, f"late by {1000 * (took_s - limit_s):.1f} ms after {position.moves}"
            if not position.is_game_over():
                position.push(opponent.choose(position, nodes, seed=chance.getrandbits(32)).move)
            if position.is_game_over():
                break
    except ForfeitError as error:
        if error.on_time and stalls.longest_since(start) >= GRACE_S:
            return shares, ""  # the machine stood still
        return shares, f"{error} after {position.moves}"
    finally:
        engine.close()
    return shares, ""


def main() -> int:
    """Play the games, print a row for each limit, and return 1 if there was a defect."""
    parser = parser_of(__doc__)
    parser.add_argument("--games", type=int, default=1000)
    parser.add_argument("--busy", type=int, default=6, help="busy loops beside the engine")
    parser.add_argument("--bursts", type=float, default=0.0, metavar="S", help="of work and of rest; 0: no rest")
    parser.add_argument("--seconds", type=float, nargs="+", default=[0.1, 0.2, 0.3, 0.5], help="of a move, in turn")
    parser.add_argument("--model", default="mentor")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    shares: dict[float, list[float]] = {seconds: [] for seconds in arguments.seconds}
    defects = []
    Mentor(memory_bytes=1 << 20).choose(Position.from_moves(_RULES, [112]), Limit(nodes=60))  # compiles
    stalls = Stalls()
    with busy_loops(arguments.busy, arguments.bursts):
        for number in range(arguments.games):
            limit_s = arguments.seconds[number % len(arguments.seconds)]
            found, defect = play(arguments.model, limit_s, random.Random(f"{arguments.seed}/{number}"), stalls)
            shares[limit_s] += found
            defects += [f"game {number}, {limit_s} s: {defect}"] if defect else []
            progress(f"{number + 1} games, {len(defects)} defects")
    rows = (
        {
            "limit, s": seconds,
            "moves": len(found),
            "mean share": float(np.mean(found)),
            "99.9 %": float(np.quantile(found, 0.999)),
            "most": max(found),
        }
        for seconds, found in shares.items()
        if found
    )
    show(rows, arguments.json)
    print("\n".join(defects) or "no answer late, no crash")
    return int(bool(defects))


if __name__ == "__main__":
    sys.exit(main())
