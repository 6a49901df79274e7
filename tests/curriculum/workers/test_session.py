"""A job in a worker: numbers in, games and errors out, on a thread of its own."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from curriculum.workers.local import Local
from curriculum.workers.session import FileCopy, Session


@dataclass(frozen=True)
class Squares:
    """A job whose game is the square of its number, read from a file where there is one."""

    at_once = 2
    file: Path | None = None
    fails_at: int | None = None

    @property
    def files(self) -> tuple[Path, ...]:
        return () if self.file is None else (self.file,)

    def open(self, files: Mapping[Path, Path]) -> "SquaresBench":
        return SquaresBench(self, files[self.file].read_text(encoding="utf-8") if self.file else "")


class SquaresBench:
    def __init__(self, job: Squares, text: str) -> None:
        self.job, self.text, self.count = job, text, 0
        self.is_closed = False

    @property
    def counts(self) -> Mapping[str, int]:
        return {"moves": self.count}

    def play(
        self, numbers: Iterator[int | None], finished: Callable[[int, str], None], stop: Callable[[], bool]
    ) -> None:
        while not stop() and (number := next(numbers, None)) is not None:
            if number == self.job.fails_at:
                raise ZeroDivisionError("a defect")
            self.count += 1
            finished(number, f"{number**2}{self.text}")

    def close(self) -> None:
        self.is_closed = True


def collect(session: Session[str], count: int) -> dict[int, str]:
    games: dict[int, str] = {}
    deadline = time.monotonic() + 20
    while len(games) < count and time.monotonic() < deadline:
        report = session.exchange([], 0.05)
        assert report.error is None
        games |= dict(report.games)
    return games


def test_games_come_back_once_and_numbers_may_come_late() -> None:
    session = Session(Squares())
    assert session.exchange([], 0.01).games == []
    first = dict(session.exchange([3, 4], 0.0).games) | collect(session, 2)
    assert first == {3: "9", 4: "16"}
    later = dict(session.exchange([5], 0.0).games) | collect(session, 1)
    assert later == {5: "25"}
    assert session.exchange([], 0.0).counts == {"moves": 3}
    session.close()


def test_a_job_reads_copies_of_its_files(tmp_path: Path) -> None:
    missing_here = tmp_path / "elsewhere" / "name.txt"
    session = Session(Squares(missing_here), [FileCopy(missing_here, b" from a copy")])
    assert dict(session.exchange([2], 1.0).games) | collect(session, 0) == {2: "4 from a copy"}
    session.close()


def test_an_error_comes_after_the_games_before_it() -> None:
    session = Session(Squares(fails_at=9))
    games, deadline = dict[int, str](), time.monotonic() + 20
    report = session.exchange([1, 2, 9, 3], 1.0)
    while report.error is None and time.monotonic() < deadline:
        games |= dict(report.games)
        report = session.exchange([], 0.05)
    games |= dict(report.games)
    assert games == {1: "1", 2: "4"}
    assert isinstance(report.error, ZeroDivisionError)
    session.close()


def test_closing_ends_the_thread() -> None:
    before = threading.active_count()
    session = Session(Squares())
    session.exchange([1], 0.2)
    session.close()
    assert threading.active_count() == before


def test_this_process_plays_and_stops_on_request() -> None:
    games: dict[int, str] = {}

    def finished(number: int, game: str) -> None:
        games[number] = game

    with Local().open(Squares()) as team:
        team.play(range(4), finished, lambda: False)
        assert games == {0: "0", 1: "1", 2: "4", 3: "9"}
        assert team.counts == {"moves": 4}
        assert team.report is None
        team.play(range(9), finished, lambda: len(games) >= 6)
    assert len(games) == 6


def test_a_process_beside_plays_on_its_own() -> None:
    beside = Local().open_beside(Squares(), range(1500))
    games: dict[int, str] = {}
    deadline = time.monotonic() + 60
    while len(games) < 1500 and time.monotonic() < deadline:
        games |= dict(beside.games(0.2))
    beside.close()
    assert games == {number: str(number**2) for number in range(1500)}


def test_the_error_of_a_process_beside_is_raised_here() -> None:
    beside = Local().open_beside(Squares(fails_at=0), [0])
    with pytest.raises(ZeroDivisionError, match="a defect"):
        while True:
            beside.games(0.2)
    beside.close()
