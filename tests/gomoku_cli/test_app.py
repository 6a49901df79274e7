"""The command line: its imports, its errors and its exit codes."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from numba import njit
from typer import Context
from typer.main import get_command

import gomoku_cli
from core.rules import Rules
from curriculum.reporting import Interrupted, Quiet
from gomoku_cli import app
from gomoku_cli.commands import engine
from gomoku_cli.commands.help import _NamedValues, documented
from gomoku_cli.compilation import reporting_compilation
from gomoku_cli.console import program
from gomoku_cli.exit_codes import ExitCode
from gomoku_cli.interruption import interruptible
from nets.config import Backend, Precision, RuntimeChoice, default_runtime, set_runtime
from tests.support.commands import Capsys, done, gomoku, python, refused, run
from tests.support.nets import save_small_model
from tests.support.project import ROOT

COMMANDS = sorted(
    name
    for name, command in get_command(app.app).commands.items()  # type: ignore[attr-defined]
    if not command.hidden
)
HEAVY = ("torch", "numba", "textual", "numpy")


def test_help_loads_nothing_heavy() -> None:
    script = (
        "import sys; from gomoku_cli import app; codes = [app.run(line.split()) for line in sys.argv[1:]]; "
        f"print(set(map(int, codes)), [name for name in {HEAVY} if name in sys.modules], file=sys.stderr)"
    )
    ended = python(script, "--help", "--version", *(f"{command} --help" for command in COMMANDS))
    assert (ended.returncode, ended.stderr) == (0, "{0} []\n")


def test_an_option_before_its_command_is_refused_with_its_place(capsys: Capsys) -> None:
    for words in (("--json", "info"), ("book", "--json", "show", "book.sqlite")):
        assert "those of a command stand after its name" in refused(capsys, ExitCode.USAGE, *words)
    assert "after its name" not in refused(capsys, ExitCode.USAGE, "convert", "--json", "a.sgf", "b.sgf")


def test_the_screens_need_no_kernels_or_torch() -> None:
    script = (
        "import sys, gomoku_cli.app, gomoku_cli.tui.app, gomoku_cli.tui.screens.new_game\n"
        "print([name for name in ('numpy', 'numba', 'torch', 'openvino', 'scipy') if name in sys.modules])\n"
        "import gomoku_cli.watch.app\n"
        "print([name for name in ('torch', 'numba', 'scipy') if name in sys.modules])"
    )
    assert python(script).stdout == "[]\n[]\n"


def test_the_help_names_every_command(capsys: Capsys) -> None:
    out = run(capsys)[1]
    assert len(COMMANDS) >= 23
    assert all(command in out for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_every_command_has_examples_and_no_types_of_flags(command: str, capsys: Capsys) -> None:
    out = done(run(capsys, command, "--help"))
    assert f" gomoku {command}" in out.partition("Examples")[2]
    assert "<bool>" not in out


def test_the_paragraphs_of_a_help_are_filled_to_the_width_of_the_terminal() -> None:
    text, _ = documented(engine.command)
    paragraphs = text.split("\n\n")
    assert len(paragraphs) == 3
    assert not any("\n" in paragraph for paragraph in paragraphs)


def test_version_is_the_packages(capsys: Capsys) -> None:
    assert run(capsys, "--version")[:2] == (ExitCode.DONE, f"gomoku {gomoku_cli.__version__}\n")


@pytest.mark.parametrize(
    ("line", "completed"),
    [("gomoku gen", "generate-basics"), ("gomoku train --preset smo", "smoke"), ("gomoku info --js", "--json")],
)
def test_the_shell_completes(line: str, completed: str) -> None:
    words = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split()) - 1)}
    assert completed in gomoku(_GOMOKU_COMPLETE="complete_bash", **words).stdout.splitlines()


def test_hints_name_a_command_that_works_from_here(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed = here / ".venv" / "bin" / "gomoku"
    installed.parent.mkdir(parents=True)
    installed.touch(mode=0o755)
    monkeypatch.setattr(sys, "argv", [str(installed), "play"])
    monkeypatch.setenv("PATH", "/usr/bin")
    assert program() == ".venv/bin/gomoku"
    monkeypatch.setenv("PATH", str(installed.parent))
    assert program() == "gomoku"


@pytest.fixture
def without_openvino(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """OpenVINO is not installed; the choice of a runtime is restored."""
    monkeypatch.setitem(sys.modules, "openvino", None)
    before = default_runtime()
    yield
    set_runtime(before)


@pytest.mark.usefixtures("without_openvino")
def test_a_runtime_that_is_missing_is_one_line_of_notice(capsys: Capsys, tmp_path: Path) -> None:
    model = save_small_model(tmp_path / "model.safetensors", Rules(9))
    line = ("evaluate", model, "--against", model, *"--games 2 --simulations 2 --quiet --json --backend".split())
    code, out, err = run(capsys, *line, "openvino")
    assert (code, json.loads(out)["games"]) == (ExitCode.DONE, 2)
    assert err.startswith("note: OpenVINO cannot be used")
    assert err.count("\n") == 1, err
    assert run(capsys, *line, "torch")[2] == ""


@pytest.mark.usefixtures("without_openvino")
def test_the_requested_precision_is_used(capsys: Capsys, tmp_path: Path) -> None:
    model = save_small_model(tmp_path / "model.safetensors", Rules(9))
    line = ("evaluate", model, "--against", "random", *"--games 2 --simulations 0 --quiet --backend torch".split())
    assert run(capsys, *line, "--precision", "bf16")[0] == ExitCode.DONE
    assert default_runtime() == RuntimeChoice(backend=Backend.TORCH, precision=Precision.BF16)
    if not torch.cuda.is_available():
        assert "fp16 is for GPUs" in refused(capsys, ExitCode.USAGE, *line, "--precision", "fp16")


def test_evaluate_uses_its_time_a_move(capsys: Capsys, tmp_path: Path) -> None:
    model = save_small_model(tmp_path / "model.safetensors", Rules(9))
    line = ("evaluate", model, "--against", "random", *"--games 2 --json --quiet --seconds".split())
    code, out, _ = run(capsys, *line, 0.02)
    result = json.loads(out)
    assert code == ExitCode.DONE
    assert result["longest_move_seconds"][0] >= 0.02


@pytest.mark.skipif(sys.platform == "win32", reason="signals are another matter there")
@pytest.mark.parametrize(
    "work", ["while True: time.sleep(0.01)", "hashlib.pbkdf2_hmac('sha256', b'', b'', 1_000_000_000)"]
)
def test_ctrl_c_is_answered_and_a_second_one_stops_at_once(work: str) -> None:
    """The second work is one step of Python, as the compilation of a kernel is."""
    script = (
        "import hashlib, time\n"
        "from gomoku_cli.interruption import interruptible\n"
        "with interruptible():\n"
        "    print('ready', flush=True)\n"
        f"    {work}\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    assert process.stderr.readline().startswith("stopping; press Ctrl-C again")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=10)
    assert (process.returncode, err) == (ExitCode.INTERRUPTED, "stopped\n")


def test_no_further_kernel_is_compiled_after_ctrl_c() -> None:
    with reporting_compilation(Quiet(), lambda: False):
        assert njit(lambda number: number + 1)(1) == 2
    with pytest.raises(Interrupted), reporting_compilation(Quiet(), lambda: True):
        njit(lambda number: number + 1)(1)


@pytest.mark.parametrize("notes", [True, False])
def test_a_compilation_is_noted_unless_the_work_reports_it(notes: bool, capsys: Capsys) -> None:
    with interruptible(notes=notes):
        njit(lambda number: number + 1)(1)
    assert ("the first run compiles" in capsys.readouterr().err) == notes


def test_help_shows_a_command(capsys: Capsys) -> None:
    out = done(run(capsys, "help", "ladder"))
    assert " gomoku ladder [OPTIONS]" in out
    assert run(capsys, "help")[1] == run(capsys, "--help")[1]


def test_a_parameter_that_does_not_say_its_type_is_left_as_it_is() -> None:
    """As with a typer before 0.29.1, which a server may have where nothing is installed."""
    option = SimpleNamespace(help="as it is", metavar=None)

    class Older:
        def get_params(self, ctx: object) -> list[object]:
            return [option]

    class Command(_NamedValues, Older):
        pass

    assert Command().get_params(Context(get_command(app.app))) == [option]
    assert option == SimpleNamespace(help="as it is", metavar=None)
