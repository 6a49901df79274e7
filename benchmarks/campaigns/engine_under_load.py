"""Engine games beside busy loops.

    python -m benchmarks.campaigns.engine_under_load --games 1000 --busy 6 --out games.jsonl

Real `gomoku engine` processes play short games against a cheap opponent while other processes keep every core busy.
The time of a move runs from the write of its command to the reading of its answer. With `--bursts` they work and rest
in turns, so that load comes when the engine has known none. Each game appends a line to the file of `--out`, and a
later run with the same file goes on after the games in it. Exits with 1 at a late answer, a crash, an answer that is no
legal move, or a hang.

The manager waits for answers in real time where the system allows it, and `its own delay` says how late such a thread
wakes up: it is in all times. A virtual machine stands still while its host serves others: a late answer does not count
as the engine's if a real-time thread was as late in the same move. Engine and loops share one session, since Linux
gives each session the same share of the machine.
"""

import argparse
import bisect
import json
import os
import queue
import random
import select
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from core.files.atomic import append_text
from core.files.json_text import parse_json
from core.notation import NotationError, parse_point, point_name
from core.position import IllegalMoveError, Position
from core.rules import Rules
from gomoku_cli.exit_codes import ExitCode
from search.limits import Limit
from search.mentor.player import Mentor
from search.players import Player

_RULES = Rules(15)
_GAMES_PER_PROCESS = 20
_MAX_MOVES = 25
"""Own moves of the engine, after which a game ends without a result."""
_MATCH_MOVES = 25
"""The limit of a game, where it has one, in limits of a move."""
_OPPONENTS_NODES = (60, 200, 800)
"""Nodes a move of the opponent, one of these a game."""
_VARIETY = 40
"""The opponent's choice among moves, wide enough for games that differ."""
_START_S = 120.0
"""Limit of the answer to START; the first one may compile."""
_HANG_S = 10.0
"""Limit of every other answer, and of the end."""
_ROOT = Path(__file__).resolve().parents[2]
_BUSY = """
import os, sys, time
parent, burst = os.getppid(), float(sys.argv[1])
while os.getppid() == parent:
    if burst and int(time.monotonic() / burst) % 2:
        time.sleep(burst - time.monotonic() % burst)
    for _ in range(100_000): pass
"""
_WAKE_EVERY_S = 0.005
_PRIORITY = 10
"""The manager's priority in real time."""


class FaultError(Exception):
    """A defect of the engine other than a late answer: a crash, a hang, or a wrong answer."""


@dataclass(slots=True)
class Game:
    """One game, as a line of the file holds it."""

    game: int
    model: str
    busy: int
    limit_s: float
    manner: str
    """The commands that convey the moves: `turns`, `board` for the opening alone, or `boards` for every move."""
    timed: bool
    """True if the game has a limit of its own too."""
    shares: list[float] = field(default_factory=list)
    """The time of each answer as a share of its limit."""
    late_s: list[float] = field(default_factory=list)
    """Times beyond the limit, of late answers alone."""
    stalls_s: list[float] = field(default_factory=list)
    """For each of them, the longest delay of a real-time thread of the manager in the same move."""
    result: str = ""
    fault: str = ""
    moves: str = ""
    """The points of all moves; kept for faults and late answers alone."""

    def excused(self) -> int:
        """Return the number of late answers while the machine itself stood still for as long."""
        return sum(stall >= after for after, stall in zip(self.late_s, self.stalls_s, strict=False))

    def is_bad(self) -> bool:
        """Return True after a fault or a late answer of the engine."""
        return bool(self.fault) or len(self.late_s) > self.excused()


class Manager:
    """The manager's side of one engine process."""

    def __init__(self, model: str, seed: int) -> None:
        """Start the engine."""
        command = [sys.executable, "-m", "gomoku_cli", "engine", "--model", model, "--seed", str(seed)]
        self._process = subprocess.Popen(
            command,
            cwd=_ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            process_group=0,  # Ctrl-C is for the manager alone
        )
        self._rest, self._read_at = b"", 0.0
        self.has_started = False

    def send(self, *lines: str) -> float:
        """Write the lines in one piece; return the instant just before."""
        assert self._process.stdin is not None
        text = "".join(f"{line}\r\n" for line in lines).encode()
        now = time.monotonic()
        try:
            self._process.stdin.write(text)
        except OSError:
            raise FaultError(self._end()) from None
        return now

    def answer(self, within_s: float) -> tuple[str, float]:
        """Return the next answer that is no message, and the instant of its reading."""
        assert self._process.stdout is not None
        descriptor, until = self._process.stdout.fileno(), time.monotonic() + within_s
        while True:
            line, feed, rest = self._rest.partition(b"\n")
            if feed:
                self._rest = rest
                if not line.startswith(b"MESSAGE "):
                    return line.decode("latin-1").strip(), self._read_at
                continue
            ready, _, _ = select.select([descriptor], [], [], max(0.0, until - time.monotonic()))
            if not ready:
                raise FaultError(f"no answer within {within_s:.0f} s")
            chunk = os.read(descriptor, 1 << 16)
            self._read_at = time.monotonic()
            if not chunk:
                raise FaultError(self._end())
            self._rest += chunk

    def set_up(self, *, restart: bool) -> None:
        """Begin a game."""
        self.send("RESTART" if restart and self.has_started else f"START {_RULES.size}")
        self.has_started = True
        text, _ = self.answer(_START_S)
        if text != "OK":
            raise FaultError(f"the start was answered with {text!r}")

    def close(self) -> None:
        """End the engine, once. Raises `FaultError` if it does not end quietly with exit code 0."""
        if self._process.returncode is not None:
            return
        with suppress(FaultError):
            self.send("END")
        with self._process:
            try:
                code = self._process.wait(_HANG_S)
            except subprocess.TimeoutExpired:
                raise FaultError("it did not end after END") from None
            finally:
                self._process.kill()
            assert self._process.stderr is not None
            errors = self._process.stderr.read().decode("latin-1").strip()
        if code != ExitCode.DONE or errors:
            raise FaultError(f"it ended with exit code {code} and wrote {errors[-300:]!r}")

    def _end(self) -> str:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)
        return f"it closed its pipes; exit code {self._process.poll()}"


def play(manager: Manager, opponent: Player, game: Game, chance: random.Random, own: "OwnDelay") -> None:
    """Play one game against `opponent` and record it in `game`. Raises `FaultError`."""
    position = Position(_RULES)
    for _ in range(chance.choice((0, 1, 2, 3, 4)) if game.manner == "turns" else chance.randint(2, 6)):
        free = [cell for cell in position.legal_moves() if all(4 <= at <= 10 for at in divmod(cell, 15))]
        position.push(int(chance.choice(free)))
    nodes = Limit(nodes=chance.choice(_OPPONENTS_NODES))
    limit_ms = round(game.limit_s * 1000)
    left_s = _MATCH_MOVES * game.limit_s
    manager.set_up(restart=chance.random() < 0.8)
    manager.send(f"INFO timeout_turn {limit_ms}", f"INFO timeout_match {round(left_s * 1000) if game.timed else 0}")
    knows, colour = False, position.side_to_move
    if position.ply < 2 and chance.random() < 0.5:
        colour = -colour
    try:
        for _ in range(_MAX_MOVES):
            if position.side_to_move != colour:
                position.push(opponent.choose(position, nodes, seed=chance.getrandbits(32)).move)
                if position.is_game_over():
                    break
            lines = [f"INFO time_left {int(left_s * 1000) if game.timed else 2**31 - 1}"]
            lines += _request(position, by_board=game.manner == "boards" or (not knows and position.ply > 1))
            knows = True
            due_s = min(game.limit_s, left_s) if game.timed else game.limit_s
            with in_real_time():
                sent = manager.send(*lines)
                text, read = manager.answer(_HANG_S)
            took_s = read - sent
            left_s -= took_s
            game.shares.append(round(took_s / due_s, 4))
            if took_s > due_s:
                game.late_s.append(round(took_s - due_s, 5))
                game.stalls_s.append(round(own.longest_s(sent, read), 5))
            try:
                position.push(parse_point(text, _RULES.size))
            except (NotationError, IllegalMoveError) as error:
                raise FaultError(f"{text!r} is no legal move: {error}") from None
            if position.is_game_over():
                break
    finally:
        if position.is_game_over():
            outcome = position.outcome()
            winner = outcome.winner if outcome else None
            game.result = "draw" if winner is None else "won" if winner == colour else "lost"
        if game.late_s or sys.exc_info()[0] is not None:
            game.moves = " ".join(point_name(move, _RULES.size) for move in position.moves)


def _request(position: Position, *, by_board: bool) -> list[str]:
    """Return the lines that request the engine's move."""
    size, moves = _RULES.size, position.moves
    if not moves:
        return ["BEGIN"]
    if not by_board:
        return [f"TURN {point_name(moves[-1], size)}"]

    def owner(number: int) -> int:
        return 1 if (len(moves) - number) % 2 == 0 else 2

    stones = [f"{point_name(move, size)},{owner(number)}" for number, move in enumerate(moves)]
    return ["BOARD", *stones, "DONE"]


@contextmanager
def busy_loops(count: int, burst_s: float = 0.0) -> Iterator[None]:
    """Keep `count` processes busy, each with one thread at the usual priority; they end with this process.

    With `burst_s` above 0 all of them work for that long, and rest for as long.
    """
    command = [sys.executable, "-c", _BUSY, str(burst_s)]
    loops = [subprocess.Popen(command, process_group=0) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


@contextmanager
def in_real_time() -> Iterator[bool]:
    """Run this thread before all others, but none of its children; yield False if the system forbids it."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(_PRIORITY))
    except (AttributeError, OSError):
        yield False
        return
    try:
        yield True
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


class OwnDelay:
    """Measures how late a thread of this process wakes up, every few milliseconds."""

    def __init__(self) -> None:
        self.delays_s: list[float] = []
        self.real_time = False
        self._due: list[float] = []
        self._over = threading.Event()
        threading.Thread(target=self._measure, daemon=True).start()

    def stop(self) -> None:
        """End the measurement."""
        self._over.set()

    def longest_s(self, since: float, until: float) -> float:
        """Return the longest delay of a wake-up that was due between two instants of `time.monotonic`."""
        time.sleep(2 * _WAKE_EVERY_S)  # a late wake-up may still be to come
        due = self._due[:]
        first, end = bisect.bisect(due, since - _WAKE_EVERY_S), bisect.bisect(due, until)
        return max(self.delays_s[first:end], default=0.0)

    def _measure(self) -> None:
        with in_real_time() as self.real_time:
            while not self._over.is_set():
                due = time.monotonic() + _WAKE_EVERY_S
                time.sleep(_WAKE_EVERY_S)
                self.delays_s.append(time.monotonic() - due)
                self._due.append(due)


def games_of(path: Path | None) -> list[Game]:
    """Return the games that a file holds."""
    if path is None or not path.exists():
        return []
    return [Game(**parse_json(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def make_game(number: int, arguments: argparse.Namespace) -> tuple[Game, random.Random]:
    """Return game `number` of a campaign, and its source of chance."""
    chance = random.Random(f"{arguments.seed}/{number}")
    manner = chance.choices(("turns", "board", "boards"), (6, 2, 2))[0]
    limit_s = arguments.seconds[number % len(arguments.seconds)]
    return Game(number, arguments.model, arguments.busy, limit_s, manner, chance.random() < 0.3), chance


def play_all(numbers: Sequence[int], arguments: argparse.Namespace, games: list[Game], own: OwnDelay) -> None:
    """Play the games of these numbers, some at once, and add them to `games` and to the file."""
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    for number in numbers:
        waiting.put(number)
    lock, over = threading.Lock(), threading.Event()
    errors: list[BaseException] = []

    def keep(game: Game) -> None:
        with lock:
            games.append(game)
            if arguments.out is not None:
                append_text(arguments.out, json.dumps(asdict(game)) + "\n")
            late = sum(len(each.late_s) for each in games)
            faults = sum(bool(each.fault) for each in games)
            print(f"\r{len(games)} games, {late} late answers, {faults} faults", end="", file=sys.stderr, flush=True)

    def games_to_play(count: int) -> Iterator[tuple[Game, random.Random]]:
        for _ in range(count):
            if over.is_set():
                return
            try:
                yield make_game(waiting.get_nowait(), arguments)
            except queue.Empty:
                over.set()

    def play_with_one_process(opponent: Player) -> None:
        manager = Manager(arguments.model, seed=arguments.seed)
        for played, (game, chance) in enumerate(games_to_play(_GAMES_PER_PROCESS), start=1):
            try:
                play(manager, opponent, game, chance, own)
                if played == _GAMES_PER_PROCESS:
                    manager.close()
            except FaultError as error:
                game.fault = str(error)
            keep(game)
            if game.fault:
                break
        with suppress(FaultError):
            manager.close()

    def work() -> None:
        opponent = Mentor(variety=_VARIETY, memory_bytes=1 << 20)
        try:
            while not over.is_set():
                play_with_one_process(opponent)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(arguments.concurrent)]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                thread.join(0.2)
    finally:
        over.set()
        for thread in threads:
            thread.join()
    print(file=sys.stderr)
    if errors:
        raise errors[0]


def summary(games: Sequence[Game]) -> list[str]:
    """Return the lines about all games: a row for each limit, then the faults and the late answers."""
    rows = [
        f"{'limit':>7}  {'games':>5}  {'moves':>6}  {'mean':>6}  {'95 %':>6}  {'99.9 %':>6}  {'max':>6}  {'late':>4}  "
        "won, lost, drawn, cut"
    ]
    for limit_s in sorted({game.limit_s for game in games}):
        some = [game for game in games if game.limit_s == limit_s]
        shares = np.array([share for game in some for share in game.shares])
        if not len(shares):
            continue
        results = Counter(game.result for game in some)
        rows.append(
            f"{limit_s:>5.2f} s  {len(some):>5,}  {len(shares):>6,}  {shares.mean():>6.3f}  "
            f"{np.quantile(shares, 0.95):>6.3f}  {np.quantile(shares, 0.999):>6.3f}  {shares.max():>6.3f}  "
            f"{sum(len(game.late_s) for game in some):>4}  "
            f"{', '.join(str(results[word]) for word in ('won', 'lost', 'draw', ''))}"
        )
    moves = sum(len(game.shares) for game in games)
    late = sorted(1000 * seconds for game in games for seconds in game.late_s)
    rows.append(f"{len(games):,} games, {moves:,} moves; times are shares of the limit; {len(late)} late answers")
    if late:
        stalled = sum(game.excused() for game in games)
        rows.append("late by " + ", ".join(f"{each:.1f}" for each in late[-20:]) + " ms")
        rows.append(f"{stalled} of them while the machine stood still for as long: a real-time thread was as late")
    for game in games:
        if game.fault or game.late_s:
            what = game.fault or f"late by {1000 * max(game.late_s):.1f} ms"
            rows.append(f"game {game.game} ({game.manner}, {game.limit_s} s, timed {game.timed}): {what}: {game.moves}")
    return rows


def _load_kernels() -> None:
    """Load the opponent's kernels, so that this delays no reading of an answer."""
    Mentor(memory_bytes=1 << 20).choose(Position.from_moves(_RULES, [112]), Limit(nodes=60))


def _limits(text: str) -> list[float]:
    return [float(word) for word in text.split(",")]


def main() -> int:
    """Play the games that the file does not hold yet; print the summary of all games in it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=1000)
    parser.add_argument("--busy", type=int, default=6, help="busy loops beside the engine")
    parser.add_argument(
        "--bursts", type=float, default=0.0, help="seconds that they work, and rest, in turns; 0: no rest"
    )
    parser.add_argument("--seconds", type=_limits, default=[0.1, 0.2, 0.3, 0.5], help="limits of a move, in turn")
    parser.add_argument("--concurrent", type=int, default=1, help="games at once")
    parser.add_argument("--model", default="mentor")
    parser.add_argument("--out", type=Path, help="the file of the games, to go on with")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()

    games = games_of(arguments.out)
    if any((game.model, game.busy) != (arguments.model, arguments.busy) for game in games):
        parser.error(f"{arguments.out} holds games of another model or beside another number of busy loops")
    done = {game.game for game in games}
    numbers = [number for number in range(arguments.games) if number not in done]
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    _load_kernels()
    started, own = time.monotonic(), OwnDelay()
    with suppress(KeyboardInterrupt), busy_loops(arguments.busy, arguments.bursts):
        play_all(numbers, arguments, games, own)
    own.stop()
    machine: dict[str, Any] = {"cores": os.cpu_count(), "load": round(os.getloadavg()[0], 1)}
    print(f"{arguments.model} beside {arguments.busy} busy loops, {machine}, {time.monotonic() - started:.0f} s")
    print("\n".join(summary(games)))
    if own.delays_s:
        print(
            f"its own delay{'' if own.real_time else ' (not in real time)'}: 99.9 % of wake-ups within "
            f"{1000 * np.quantile(own.delays_s, 0.999):.2f} ms, all within {1000 * max(own.delays_s):.2f} ms"
        )
    bad = [game for game in games if game.is_bad()]
    if bad:
        print(
            f"reproduce with: python -m benchmarks.campaigns.engine_under_load --seed {arguments.seed} "
            f"--model {arguments.model} --busy {arguments.busy} --bursts {arguments.bursts} "
            f"--seconds {','.join(map(str, arguments.seconds))} "
            f"--games {bad[0].game + 1}; game {bad[0].game} is the first bad one"
        )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
