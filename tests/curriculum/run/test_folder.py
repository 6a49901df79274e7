"""The run folder: its lock, the remains of a killed process, and records that are read back."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from core.cores import instruction_sets, processor_name
from core.files.atomic import NotAFileError
from core.input_limits import MAX_JSON_BYTES
from core.rules import Rules
from curriculum.config import Config
from curriculum.presets import resolve
from curriculum.run.folder import RunFolder, is_run, read_metrics
from curriculum.run.locking import FolderBusyError, FolderError, FolderMovedError, FolderTakenError
from curriculum.stated import ConfigError
from curriculum.training.trainer import Trainer
from nets.config import NetConfig
from nets.dual import make_model
from nets.runtimes.net_evaluator import NetEvaluator
from tests.support.project import ROOT
from tests.support.runs import append

CONFIG = resolve("smoke", assignments=["seed=7"])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The folder of a new run, closed again."""
    path = tmp_path / "runs" / "one"
    RunFolder.create(path, CONFIG).close()
    return path


def test_a_new_run_has_all_its_parts(tmp_path: Path) -> None:
    with RunFolder.create(tmp_path / "a" / "b", CONFIG) as run:
        assert is_run(run.path)
        assert run.config == CONFIG
        for folder in (run.models, run.games, run.replay, run.state):
            assert folder.is_dir()
        assert run.best_model == run.models / "best.safetensors"
        assert run.metrics() == []


def test_every_opening_is_noted_with_its_environment(path: Path) -> None:
    RunFolder.open(path).close()
    sessions = json.loads((path / "environment.json").read_text())["sessions"]
    assert len(sessions) == 2
    assert sessions[0]["versions"]["numpy"] == np.__version__
    assert sessions[0]["cpus"] == os.cpu_count()
    assert {"time", "command", "python", "commit", "machine", "processor"} <= sessions[0].keys()


def test_the_environment_names_the_processor_and_what_computes_on_it(path: Path) -> None:
    with RunFolder.open(path) as run:
        evaluator = NetEvaluator(make_model(NetConfig.tower(2, 0, hidden=2), Rules(6), 1))
        trainer = Trainer(run.config)
        run.append_metrics({"phase": "basics"})
        *_, session = json.loads((path / "environment.json").read_text())["sessions"]
    assert session["processor"] == processor_name()
    assert session["instruction_sets"] == instruction_sets()
    assert (session["backend"], session["precision"]) == (evaluator.runtime.backend, evaluator.runtime.precision)
    assert session["training_precision"] in ("float32", "bfloat16")
    assert (session["device"] == "cpu") == (trainer.device.type == "cpu")


@pytest.mark.skipif(not Path("/proc/cpuinfo").exists(), reason="Linux describes its processors there")
def test_the_processor_is_the_one_of_the_system() -> None:
    info = Path("/proc/cpuinfo").read_text()
    assert "model name" not in info or f": {processor_name()}\n" in info
    assert set(instruction_sets()) <= set(info.split())


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="this is not a checkout")
def test_the_commit_of_the_source_tree_is_noted(path: Path) -> None:
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    (session,) = json.loads((path / "environment.json").read_text())["sessions"]
    assert session["commit"].removesuffix("-dirty") == head.strip()


def test_a_run_is_not_created_over_another_or_among_other_files(tmp_path: Path) -> None:
    RunFolder.create(tmp_path / "run", CONFIG).close()
    with pytest.raises(FolderTakenError, match="already holds a run: continue it with --resume"):
        RunFolder.create(tmp_path / "run", CONFIG)
    tmp_path = tmp_path / "other"
    tmp_path.mkdir()
    (tmp_path / "thesis.tex").write_text("words")
    with pytest.raises(FolderTakenError, match="is not empty and holds no run"):
        RunFolder.create(tmp_path, CONFIG)
    assert [entry.name for entry in tmp_path.iterdir()] == ["thesis.tex"]
    with pytest.raises(FolderTakenError, match="is a file"):
        RunFolder.create(tmp_path / "thesis.tex", CONFIG)


def test_creating_goes_on_after_a_kill_in_its_midst(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "lock").touch()
    (tmp_path / ".config.toml.ab12cd09").write_text("seed =")
    RunFolder.create(tmp_path, CONFIG).close()
    assert not list(tmp_path.glob(".config*"))


def test_errors_of_opening_name_the_missing_or_broken_part(tmp_path: Path, path: Path) -> None:
    with pytest.raises(FolderError, match="the folder does not exist"):
        RunFolder.open(tmp_path / "none")
    with pytest.raises(FolderError, match=r"it holds no config\.toml"):
        RunFolder.open(tmp_path)
    (path / "config.toml").write_text("[search]\nsimulations = 'x'\n")
    with pytest.raises(FolderError, match=r"cannot be read: .*config\.toml: search\.simulations is \"x\""):
        RunFolder.open(path)
    (path / "config.toml").write_text("")
    with pytest.raises(ConfigError, match=r"preset is \"smoke\" in the run .* \(its config\.toml was edited\)"):
        RunFolder.open(path)


def test_a_run_of_an_older_version_begins_its_history_of_settings(path: Path) -> None:
    (path / "settings.jsonl").unlink()
    (path / "config.toml").write_text("")
    for _ in range(2):
        with RunFolder.open(path) as run:
            assert run.config == Config()
            assert run.changes == run.remarks == []


@pytest.mark.parametrize(
    ("name", "content"),
    [
        *(("settings.jsonl", text) for text in ("[]\n", "{}\n", '{"settings": {}}\n{"settings": {}}\n', "{\n")),
        *(("environment.json", text) for text in ("", '{"sessions": {}}', '{"sessions": [1]}')),
    ],
)
def test_a_broken_history_is_named(name: str, content: str, path: Path) -> None:
    (path / name).write_text(content)
    with pytest.raises(FolderError, match=name):
        RunFolder.open(path)


@pytest.mark.skipif(sys.platform == "win32", reason="no lock there")
def test_two_never_work_in_one_run(path: Path) -> None:
    with RunFolder.open(path), pytest.raises(FolderBusyError, match="this program has"):
        RunFolder.open(path)
    RunFolder.open(path).close()


@pytest.mark.skipif(sys.platform == "win32", reason="an open folder does not move there")
@pytest.mark.parametrize("is_other_there", [False, True])
def test_a_run_that_is_moved_during_the_work_begins_no_second_one(path: Path, is_other_there: bool) -> None:
    with RunFolder.open(path) as run:
        path.rename(path.with_name("moved"))
        if is_other_there:
            RunFolder.create(path, CONFIG).close()
        for write in (
            lambda: run.append_metrics({"event": "train"}),
            lambda: run.write_state("phases", {}),
            lambda: run.models,
            lambda: run.best_model,
        ):
            with pytest.raises(FolderMovedError, match="one was moved or removed"):
                write()
        assert path.exists() == is_other_there
    RunFolder.open(path.with_name("moved")).close()


@pytest.mark.skipif(sys.platform == "win32", reason="no lock there")
def test_a_killed_process_leaves_no_lock(path: Path) -> None:
    script = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from curriculum.run.folder import RunFolder\n"
        "run = RunFolder.open(Path(sys.argv[1]))\n"
        "print('ready', flush=True)\n"
        "time.sleep(60)\n"
    )
    command = [sys.executable, "-c", script, str(path)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "ready\n"
        with pytest.raises(FolderBusyError):
            RunFolder.open(path)
        holder.kill()
    RunFolder.open(path).close()


def test_metrics_come_back_in_order_with_their_time(path: Path) -> None:
    with RunFolder.open(path) as run:
        run.append_metrics({"phase": "basics", "loss": np.float32(0.5), "step": np.int64(3)})
        run.append_metrics({"phase": "selfplay", "loss": float("nan"), "moves": np.arange(2), "path": Path("a")})
        first, second = run.metrics()
    assert first.pop("time") <= second.pop("time")
    assert first == {"phase": "basics", "loss": 0.5, "step": 3, "global_step": 0}
    assert second == {"phase": "selfplay", "loss": None, "moves": [0, 1], "path": "a", "global_step": 0}
    assert read_metrics(path)[0]["step"] == 3


def test_metrics_of_what_is_no_run_are_no_empty_run(tmp_path: Path) -> None:
    with pytest.raises(FolderError, match=r"there is no run in .*: it holds no config\.toml"):
        read_metrics(tmp_path)
    RunFolder.create(tmp_path / "runs" / "mine", CONFIG).close()
    with pytest.raises(FolderError, match=r"it holds no config\.toml, but runs, such as .*runs/mine$"):
        read_metrics(tmp_path / "runs")
    with pytest.raises(FolderError, match=r"there is no run in .*: the folder does not exist"):
        read_metrics(tmp_path / "misspelled")
    (tmp_path / "file").touch()
    with pytest.raises(FolderError, match=r"there is no run in .*file: it is no folder"):
        read_metrics(tmp_path / "file")


def test_a_broken_line_of_metrics_is_named(path: Path) -> None:
    (path / "metrics.jsonl").write_text('{"step": 1}\n{"step"\n')
    with RunFolder.open(path) as run, pytest.raises(FolderError, match=r"metrics\.jsonl, line 2"):
        run.metrics()


def test_state_comes_back_whole(path: Path) -> None:
    with RunFolder.open(path) as run:
        assert run.read_state("selfplay", dict) is None
        run.write_state("selfplay", {"iteration": np.int64(4), "best": None})
        run.write_state("selfplay", {"iteration": np.int64(5), "best": None})
        assert run.read_state("selfplay", dict) == {"iteration": 5, "best": None}


@pytest.mark.parametrize("text", ["{", "[]", "\udc80"])
def test_a_state_that_is_no_object_is_named(text: str, path: Path) -> None:
    with RunFolder.open(path) as run:
        (run.state / "selfplay.json").write_bytes(text.encode(errors="surrogateescape"))
        with pytest.raises(FolderError, match=r"selfplay\.json cannot be read"):
            run.read_state("selfplay", dict)


def test_metrics_of_work_that_could_not_be_saved_are_taken_back(path: Path) -> None:
    with RunFolder.open(path) as run:
        run.append_metrics({"step": 1})
        with pytest.raises(OSError, match="full"), run.metrics_of({"step": 2}):
            assert [record["step"] for record in run.metrics()] == [1, 2]
            raise OSError("full")
        with run.metrics_of({"step": 3}):
            pass
        assert [record["step"] for record in run.metrics()] == [1, 3]


@pytest.mark.parametrize(
    "end",
    [b'{"ti', b"\0" * 5000, b'{"st' + b"\0" * 9, b'{"step": 2, "a\0\0\0\0\0": 1}\n', b"\0\n\0\0\n"],
)
def test_a_half_written_line_and_zeros_that_a_power_cut_left_are_cut_off(end: bytes, path: Path) -> None:
    with RunFolder.open(path) as run:
        run.append_metrics({"step": 1})
    with (path / "metrics.jsonl").open("ab") as file:
        file.write(end)
    assert b"\n" in end or [record["step"] for record in read_metrics(path)] == [1]
    with RunFolder.open(path) as run:
        run.append_metrics({"step": 2})
        assert [record["step"] for record in run.metrics()] == [1, 2]


def test_the_notes_of_many_openings_stay_within_the_limit(path: Path) -> None:
    file = path / "environment.json"
    file.write_text(json.dumps({"sessions": [{"command": "x" * 1000}] * 1000}))
    RunFolder.open(path).close()
    assert file.stat().st_size <= MAX_JSON_BYTES
    assert "versions" in json.loads(file.read_text())["sessions"][-1]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
@pytest.mark.parametrize("name", ["metrics.jsonl", "environment.json", "state/gate.json", "models/best.safetensors"])
def test_a_pipe_in_place_of_a_file_is_refused(name: str, path: Path) -> None:
    (path / name).unlink(missing_ok=True)
    os.mkfifo(path / name)
    with pytest.raises(NotAFileError, match=name):
        RunFolder.open(path)


def test_opening_removes_unfinished_files_and_nothing_else(path: Path) -> None:
    left = [path / "models" / ".best.safetensors.01234567", path / ".environment.json.89abcdef"]
    kept = [path / ".gitignore", path / "models" / "best.safetensors", path / "games" / "notes.abcdefgh"]
    for file in (*left, *kept):
        file.write_text("x")
    RunFolder.open(path).close()
    assert not any(file.exists() for file in left)
    assert all(file.exists() for file in kept)


# An opening leaves each step once in the metrics, whatever a kill left in the file.

UNSAVED = {
    "train": {"phase": "basics", "event": "train", "step": 2},
    "basics": {"phase": "basics", "event": "measure", "step": 4},
    "pass": {"phase": "imitation", "event": "measure", "step": 2, "pass": 1},
    "match": {"phase": "imitation", "event": "match", "step": 2, "opponent": "mentor"},
    "games": {"phase": "selfplay", "event": "games", "iteration": 0, "file": "selfplay-0000-000000"},
    "gate": {"phase": "selfplay", "event": "gate", "iteration": 0},
    "final match": {"phase": "evaluation", "event": "match", "opponent": "mentor", "games": 2},
}


@pytest.mark.parametrize("name", UNSAVED)
def test_opening_cuts_off_lines_whose_work_was_not_saved(name: str, path: Path) -> None:
    kept = {"phase": "custom", "event": "note"}
    append(path, kept, UNSAVED[name])
    RunFolder.open(path).close()
    assert read_metrics(path) == [kept]


def test_opening_keeps_lines_whose_work_is_saved(path: Path) -> None:
    saved = {
        "phases": {"basics": True, "imitation": True},
        "gate": {"0": {"accepted": True, "result": {}}},
        "matches": {"mentor": {"opponent": "mentor", "games": 2}},
    }
    for state, value in saved.items():
        (path / "state" / f"{state}.json").write_text(json.dumps(value))
    (path / "models" / "best.safetensors").touch()
    (path / "replay" / "selfplay-0000-000000.npz").touch()
    for line in UNSAVED.values():
        append(path, line)
        RunFolder.open(path).close()
        assert read_metrics(path)[-1] == line
    assert len(read_metrics(path)) == len(UNSAVED)
