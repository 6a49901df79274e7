"""Fuzzer of the Gomocup engine: `python -m benchmarks.campaigns.fuzz_engine --lines 1000000`.

Random lines of a manager, half of them sensible, go through the protocol in this process with a player that costs
nothing, and a share of them through a process with pipes. Every line must get the answers of the protocol and no
others. Prints the counts of the answers, and exits with 1 at the first line with wrong ones.
"""

import argparse
import random
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from core.limits import MAX_COMMAND_LENGTH
from core.position import Position
from core.rules import Rules
from gomoku_cli.exit_codes import ExitCode
from gomoku_cli.gomocup.engine import Engine
from search.limits import Limit
from search.players import Decision, Player, never

_PIPED_SHARE = 20
"""One line in so many goes through pipes too."""
_HANG_S = 60.0
_ANSWER = re.compile(r"OK|SWAP|ERROR .+|UNKNOWN .+|MESSAGE .+|name=.+|\d+,\d+( \d+,\d+){0,2}")
_SIZES = ("5", "6", "15", "20")


class Expected:
    """Number of answers due to each line: none to INFO and blank lines, one to a command once it is complete."""

    def __init__(self) -> None:
        self._in_board = False

    def answers(self, line: str) -> int:
        """Return the number of answers due to `line`, without MESSAGE."""
        name = (line.split() or [""])[0].upper()
        if name in ("", "INFO"):
            return 0
        broken_off = self._in_board
        if name in ("BOARD", "SWAP2BOARD"):
            self._in_board = True
            return int(broken_off)
        if name == "DONE":
            self._in_board = False
            return 1
        if name in ("START", "RECTSTART", "RESTART", "BEGIN", "TURN", "TAKEBACK", "PLAY", "ABOUT"):
            self._in_board = False
            return 1 + broken_off
        return int(not broken_off)


def fault(line: str, answers: Sequence[str], due: int) -> str | None:
    """Return the fault of the answers to a line, or None."""
    counted = [answer for answer in answers if not answer.startswith("MESSAGE ")]
    if len(counted) != due:
        return f"{line!r} got {len(counted)} answers instead of {due}: {counted}"
    for answer in answers:
        if not (_ANSWER.fullmatch(answer) and answer.isprintable()):
            return f"{line!r} got {answer!r}, which is no answer"
    return None


class Nonsense:
    """Lines, drawn from a seed: commands, parts of games, and bytes of any kind."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)

    def lines(self) -> Iterator[str]:
        """Yield lines without end; none is END, and none holds the end of a line."""
        kinds: tuple[tuple[Callable[[], list[str]], int], ...] = (
            (self._turns, 40),
            (self._set_up, 12),
            (self._board, 5),
            (self._swap2, 1),
            (self._info, 15),
            (self._near_miss, 12),
            (self._noise, 9),
            (self._huge, 1),
        )
        makers, weights = zip(*kinds, strict=True)
        yield "ABOUT"
        while True:
            for line in self._chance.choices(makers, weights)[0]():
                if line.split()[:1] and line.split()[0].upper() != "END":
                    yield line
                else:
                    yield ""

    def _point(self) -> str:
        low, high = self._chance.choice(((0, 4), (0, 14), (0, 19), (-2, 30)))
        return f"{self._chance.randint(low, high)},{self._chance.randint(low, high)}"

    def _turns(self) -> list[str]:
        return [f"TURN {self._point()}" for _ in range(self._chance.randint(1, 5))]

    def _set_up(self) -> list[str]:
        size = self._chance.choice(_SIZES)
        lines = [f"START {size}", "RESTART", f"RECTSTART {size},{size}", "BEGIN", "ABOUT", f"PLAY {self._point()}"]
        lines += [f"TAKEBACK {self._point()}"]
        return [self._chance.choice(lines), *(["BEGIN"] if self._chance.random() < 0.5 else [])]

    def _board(self) -> list[str]:
        count = self._chance.choice((0, 1, 2, 4, 9, 30, 100))
        points = list({self._point() for _ in range(count)})
        owners = [str(1 + (number + len(points)) % 2) for number in range(len(points))]
        if self._chance.random() < 0.3:
            owners = [self._chance.choice("0123x") for _ in points]
        data = [f"{point},{owner}" for point, owner in zip(points, owners, strict=True)]
        return ["BOARD", *data, *(["DONE"] if self._chance.random() < 0.9 else [])]

    def _swap2(self) -> list[str]:
        return ["SWAP2BOARD", *(self._point() for _ in range(self._chance.choice((0, 3, 3, 5, 5, 1, 7)))), "DONE"]

    def _info(self) -> list[str]:
        keys = ("timeout_turn", "timeout_match", "time_left", "max_memory", "max_node", "rule", "game_type", "folder")
        value = self._chance.choice(("0", "-1", "1000", "2147483647", "9" * 19, "x", "", "1.5", str(-(10**18))))
        return [f"INFO {self._chance.choice((*keys, 'no_key'))} {value}"]

    def _near_miss(self) -> list[str]:
        line = self._chance.choice(("START 15", "TURN 7,7", "BOARD", "DONE", "INFO rule 1", "TAKEBACK 1,1", "7,7,1"))
        place = self._chance.randrange(len(line) + 1)
        what = self._chance.choice(("", " ", ",", "-", "\t", "9", "\x00", "x", "\xe9"))
        return [line[:place] + what + line[place + self._chance.randrange(2) :]]

    def _noise(self) -> list[str]:
        raw = self._chance.randbytes(self._chance.randrange(60))
        return [raw.translate(None, b"\r\n").decode("latin-1")]

    def _huge(self) -> list[str]:
        start = self._chance.choice(("TURN 7,7", "START 15", "INFO folder ", "", "BOARD", "1,1,1"))
        return [start + self._chance.choice((" ", "x", "7,")) * self._chance.choice((500, 2000, 100_000))]


class FirstCellPlayer(Player):
    """Plays the first empty cell, with a value that depends on the seed alone."""

    name = "first"

    def choose_batch(
        self,
        positions: Sequence[Position],
        *,
        seeds: Sequence[int],
        limit: Limit | None = None,
        stop: Callable[[], bool] = never,
    ) -> list[Decision]:
        """See `Player`."""
        return [
            Decision(position.legal_moves()[0], value=seed % 201 / 100 - 1)
            for position, seed in zip(positions, seeds, strict=True)
        ]


class OnePlayer:
    """A `gomoku_cli.gomocup.thinking.PlayerSource` with that player for all rules."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def progress(self) -> str | None:
        """Return None: nothing takes long."""
        return None

    def prepare(self, rules: Rules, max_simulations: int | None, until: float) -> None:
        """Do nothing: the player is always ready."""

    def get(self, rules: Rules, max_simulations: int | None, until: float) -> Player:
        """Return the player."""
        return FirstCellPlayer()

    def quick_decision(self, position: Position) -> Decision:
        """Return the player's decision."""
        return FirstCellPlayer().choose(position)

    def limit_memory(self, max_bytes: int | None) -> None:
        """Do nothing: the player needs no memory."""

    def limit_depth(self, plies: int | None) -> None:
        """Do nothing: the player does not search."""


def through_the_protocol(seed: int, count: int) -> tuple[Counter[str], str | None]:
    """Send `count` lines to an engine in this process; return the counts of its answers and the first fault."""
    engine, expected, counts = Engine(OnePlayer(), about='name="gomoku"', seed=seed), Expected(), Counter[str]()
    for _, line in zip(range(count), Nonsense(seed).lines(), strict=False):
        cut = line.strip()[: MAX_COMMAND_LENGTH + 1]  # as they are read
        answers = list(engine.answer(cut))
        counts.update(kind_of(answer) for answer in answers)
        if (wrong := fault(cut, answers, expected.answers(cut))) is not None:
            return counts, wrong
    return counts, None


def kind_of(answer: str) -> str:
    """Return a word for the kind of an answer."""
    word = answer.partition(" ")[0]
    return "a move" if word[0].isdigit() else word.partition("=")[0]


def through_pipes(seed: int, count: int) -> tuple[Counter[str], str | None]:
    """Send `count` lines to an engine in a process of its own, as fast as it takes them; return the same."""
    lines = [line for _, line in zip(range(count), Nonsense(seed).lines(), strict=False)]
    chance = random.Random(seed)
    sent = "".join(line + chance.choice(("\n", "\r\n")) for line in lines).encode("latin-1")
    command = [sys.executable, "-m", "gomoku_cli", "engine", "--model", "random"]
    with subprocess.Popen(
        command,
        cwd=Path(__file__).resolve().parents[2],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        hanging = threading.Timer(_HANG_S + count / 1000, process.kill)
        hanging.start()
        out, err = process.communicate(sent)
        hanging.cancel()
    answers = out.decode("latin-1").splitlines()
    counts = Counter(kind_of(answer) for answer in answers if answer)
    if process.returncode != ExitCode.DONE or err:
        return (
            counts,
            f"it ended with exit code {process.returncode} and wrote {err.decode(errors='replace').strip()!r}",
        )
    expected = Expected()
    due = sum(expected.answers(line.strip()[: MAX_COMMAND_LENGTH + 1]) for line in lines)
    due += expected.answers("ABOUT") - 1  # the end of the input breaks off a board
    bad = next((answer for answer in answers if not _ANSWER.fullmatch(answer)), None)
    if bad is not None:
        return counts, f"{bad!r} is no answer"
    found = sum(not answer.startswith("MESSAGE ") for answer in answers)
    return counts, None if found == due else f"{count} lines got {found} answers instead of {due}"


def main() -> int:
    """Run both, one after the other; return 1 if one has a fault."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()

    for name, talk, count in (
        ("in this process", through_the_protocol, arguments.lines),
        ("through pipes", through_pipes, arguments.lines // _PIPED_SHARE),
    ):
        started = time.perf_counter()
        counts, wrong = talk(arguments.seed, count)
        seconds = time.perf_counter() - started
        print(
            f"{name}: {count:,} lines in {seconds:.0f} s; " + ", ".join(f"{n:,} {k}" for k, n in counts.most_common())
        )
        if wrong is not None:
            print(f"seed {arguments.seed}: {wrong}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
