"""The screen of `gomoku watch`: snapshots at two sizes, its pages, a run that grows, several runs."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from core.notation import cell_name
from gomoku_cli.exit_codes import ExitCode
from gomoku_cli.reports.game import black_values, result_text
from gomoku_cli.reports.plots import nice_ticks, number_text, tick_texts
from gomoku_cli.watch import followed_run
from gomoku_cli.watch.app import WatchApp
from gomoku_cli.watch.followed_run import newest_file, read_newest_game
from tests.support.commands import Capsys, refused
from tests.support.project import ROOT
from tests.support.runs import append, make_run
from tests.support.screens import check_snapshot, screen_text

SNAPSHOTS = Path(__file__).parent / "snapshots"


@pytest.fixture
def run_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run whose last line is always 12 seconds old."""
    monkeypatch.setattr(followed_run, "age", lambda when: 12.0)
    return make_run(tmp_path / "mine")


async def test_a_small_terminal_shows_pages(run_path: Path) -> None:
    app = WatchApp([run_path])
    async with app.run_test(size=(80, 24)) as pilot:
        for key, page in (("1", "learning"), ("2", "selfplay"), ("3", "game")):
            await pilot.press(key)
            await pilot.pause()
            check_snapshot(app, SNAPSHOTS / f"80x24-{page}.txt")
        await pilot.press("left", "left")
        assert "move 7 of 9: h11, value +0.70 for black" in screen_text(app)
        await pilot.press("home", "left")
        assert "●" not in screen_text(app).partition("o\n")[0].partition("15 ")[2]
        await pilot.press("end", "tab")
        assert "policy loss" in screen_text(app)
        await pilot.click("#pages", offset=(16, 0))
        check_snapshot(app, SNAPSHOTS / "80x24-selfplay.txt")
        await pilot.press("q")
    assert app.return_code == ExitCode.DONE


async def test_a_large_terminal_shows_everything(run_path: Path) -> None:
    app = WatchApp([run_path])
    async with app.run_test(size=(160, 50)) as pilot:
        await pilot.pause()
        check_snapshot(app, SNAPSHOTS / "160x50.txt")


async def test_a_growing_run_and_a_second_one(run_path: Path, tmp_path: Path) -> None:
    young = tmp_path / "young"
    make_run(young)
    (young / "metrics.jsonl").unlink()
    (young / "games" / "selfplay-0000-000000.sgf").unlink()
    app = WatchApp([young, run_path])
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.pause()
        text = screen_text(app)
        assert "nothing measured yet" in text
        assert "mine, preset quick, 15x15" in text
        losses = {"policy_loss": 4.25, "value_loss": 0.5, "policy_entropy": 4.5}
        append(young, {"phase": "selfplay", "iteration": 0, "event": "train", "step": 40, **losses})
        app._look()
        await pilot.pause()
        assert "policy loss 4.25 2" in " ".join(screen_text(app).split())


async def test_no_value_of_a_third_run_is_cut(run_path: Path, tmp_path: Path) -> None:
    app = WatchApp([run_path, make_run(tmp_path / "second"), make_run(tmp_path / "third")])
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("2")
        await pilot.pause()
        assert screen_text(app).count("0.55") == 3, "Black's share in each"
        await pilot.press(*["down"] * 20)
        await pilot.pause()
        assert app._scrolled.is_vertical_scroll_end and app._scrolled.scroll_offset.y > 0


async def test_two_runs_differ_without_colours(run_path: Path, tmp_path: Path) -> None:
    app = WatchApp([run_path, make_run(tmp_path / "second")])
    async with app.run_test(size=(160, 50)) as pilot:
        await pilot.pause()
        lines = screen_text(app).splitlines()
    assert [line.split()[:2] for line in lines[:2]] == [["●", "mine,"], ["■", "second,"]]
    gates = next(at for at, line in enumerate(lines) if "gate ●yes ○no" in line)
    assert any("■" in line for line in lines[3:gates]), "the end of a curve"
    assert any("□" in line for line in lines[gates:]), "a rejected candidate"
    assert any("■ 0." in line for line in lines[gates:]), "a match"


def test_the_newest_game_is_the_last_of_the_newest_file(tmp_path: Path) -> None:
    newest = newest_file(make_run(tmp_path / "run"))
    game = read_newest_game(newest[1])
    assert result_text(game) == "black won in 9 moves"
    assert [cell_name(game.moves[ply], 15) for ply in (0, 8)] == ["h8", "h12"]
    assert black_values(game)[6] == -0.4
    assert newest_file(tmp_path) is None


def test_a_torn_game_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    _, file = newest_file(make_run(tmp_path / "run"))
    whole = file.read_bytes()
    file.write_bytes(whole[:-40])
    game = read_newest_game(file)
    assert result_text(game).startswith("black won in 7 moves")
    for other in (b"", b"(;FF[4]SZ[", b"no game", b"(;FF[4]GM[1]SZ[19];B[pd])"):
        file.write_bytes(other)
        assert read_newest_game(file) is None


def test_ticks_are_round_numbers() -> None:
    assert nice_ticks(0, 9207) == [0, 5000]
    assert nice_ticks(0.1, 0.9) == pytest.approx([0.5])
    assert [number_text(value) for value in (0.12345, 7212, 20000, 1.5e7, 0)] == ["0.123", "7.21k", "20k", "15M", "0"]
    assert tick_texts([5.37, 5.372]) == ["5.37", "5.372"]
    assert tick_texts([20_000, 20_500, 21_000]) == ["20.0k", "20.5k", "21.0k"]


def test_the_screen_needs_a_run_and_a_terminal(tmp_path: Path, capsys: Capsys) -> None:
    assert "it holds no config.toml" in refused(capsys, ExitCode.BAD_DATA, "watch", tmp_path)
    make_run(tmp_path / "run")
    assert "needs a terminal" in refused(capsys, ExitCode.USAGE, "watch", tmp_path / "run")


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals there")
def test_the_screen_opens_and_ends_on_a_real_terminal(tmp_path: Path) -> None:
    make_run(tmp_path / "run")
    ours, theirs = os.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "120", "LINES": "36"}
    words = [sys.executable, "-m", "gomoku_cli", "watch", str(tmp_path / "run")]
    process = subprocess.Popen(words, cwd=ROOT, env=environment, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    os.set_blocking(ours, False)
    shown, deadline = b"", time.monotonic() + 60
    while process.poll() is None:
        assert time.monotonic() < deadline, shown[-2000:]
        time.sleep(0.05)
        try:
            shown += os.read(ours, 65536)
        except BlockingIOError:
            continue
        if b"policy loss" in shown:
            os.write(ours, b"q")
    os.close(ours)
    assert b"policy loss" in shown
    assert process.returncode == ExitCode.DONE, shown[-2000:]
