"""Progress: bars on a terminal, a line an interval elsewhere, nothing with --quiet."""

import io
import re
import time

import pytest
from rich.console import Console

from curriculum.reporting import Context, Interrupted, Quiet, Reporter
from gomoku_cli.console import Lines, headline, make_reporter, shows_notice
from gomoku_cli.progress.bars import Bars, _BarTask
from gomoku_cli.progress.meters import Meter, duration
from tests.support.commands import Capsys


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


def test_lines_are_written_once_an_interval(capsys: Capsys) -> None:
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
    assert re.search(r"\ngames: 1,200 of 4,000 games in \d\.\d s\n$", err), "it was stopped, and is not done"


def test_earlier_steps_of_resumed_work_do_not_count_as_speed_and_lines_end_with_the_headline(capsys: Capsys) -> None:
    lines = Lines(interval_s=0)
    with headline(lines, lambda: "phase 1 of 3, basics"), lines.task("games", 4000, "games") as task:
        task.update(3000)
    assert capsys.readouterr().err.startswith("games: 3,000 of 4,000 games; phase 1 of 3, basics\n")


def test_bars_leave_the_terminal_as_it_was_when_work_fails() -> None:
    file = io.StringIO()
    bars = Bars(Console(file=file, force_terminal=True))
    with pytest.raises(Interrupted), bars.task("games", 2, "games") as task:
        task.update(1, loss=0.25)
        time.sleep(0.5)  # the bars are drawn a few times a second
        Context(bars, lambda: True).check()
    shown = file.getvalue()
    assert "1 of 2 games" in shown
    assert "loss 0.25" in shown
    assert shown.rfind("\x1b[?25h") > shown.rfind("\x1b[?25l") >= 0


def test_remarks_keep_their_brackets() -> None:
    file = io.StringIO()
    Bars(Console(file=file, force_terminal=True)).say("the run [old] is done")
    assert "the run [old] is done" in file.getvalue()


def test_quiet_shows_nothing(capsys: Capsys) -> None:
    reporter = make_reporter(quiet=True)
    with reporter.task("games", 2, "games") as task:
        task.update(2)
    reporter.say("done")
    assert capsys.readouterr() == ("", "")


def rendered(width: int, *, done: float, **figures: float | str) -> list[str]:
    """Return the lines of a task of 4,000 steps that has taken ten minutes."""
    task = _BarTask("imitating mentor:3 with a long name", Meter(4000, "steps"))
    task.meter.started -= 600
    task.meter._since = (task.meter.started, 0.0)
    task.meter._first = False
    task.update(done, **figures)
    return [line.plain for line in task.lines(width, "|", ascii_only=True)]


@pytest.mark.parametrize("width", [40, 59, 79])
def test_a_narrow_terminal_has_two_lines_with_the_time_left(width: int) -> None:
    first, second = rendered(width, done=1000, policy_loss=1.812, agreement=0.413)
    assert len(first) <= width
    assert first.endswith(" 25 %  30:00 left")
    assert "##" in first
    assert second.startswith("  1,000 of 4,000 steps, 1.67 steps/s, policy loss 1.812")


def test_a_wide_terminal_has_one_line() -> None:
    (line,) = rendered(160, done=1000, policy_loss=1.812)
    assert line.endswith("25 %  30:00 left  1,000 of 4,000 steps, 1.67 steps/s, policy loss 1.812")


def test_a_task_that_stands_still_says_so() -> None:
    task = _BarTask("gate", Meter(40, "games"))
    task._updated -= 75
    assert "1:15 on this step" in "\n".join(line.plain for line in task.lines(60, "|", ascii_only=True))


def test_a_finished_step_keeps_a_line_and_the_headline_stands_above() -> None:
    file = io.StringIO()
    bars = Bars(Console(file=file, force_terminal=True, width=60))
    with headline(bars, lambda: "phase 2 of 3, imitation; about 1:12:00 left of the whole run"):
        time.sleep(0.6)  # between two steps the line says so
        with bars.task("games", 40, "games") as task:
            task.meter.started -= 75
            task.update(40, score=0.5)
    text = file.getvalue()
    assert "phase 2 of 3, imitation" in text
    assert "about 1:12:00 left of the whole run" in text
    assert "preparing the next step" in text
    assert "games: 40 of 40 games in 1:15, score 0.5\n" in text
    with headline(Quiet(), lambda: "nothing"):
        pass


def test_a_notice_stays_below_the_bars() -> None:
    file = io.StringIO()
    bars = Bars(Console(file=file, force_terminal=True, width=60))
    assert not shows_notice(bars, "early")
    assert not shows_notice(Quiet(), "never")
    with bars.task("games", 40, "games"):
        assert shows_notice(bars, "finishing this step")
        time.sleep(0.5)
    assert "finishing this step" in file.getvalue()
