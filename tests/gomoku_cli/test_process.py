"""The process of a command: lost readers, closed streams, signals."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.position import Position
from core.records.formats import read_games, write_games
from core.rules import Rules
from gomoku_cli.exit_codes import ExitCode
from gomoku_cli.process import open_remarks, share_processors
from gomoku_cli.study.game import record_game
from tests.support.commands import gomoku, python
from tests.support.project import ROOT

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and pipes are another matter there")
VERSION = [sys.executable, "-m", "gomoku_cli", "--version"]


@pytest.fixture
def unread() -> Iterator[int]:
    """The end of a pipe whose reader is gone."""
    source, sink = os.pipe()
    os.close(source)
    yield sink
    os.close(sink)


def test_a_folder_that_was_removed_is_named(tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    script = "import os; from gomoku_cli.__main__ import main; os.rmdir(os.getcwd()); main()"
    ended = python(script, cwd=tmp_path / "gone", env=os.environ | {"PYTHONPATH": str(ROOT)})
    assert ended.returncode == ExitCode.FAILED
    assert ended.stderr == "gomoku: the current folder was removed: go to another one, as with cd\n"


def test_a_width_of_zero_is_an_unknown_one() -> None:
    """Some ways into a container set it; nothing was shown."""
    assert "gomoku evaluate" in gomoku("evaluate", "--help", COLUMNS="0").stdout


def test_no_garbage_is_looked_for_at_the_end() -> None:
    """With torch imported that takes a second of work, and several on a busy machine."""
    script = (
        "import atexit, gc, sys; from gomoku_cli.__main__ import main; sys.argv[1:] = ['--version']; "
        "atexit.register(lambda: print(gc.get_freeze_count() > 10_000)); main()"
    )
    assert python(script, cwd=ROOT).stdout.endswith("True\n")


@pytest.mark.parametrize("line", ["evaluate random random --games 2 --json", "evaluate random random --games 2"])
def test_a_lost_reader_ends_the_command_as_sigpipe_does_and_costs_no_file(
    line: str, unread: int, tmp_path: Path
) -> None:
    files = ["--quiet", "--games-file", str(tmp_path / "games.sgf"), "--junit", str(tmp_path / "report.xml")]
    words = [sys.executable, "-m", "gomoku_cli", *line.split(), *files]
    ended = subprocess.run(words, cwd=ROOT, stdout=unread, stderr=subprocess.PIPE, check=False)
    assert (ended.returncode, ended.stderr) == (ExitCode.READER_GONE, b"")
    assert len(read_games(tmp_path / "games.sgf")) == 2
    assert (tmp_path / "report.xml").exists()


def test_a_lost_reader_of_an_analysis_costs_no_position_that_was_searched(tmp_path: Path) -> None:
    file = tmp_path / "game.sgf"
    write_games(file, [record_game(Position.from_moves(Rules(), "h8 a1 i8 a3 j8 a5"))])
    source, sink = os.pipe()
    words = [sys.executable, "-u", "-m", "gomoku_cli", "analyze", str(file), "--player", "mentor:1", "--save"]
    with subprocess.Popen(words, cwd=ROOT, stdout=sink, stderr=subprocess.DEVNULL) as process:
        os.close(sink)
        shown = b""
        while b"start" not in shown:  # the line of the first position
            more = os.read(source, 4096)
            assert more, shown
            shown += more
        os.close(source)
    assert process.returncode == ExitCode.READER_GONE
    assert file.read_text(encoding="utf-8").count("GOMOKU[") >= 2


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full device")
def test_results_that_cannot_be_written_are_an_error_of_one_line() -> None:
    with open("/dev/full", "wb") as full:
        ended = subprocess.run(VERSION, cwd=ROOT, stdout=full, stderr=subprocess.PIPE, check=False)
    assert ended.returncode == ExitCode.FAILED
    assert ended.stderr == b"gomoku: standard output: No space left on device\n"


def test_results_for_a_terminal_that_is_closed_end_the_command_as_its_signal_does() -> None:
    master, slave = os.openpty()
    os.close(master)
    ended = subprocess.run(VERSION, cwd=ROOT, stdout=slave, stderr=subprocess.PIPE, check=False)
    os.close(slave)
    assert (ended.returncode, b"Traceback" in ended.stderr) == (ExitCode.INTERRUPTED, False)


def test_remarks_are_dropped_when_their_reader_is_gone(unread: int) -> None:
    print("nobody reads this", file=open_remarks(unread), flush=True)


def test_remarks_do_not_go_to_stdout_when_stderr_is_closed() -> None:
    command = f"{sys.executable} -m gomoku_cli nonsense 2>&-"
    ended = subprocess.run(["/bin/sh", "-c", command], cwd=ROOT, stdout=subprocess.PIPE, check=False)
    assert (ended.returncode, ended.stdout) == (ExitCode.USAGE, b"")


def test_a_closed_stdin_is_an_error_of_one_line() -> None:
    command = f"{sys.executable} -m gomoku_cli analyze - --player mentor:1 <&-"
    ended = subprocess.run(["/bin/sh", "-c", command], cwd=ROOT, capture_output=True, check=False)
    assert ended.returncode == ExitCode.FAILED
    assert ended.stderr == b"gomoku: standard input: Bad file descriptor\n"


@pytest.mark.parametrize(
    ("own", "expected"),
    [({}, "10000"), ({"GOMP_SPINCOUNT": "7"}, "7"), ({"OMP_WAIT_POLICY": "ACTIVE"}, None)],
    ids=["nothing", "a count", "a policy"],
)
def test_waiting_threads_sleep_soon_unless_the_user_says_otherwise(
    own: dict[str, str], expected: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "environ", dict(own))
    share_processors()
    assert os.environ.get("GOMP_SPINCOUNT") == expected


@pytest.mark.parametrize("ignored", [False, True])
def test_sighup_ends_a_command_unless_nohup_started_it(ignored: bool) -> None:
    script = (
        "import os, signal\n"
        "from gomoku_cli import process\n"
        "process.end_on_signals()\n"
        "os.kill(os.getpid(), signal.SIGHUP)\n"
        "print('goes on')\n"
    )
    action = signal.SIG_IGN if ignored else signal.SIG_DFL
    ended = python(script, preexec_fn=lambda: signal.signal(signal.SIGHUP, action))
    expected = (0, "goes on\n", "") if ignored else (ExitCode.INTERRUPTED, "", "stopped\n")
    assert (ended.returncode, ended.stdout, ended.stderr) == expected


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"])
def test_a_signal_at_the_very_end_does_not_change_the_exit_code(name: str) -> None:
    script = f"""
import os, sys
from gomoku_cli.process import end_on_signals

end_on_signals()

class Last:
    def __del__(self, kill=os.kill, pid=os.getpid()):
        kill(pid, {int(getattr(signal, name))})

sys.last = Last()  # it goes after Python has given up its handlers
"""
    assert python(script).returncode == 0
