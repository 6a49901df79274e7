"""The command line: its imports, its errors and its exit codes."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
import torch

import gomoku_cli
from core.rules import Rules
from curriculum.games.kinds import KINDS
from curriculum.presets import resolve
from curriculum.run.folder import RunFolder, best_model
from gomoku_cli.console import program
from gomoku_cli.exit_codes import ExitCode
from nets.checkpoint import save_model
from nets.config import Backend, NetConfig, Precision, RuntimeChoice, default_runtime, set_runtime
from nets.dual import make_model
from tests.support.commands import refused, run
from tests.support.project import ROOT

COMMANDS = (
    "train",
    "generate-basics",
    "imitate",
    "selfplay",
    "watch",
    "report",
    "export",
    "runs",
    "config",
    "evaluate",
    "ladder",
    "suite",
    "tournament",
    "openings",
    "analyze",
    "picture",
    "curves",
    "info",
    "play",
    "engine",
    "convert",
    "bench",
    "warmup",
)
HEAVY = ("torch", "numba", "textual", "numpy")


def gomoku(*arguments: object, timeout_s: float = 300, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "gomoku_cli", *map(str, arguments)],
        cwd=ROOT,
        env=os.environ | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",),
        ("--version",),
        *((command, "--help") for command in COMMANDS),
        ("train", "--preset", "alphagomoku", "--dry-run"),
    ],
)
def test_help_loads_nothing_heavy_and_a_dry_run_only_numpy(arguments: Sequence[str]) -> None:
    heavy = [name for name in HEAVY if name != "numpy" or "--dry-run" not in arguments]
    script = (
        "import sys; from gomoku_cli import app; code = app.run(sys.argv[1:]); "
        f"print([name for name in {heavy} if name in sys.modules], file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "[]\n")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_shows_examples(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, command, "--help")
    assert code == ExitCode.DONE
    assert f" gomoku {command}" in out.partition("Examples")[2]


def test_version_is_the_packages(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "--version")[:2] == (ExitCode.DONE, f"gomoku {gomoku_cli.__version__}\n")


def test_no_command_shows_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys)
    assert code == ExitCode.DONE
    assert all(command in out for command in COMMANDS)


@pytest.mark.parametrize(
    ("line", "completed"),
    [("gomoku gen", "generate-basics"), ("gomoku train --preset smo", "smoke"), ("gomoku info --js", "--json")],
)
def test_the_shell_completes(line: str, completed: str) -> None:
    words = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split()) - 1)}
    assert completed in gomoku(_GOMOKU_COMPLETE="complete_bash", **words).stdout.splitlines()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("evalute", "Did you mean 'evaluate'?"),
        ("evaluate", "Missing argument 'PLAYER'"),
        ("evaluate random", "name one opponent"),
        ("suite random endgames", "there is no suite"),
        ("suite random --games 4", "--games"),
        ("suite random --sprt elo0=0,elo1=9", "--sprt"),
        ("suite random --run somewhere", "--run"),
        ("ladder random --min-score 0.5", "--min-score"),
        ("ladder random --games 4 --stop-at 4", "no rung of 4 games has more than 4 wins"),
        ("ladder random --to 100", "100 is below the first rung, 200"),
        ("ladder random --figure none/such.png", "--figure"),
        ("evaluate mentor --against random --simulations 100", "--simulations: it has no effect on mentor and random"),
        ("evaluate default --against random --policy stochastic --switch-stage 8", "--switch-stage"),
        ("evaluate mentor --against random --switch-stage 8", "--switch-stage"),
        ("evaluate pure-mcts:50 --against random --seconds 1", "--seconds"),
        ("evaluate mentor:paper --against random --policy deterministic", "--policy"),
        ("tournament random mentor --no-tactics", "--no-tactics: it has no effect on random and mentor"),
        ("evaluate random --against mentor --engine-seconds 1", "--engine-seconds"),
        ("tournament random mentor --match-seconds 1", "--match-seconds"),
        ("suite mentor --simulations 5", "--simulations"),
        ("ladder mentor --switch-stage 4", "--switch-stage"),
        ("openings --player mentor --no-tactics --output x.txt", "--no-tactics"),
        ("evaluate random --against random --sprt elo0=0", "elo1"),
        ("evaluate random --against random --sprt elo0=9,elo1=5", "elo0 below elo1"),
        ("evaluate random --against random --junit none/such.xml", "there is no folder none"),
        ("evaluate random --against random --games-file games.txt", ".sgf or .psq"),
        ("evaluate random --against random --figure games.txt", "--figure"),
        ("evaluate random --against random --engine-seconds -1", "is no time"),
        ("evaluate random --against engine:", "engine"),
        ("tournament random", "two players or more"),
        ("tournament random mentor random", "random is named twice"),
        ("tournament random mentor --games 3", "3 is odd"),
        ("tournament random mentor --format swiss", "--format"),
        ("evaluate random --against random --games 0", "--games"),
        ("evaluate random --against random --game 5", "--games"),
        ("evaluate random --against random --board-size 26", "--board-size"),
        ("evaluate random --against random --board-size 4", "connect length 5 is outside 3 to 4"),
        ("evaluate random --against random --min-score 50", "--min-score"),
        ("evaluate random --against rndom", "did you mean random"),
        ("evaluate random --against pure-mcts:many", "pure-mcts:N"),
        ("evaluate random --against random --policy greedy", "--policy"),
        ("evaluate random --against random --seconds 1 --simulations 400", "--seconds, --simulations"),
        ("evaluate random --against random --seconds 0", "is no time"),
        ("evaluate random --against random --seconds nan", "is no time"),
        ("evaluate random --against random --seconds 1e300", "is no time"),
        ("evaluate random --against random --backend abacus", "--backend"),
        ("generate-basics", "--output"),
        ("generate-basics --kinds atack-four --output x.npz", "did you mean attack-four?"),
        ("generate-basics --positions many --output x.npz", "--positions"),
        ("train", "--run"),
        ("train --preset qick --run x", "did you mean quick?"),
        ("train --set serch.simulations=5 --run x", "did you mean search.simulations or gate.simulations?"),
        ("train --set search.simulations=x --run x", "a whole number"),
        ("train --set imitation.teacher=mentr --run x", "did you mean mentor?"),
        ("train --config none.toml --run x", "none.toml cannot be read"),
        (
            "train --preset smoke --set rules.size=4 --set rules.connect=3 --set basics.kinds=open-four-attack --run x",
            "4",
        ),
        ("train --preset smoke --set basics.noise_stones=225,225 --run x", "do not fit"),
        ("train --preset smoke --set search.simulations=1 --run x", "2 or more"),
        ("train --preset smoke --set imitation.games=1 --run x", "imitation.games is 1; it must be 2 or more"),
        ("train --preset smoke --resume --dry-run --run x", "leave --resume out"),
        ("evaluate random --against pure-mcts:99999999999999999999", "10,000,000"),
        ("evaluate random --against random --simulations 3000000000", "--simulations"),
        ("analyze --player random", "random tells no more than its move: models, mentor and pure-mcts:N analyse"),
        ("analyze --player mentor:paper", "mentor:paper tells no more than its move"),
        ("analyze --player nobody", "names no player"),
        ("analyze --player pure-mcts:50 --simulations 100", "--simulations: it has no effect on pure-mcts:50"),
        ("analyze --player mentor --no-tactics", "--no-tactics"),
        (
            "analyze --player paper --board-size 9 --connect 5",
            "paper plays 5 in a row on 15x15, not 5 in a row on 9x9",
        ),
        ("analyze h8,h8 --player mentor", "move 2: h8 already holds a stone"),
        ("analyze h99 --player mentor", "move 1: 'h99' is off the board"),
        ("analyze mentor:3", "name the player with --player mentor:3"),
        ("analyze a1,a2,b1,b2,c1 --player mentor --board-size 3 --connect 3", "the game is over after 5 moves"),
        ("analyze --move 3", "--move: it picks from a file of games"),
        ("analyze h8 --game 2", "--game: it picks from a file of games"),
        ("analyze x.sgf h8", "'h8' is no file of games"),
        ("analyze - h8", "- stands alone"),
        ("analyze x.sgf y.sgf --move 2", "it picks from one file of games"),
        ("analyze x.sgf --figure x.png", "gomoku picture draws a game"),
        ("analyze h8 --review", "it needs whole games"),
        ("analyze - --save", "there is no file to save into"),
        ("analyze --figure x.pdf", "must end in .png or .svg"),
        ("analyze --seconds 0", "is no time"),
        ("picture x.txt", "x.txt is no file of games: its name must end in .sgf or .psq"),
        ("picture x.sgf --game 0", "--game"),
        ("picture x.sgf --figure none/such.png", "there is no folder none"),
        ("curves", "RUN"),
        ("curves x --figure x.pdf", "must end in .png or .svg"),
        ("play --colour red", "--colour"),
        ("play --model nobody", "names no player"),
        ("play --model random", "needs a terminal"),
        ("play --seconds 1 --simulations 1", "give one of them"),
        ("play --model mentor --ponder", "mentor cannot ponder: only players with a net can"),
    ],
)
def test_a_wrong_command_line_is_one_line_and_exit_code_2(
    line: str, expected: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert expected in refused(capsys, ExitCode.USAGE, *line.split())
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("info junk.safetensors", "junk.safetensors"),
        ("info none.safetensors", "none.safetensors"),
        ("info .", "best.safetensors"),
        ("evaluate junk.safetensors --against random", "junk.safetensors"),
        ("play --model junk.safetensors", "junk.safetensors"),
        ("evaluate random --against random --openings none.txt", "none.txt"),
        ("evaluate random --against random --openings junk.safetensors", "junk.safetensors"),
        ("analyze --player junk.safetensors", "junk.safetensors"),
        ("analyze none.sgf", "none.sgf: No such file"),
        ("picture none.psq", "none.psq: No such file"),
        ("curves none", "there is no run in none"),
        ("curves .", "there is no run in ."),
        ("train --run none --resume", "there is no run in none"),
        ("train --run . --resume", "holds no config.toml"),
        ("train --run broken --resume", "did you mean search.simulations"),
    ],
)
def test_bad_data_is_one_line_and_exit_code_3(
    line: str, expected: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("junk.safetensors").write_bytes(bytes(range(256)) * 4)
    Path("broken").mkdir()
    Path("broken/config.toml").write_text("[search]\nsimulatoins = 5\n")
    assert expected in refused(capsys, ExitCode.BAD_DATA, *line.split())


def test_hints_name_a_command_that_works_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed = tmp_path / ".venv" / "bin" / "gomoku"
    installed.parent.mkdir(parents=True)
    installed.touch(mode=0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(installed), "play"])
    monkeypatch.setenv("PATH", "/usr/bin")
    assert program() == ".venv/bin/gomoku"
    monkeypatch.setenv("PATH", str(installed.parent))
    assert program() == "gomoku"


def small_model(path: Path) -> Path:
    """A model file of a net with random weights, on 9x9."""
    save_model(path, make_model(NetConfig.tower(4, 1), Rules(9, 5), 1), {})
    return path


def test_a_model_with_infinite_evaluations_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    model = make_model(NetConfig.tower(4, 1), Rules(9, 5), 1)
    for parameter in model.parameters():
        parameter.data.fill_(1e30)
    save_model(tmp_path / "wild.safetensors", model, {})
    line = "--against random --games 2 --simulations 4 --backend torch --quiet".split()
    error = refused(capsys, ExitCode.BAD_DATA, "evaluate", tmp_path / "wild.safetensors", *line)
    assert "not a finite number" in error


@pytest.fixture
def without_openvino(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """OpenVINO is not installed; the choice of a runtime is restored."""
    monkeypatch.setitem(sys.modules, "openvino", None)
    before = default_runtime()
    yield
    set_runtime(before)


@pytest.mark.usefixtures("without_openvino")
def test_a_runtime_that_is_missing_is_one_line_of_notice(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    model = small_model(tmp_path / "model.safetensors")
    line = ("evaluate", model, "--against", model, *"--games 2 --simulations 2 --quiet --json --backend".split())
    code, out, err = run(capsys, *line, "openvino")
    assert (code, json.loads(out)["games"]) == (ExitCode.DONE, 2)
    assert err.startswith("note: OpenVINO cannot be used")
    assert err.count("\n") == 1, err
    assert run(capsys, *line, "torch")[2] == ""


@pytest.mark.usefixtures("without_openvino")
def test_the_requested_precision_is_used(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    model = small_model(tmp_path / "model.safetensors")
    line = ("evaluate", model, "--against", "random", *"--games 2 --simulations 0 --quiet --backend torch".split())
    assert run(capsys, *line, "--precision", "bf16")[0] == ExitCode.DONE
    assert default_runtime() == RuntimeChoice(backend=Backend.TORCH, precision=Precision.BF16)
    if not torch.cuda.is_available():
        assert "fp16 is for GPUs" in refused(capsys, ExitCode.USAGE, *line, "--precision", "fp16")


def test_evaluate_uses_its_time_a_move(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    model = small_model(tmp_path / "model.safetensors")
    line = ("evaluate", model, "--against", "random", *"--games 2 --json --quiet --seconds".split())
    code, out, _ = run(capsys, *line, 0.02)
    result = json.loads(out)
    assert code == ExitCode.DONE
    assert result["longest_move_seconds"][0] >= 0.02


def test_a_run_is_not_started_twice(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    RunFolder.create(tmp_path / "run", resolve("smoke")).close()
    error = refused(capsys, ExitCode.USAGE, "train", "--preset", "smoke", "--run", tmp_path / "run")
    assert "continue it with --resume" in error


@pytest.mark.skipif(sys.platform == "win32", reason="no lock there")
def test_a_run_of_another_process_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with RunFolder.create(tmp_path / "run", resolve("smoke")):
        for words in (("--resume",), ("--preset", "smoke")):
            error = refused(capsys, ExitCode.FAILED, "train", "--run", tmp_path / "run", *words)
            assert "another process works in" in error


@pytest.mark.parametrize("command", ["train --resume", "imitate", "selfplay", "generate-basics"])
def test_a_run_keeps_its_seed(command: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    RunFolder.create(tmp_path / "run", resolve("smoke")).close()
    error = refused(capsys, ExitCode.USAGE, *command.split(), "--run", tmp_path / "run", "--seed", 43)
    assert "seed is 42 in the run" in error
    assert "cannot become 43" in error


def test_a_folder_that_cannot_be_written_is_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    error = refused(capsys, ExitCode.FAILED, "train", "--preset", "smoke", "--run", tmp_path / "file" / "run")
    assert "Not a directory" in error


@pytest.mark.slow
def test_a_dry_run_shows_everything_and_writes_nothing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, _ = run(capsys, "train", "--preset", "alphagomoku", "--set", "search.simulations=33", "--dry-run")
    assert code == ExitCode.DONE
    assert "simulations = 33\n" in out
    assert "294,106" in out
    assert "evaluation, positions a second" not in out, "nothing is measured unless asked"
    code, out, _ = run(capsys, "train", "--preset", "smoke", "--dry-run", "--speed", "--json")
    assert "evaluation, positions a second" in json.loads(out)["estimate"]
    assert json.loads(out)["config"]["net"]["trunk"] == ["conv3-4", "residual"]
    assert not list(tmp_path.iterdir())


def test_evaluate_prints_the_promised_json(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, *"evaluate random --against random --games 6 --board-size 9 --json --quiet".split())
    result = json.loads(out)
    assert code == ExitCode.DONE
    assert {"wins", "draws", "losses", "score", "games", "distinct_games", "as_black", "as_white", "seconds"} <= set(
        result
    )
    assert result["wins"] + result["draws"] + result["losses"] == result["games"] == 6
    assert sum(result["as_black"].values()) == sum(result["as_white"].values()) == 3
    assert result["score"] == pytest.approx((result["wins"] + result["draws"] / 2) / 6)


def test_evaluate_gives_the_same_match_for_the_same_seed(capsys: pytest.CaptureFixture[str]) -> None:
    line = "evaluate random --against random --games 4 --board-size 9 --openings empty --json --seed".split()
    times = ("seconds", "mean_move_seconds", "longest_move_seconds")
    first, again, other = (json.loads(run(capsys, *line, seed)[1]) | dict.fromkeys(times) for seed in (5, 5, 6))
    assert first == again
    assert first["distinct_games"] == 4
    assert other != first


def test_a_missed_minimum_is_exit_code_4(capsys: pytest.CaptureFixture[str]) -> None:
    line = "evaluate random --against mentor:paper --games 2 --openings empty --json --min-score".split()
    code, out, err = run(capsys, *line, 1)
    assert code == ExitCode.BAR_NOT_MET
    assert json.loads(out)["games"] == 2
    assert "required: at least 1" in err
    assert run(capsys, *line, 0)[0] == ExitCode.DONE


def test_evaluate_shows_both_colours(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, *"evaluate random --against random --games 4 --quiet".split())
    assert code == ExitCode.DONE
    for words in ("random against random", "in all", "as black", "as white", "distinct"):
        assert words in out


def test_the_same_seed_gives_the_same_basics(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    def basics(name: str, seed: int) -> bytes:
        line = f"generate-basics --positions 60 --kinds repository --seed {seed} --output".split()
        code, out, _ = run(capsys, *line, tmp_path / name)
        assert code == ExitCode.DONE
        assert "60 positions" in out
        return (tmp_path / name).read_bytes()

    first = basics("one.npz", 1)
    assert basics("two.npz", 1) == first
    assert basics("three.npz", 2) != first


def test_every_kind_of_basics_can_be_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, _, err = run(
        capsys, "generate-basics", "--positions", 20, "--kinds", ",".join(KINDS), "--output", tmp_path / "all.npz"
    )
    assert code == ExitCode.DONE, err


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run, trained by the command line."""
    path = tmp_path_factory.mktemp("trained") / "run"
    done = gomoku("train", "--preset", "smoke", "--run", path)
    assert done.returncode == ExitCode.DONE, done.stderr
    assert "python -m gomoku_cli play --model" in done.stdout
    return path


@pytest.mark.slow
def test_a_trained_run_has_info_and_can_play(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert best_model(trained).is_file()
    code, out, _ = run(capsys, "info", trained, "--json")
    assert code == ExitCode.DONE
    info = json.loads(out)
    assert info["rules"] == {"size": 15, "connect": 5, "variant": "freestyle"}
    assert info["net"]["trunk"] == ["conv3-4", "residual"]
    assert info["parameters"] > 0
    code, out, _ = run(capsys, "info", trained)
    assert f"{info['parameters']}" in out.replace(",", "")
    line = ("evaluate", trained, "--against", "random", "--games", 2, "--simulations", 8, "--json")
    code, out, _ = run(capsys, *line)
    assert (code, json.loads(out)["games"]) == (ExitCode.DONE, 2)


@pytest.mark.slow
def test_a_truncated_model_is_refused(trained: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    cut = tmp_path / "cut.safetensors"
    cut.write_bytes(best_model(trained).read_bytes()[:-100])
    assert "cut.safetensors" in refused(capsys, ExitCode.BAD_DATA, "info", cut)
    assert "cut.safetensors" in refused(capsys, ExitCode.BAD_DATA, "evaluate", cut, "--against", "random")


def _tensors(model: Path) -> bytes:
    """Return the tensors of a model file, without its header, which contains results of matches."""
    content = model.read_bytes()
    return content[8 + int.from_bytes(content[:8], "little") :]


@pytest.mark.slow
def test_a_finished_run_resumes_to_its_end_at_once(trained: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(trained, copy)
    before = _tensors(best_model(copy))
    assert gomoku("train", "--run", copy, "--resume", "--preset", "smoke").returncode == ExitCode.DONE
    assert _tensors(best_model(copy)) == before


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals are another matter there")
def test_ctrl_c_saves_and_prints_the_command_that_continues(tmp_path: Path) -> None:
    path = tmp_path / "run"
    long = ("--set", "basics.epochs=100000", "--set", "training.batch_size=8")
    command = [sys.executable, "-m", "gomoku_cli", "train", "--preset", "smoke", *long, "--run", str(path)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    _wait_for(lambda: (path / "metrics.jsonl").exists())
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == ExitCode.INTERRUPTED
    assert "finishing this step; press Ctrl-C again to stop at once" in err
    assert f"continue with: python -m gomoku_cli train --run {path} --resume" in err
    assert "Traceback" not in err


@pytest.mark.skipif(sys.platform == "win32", reason="signals are another matter there")
def test_a_second_ctrl_c_stops_at_once(tmp_path: Path) -> None:
    script = (
        "import time\n"
        "from gomoku_cli.interruption import interruptible\n"
        "with interruptible():\n"
        "    print('ready', flush=True)\n"
        "    while True:\n"
        "        time.sleep(0.01)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    assert process.stderr.readline().startswith("stopping; press Ctrl-C again")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=10)
    assert (process.returncode, err) == (ExitCode.INTERRUPTED, "stopped\n")


def _wait_for(happened: object, seconds: float = 120) -> None:
    assert callable(happened)
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_help_names_a_command_or_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "help", "ladder")
    assert code == ExitCode.DONE
    assert " gomoku ladder [OPTIONS]" in out
    assert run(capsys, "help")[1] == run(capsys, "--help")[1]
    assert "Did you mean 'ladder'" in refused(capsys, ExitCode.USAGE, "help", "lader")


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_flags_show_no_type(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "<bool>" not in run(capsys, command, "--help")[1]


def test_the_opponent_is_named_once(capsys: pytest.CaptureFixture[str]) -> None:
    small = "--games 2 --board-size 5 --connect 3 --openings empty --json --quiet".split()
    results = [
        json.loads(run(capsys, "evaluate", "random", *words, *small)[1])
        for words in (("mentor:1",), ("--against", "mentor:1"))
    ]
    assert results[0]["opponent"] == results[1]["opponent"] == "mentor:1"
    for words in ((), ("mentor:1", "--against", "mentor:1")):
        assert "name one opponent" in refused(capsys, ExitCode.USAGE, "evaluate", "random", *words)


@pytest.mark.parametrize("command", ["imitate", "selfplay"])
def test_a_mistyped_folder_begins_no_run(command: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    error = refused(capsys, ExitCode.USAGE, command, "--run", tmp_path / "rnu", "--preset", "smoke")
    assert "the folder does not exist; --new makes one" in error
    assert not (tmp_path / "rnu").exists()


@pytest.mark.parametrize("command", ["generate-basics", "imitate", "selfplay"])
def test_resume_makes_no_run(command: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    error = refused(capsys, ExitCode.USAGE, command, "--run", tmp_path / "rnu", "--preset", "smoke", "--resume")
    assert str(tmp_path / "rnu") in error
    assert "makes one" not in error
    assert not (tmp_path / "rnu").exists()


def test_resume_and_new_exclude_each_other(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    error = refused(capsys, ExitCode.USAGE, "imitate", "--run", tmp_path, "--resume", "--new")
    assert "--resume continues a run and --new makes one" in error


def test_a_path_without_a_file_is_named_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert "there is no file or folder runs/nothing" in refused(
        capsys, ExitCode.USAGE, "evaluate", "runs/nothing", "random"
    )


def test_a_preset_names_the_folder_of_its_run(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    RunFolder.create(tmp_path / "runs" / "smoke", resolve("smoke")).close()
    assert "continue it with --resume" in refused(capsys, ExitCode.USAGE, "train", "--preset", "smoke")
