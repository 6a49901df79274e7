"""Progress: bars on a terminal, a line an interval elsewhere, nothing with --quiet."""

import io
import time

import pytest
from rich.console import Console

from curriculum.reporting import Conduct, Interrupted, Quiet, Reporter
from gomoku_cli.console import Bars, Lines, duration, make_reporter


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.04, "0.0 s"), (9.94, "9.9 s"), (10, "0:10"), (83.2, "1:23"), (7390, "2:03:10")]
)
def test_durations_are_short_texts(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_every_reporter_takes_nested_tasks_and_remarks() -> None:
    reporters: list[Reporter] = [Quiet(), Lines(), Bars(Console(file=io.StringIO(), force_terminal=True))]
    for reporter in reporters:
        with reporter.task("games", 2, "games") as outer, reporter.task("passes", 3, "passes") as inner:
            inner.update(1, loss=0.5)
            outer.update(2, score="0.50")
        reporter.say("done")


def test_lines_are_written_once_an_interval(capsys: pytest.CaptureFixture[str]) -> None:
    patient = Lines(interval_s=1000)
    with patient.task("games", 100, "games") as task:
        for done in range(100):
            task.update(done)
    assert capsys.readouterr().err == ""
    hasty = Lines(interval_s=0)
    with hasty.task("games", 4000, "games") as task:
        task.update(1200, value_loss=0.31234)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("games: 1,200 of 4,000 games")
    assert "value loss 0.3123" in err
    assert "\x1b" not in err


def test_earlier_steps_of_resumed_work_do_not_count_as_speed(capsys: pytest.CaptureFixture[str]) -> None:
    lines = Lines(interval_s=0)
    with lines.task("games", 4000, "games") as task:
        task.update(3000)
    assert capsys.readouterr().err.splitlines()[0] == "games: 3,000 of 4,000 games"


def test_bars_leave_the_terminal_as_it_was_when_work_fails() -> None:
    file = io.StringIO()
    bars = Bars(Console(file=file, force_terminal=True))
    with pytest.raises(Interrupted), bars.task("games", 2, "games") as task:
        task.update(1, loss=0.25)
        time.sleep(0.5)  # the bars are drawn a few times a second
        Conduct(bars, lambda: True).check()
    shown = file.getvalue()
    assert "1 of 2 games" in shown
    assert "loss 0.25" in shown
    assert shown.rfind("\x1b[?25h") > shown.rfind("\x1b[?25l") >= 0


def test_remarks_keep_their_brackets() -> None:
    file = io.StringIO()
    Bars(Console(file=file, force_terminal=True)).say("the run [old] is done")
    assert "the run [old] is done" in file.getvalue()


def test_quiet_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    reporter = make_reporter(quiet=True)
    with reporter.task("games", 2, "games") as task:
        task.update(2)
    reporter.say("done")
    assert capsys.readouterr() == ("", "")
