"""A job in a worker: numbers in, games and errors out, on a thread of its own."""

import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from curriculum.workers.local import Local
from curriculum.workers.thread import GameThread


@dataclass(frozen=True)
class Squares:
    """A job whose game is the square of its number, read from a file where there is one."""

    at_once = 2
    file: Path | None = None
    fails_at: int | None = None

    @property
    def files(self) -> tuple[Path, ...]:
        return () if self.file is None else (self.file,)

    def open(self, files: Mapping[Path, Path]) -> "SquareGames":
        return SquareGames(self, files[self.file].read_text(encoding="utf-8") if self.file else "")


class SquareGames:
    def __init__(self, job: Squares, text: str) -> None:
        self.job, self.text, self.count = job, text, 0
        self.is_closed = False

    @property
    def counts(self) -> Mapping[str, int]:
        return {"moves": self.count}

    def play(self, numbers: Iterator[int | None], stop: Callable[[], bool]) -> Generator[tuple[int, str] | None]:
        while not stop() and (number := next(numbers, None)) is not None:
            if number == self.job.fails_at:
                raise ZeroDivisionError("a defect")
            yield None
            self.count += 1
            yield number, f"{number**2}{self.text}"

    def close(self) -> None:
        self.is_closed = True


def collect(thread: GameThread[str], count: int) -> dict[int, str]:
    games: dict[int, str] = {}
    deadline = time.monotonic() + 20
    while len(games) < count and time.monotonic() < deadline:
        answer = thread.exchange([], 0.05)
        assert answer.error is None
        games |= dict(answer.games)
    return games


def test_games_come_back_once_and_numbers_may_come_late() -> None:
    thread = GameThread(Squares())
    assert thread.exchange([], 0.01).games == []
    first = dict(thread.exchange([3, 4], 0.0).games) | collect(thread, 2)
    assert first == {3: "9", 4: "16"}
    later = dict(thread.exchange([5], 0.0).games) | collect(thread, 1)
    assert later == {5: "25"}
    assert thread.exchange([], 0.0).counts == {"moves": 3}
    thread.close()


def test_a_job_reads_copies_of_its_files(tmp_path: Path) -> None:
    missing_here = tmp_path / "elsewhere" / "name.txt"
    thread = GameThread(Squares(missing_here), {missing_here: b" from a copy"})
    assert dict(thread.exchange([2], 1.0).games) | collect(thread, 0) == {2: "4 from a copy"}
    thread.close()


def test_an_error_comes_after_the_games_before_it() -> None:
    thread = GameThread(Squares(fails_at=9))
    games, deadline = dict[int, str](), time.monotonic() + 20
    answer = thread.exchange([1, 2, 9, 3], 1.0)
    while answer.error is None and time.monotonic() < deadline:
        games |= dict(answer.games)
        answer = thread.exchange([], 0.05)
    games |= dict(answer.games)
    assert games == {1: "1", 2: "4"}
    assert isinstance(answer.error, ZeroDivisionError)
    thread.close()


def test_closing_ends_the_thread() -> None:
    before = threading.active_count()
    thread = GameThread(Squares())
    thread.exchange([1], 0.2)
    thread.close()
    assert threading.active_count() == before


def test_this_process_plays_while_it_is_waited_for_and_stops_on_request() -> None:
    games: dict[int, str] = {}
    with Local().stream(Squares(), range(4)) as stream:
        assert stream.take() == []
        assert stream.counts == {}
        assert dict(stream) == {0: "0", 1: "1", 2: "4", 3: "9"}
        assert stream.counts == {"moves": 4}
        assert stream.workers is None
        assert stream.is_over
    with Local().stream(Squares(), range(9), lambda: len(games) >= 6) as stream:
        for number, game in stream:
            games[number] = game
    assert len(games) == 6


def test_leaving_a_stream_closes_its_games() -> None:
    with Local().stream(Squares(), range(9)) as stream:
        assert next(iter(stream)) == (0, "0")
        games: Any = stream
        assert not games._games.is_closed
    assert games._games.is_closed
    assert stream.is_over


@pytest.mark.slow
def test_a_process_beside_plays_on_its_own_and_its_error_is_raised_here() -> None:
    games: dict[int, str] = {}
    with Local().stream(Squares(fails_at=99), range(100), beside=True) as stream:
        with pytest.raises(ZeroDivisionError, match="a defect"):
            games.update(stream)
        assert games == {number: str(number**2) for number in range(99)}
        assert stream.counts == {"moves": 99}
