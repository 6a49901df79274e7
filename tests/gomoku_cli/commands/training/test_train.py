"""`gomoku train`: chains of presets, another model to start from, runs that go on, and ends by Ctrl-C."""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from curriculum.presets import resolve
from curriculum.run.folder import RunFolder, read_metrics
from curriculum.training.trainer import Losses, Trainer
from gomoku_cli.exit_codes import ExitCode
from nets.checkpoint import DEFAULT_MODEL, load_model
from tests.support.commands import Capsys, done, refused, run

NOTHING = ("--set", "selfplay.iterations=0", "--set", "evaluation.final_games=0")
"""Settings without any training."""


def test_a_chain_carries_the_weights_over_its_boards(capsys: Capsys, tmp_path: Path) -> None:
    folder = tmp_path / "chain"
    command = ("train", "--preset", "y-chain", *NOTHING, "--run", folder, "--json")
    out = done(run(capsys, *command))
    runs = [Path(each["run"]) for each in json.loads(out)]
    assert runs == [folder / name for name in ("y-8x8", "y-12x12", "y-20x20")]
    models = [load_model(each / "models" / "best.safetensors") for each in runs]
    assert [info.rules.size for _, info in models] == [8, 12, 20]
    first = models[0][0].state_dict()
    for model, _ in models[1:]:
        assert all(torch.equal(tensor, first[name]) for name, tensor in model.state_dict().items())
    assert "continue it with --resume" in refused(capsys, ExitCode.USAGE, *command)
    code, again, _ = run(capsys, *command, "--resume")
    assert (code, json.loads(again)) == (ExitCode.DONE, json.loads(out))


def test_a_model_that_cannot_be_started_from_costs_no_folder(capsys: Capsys, tmp_path: Path) -> None:
    start = ("train", "--preset", "y-12x12", *NOTHING, "--run", tmp_path / "run")
    error = refused(capsys, ExitCode.BAD_DATA, *start, "--from", "default")
    assert "has another net than the run; give the run the same: --set 'net.planes=" in error
    assert "--set net.batch_norm=true" in error
    assert "there is no file or folder runs/nowhere" in refused(
        capsys, ExitCode.BAD_DATA, *start, "--from", "runs/nowhere"
    )
    assert not (tmp_path / "run").exists()


def test_a_run_starts_from_the_built_in_model(capsys: Capsys, tmp_path: Path) -> None:
    path = tmp_path / "run"
    words = ("--preset", "strongest", *NOTHING, "--set", "phases=selfplay", "--from", "default", "--run", path)
    done(run(capsys, "train", *words))
    ours, theirs = load_model(path / "models" / "best.safetensors")[0], load_model(DEFAULT_MODEL)[0]
    assert all(torch.equal(tensor, theirs.state_dict()[name]) for name, tensor in ours.state_dict().items())


@pytest.mark.slow
def test_minutes_end_a_training_at_a_step(capsys: Capsys, tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    command = ["train", "--run", tmp_path / "run", "--quiet", "--tensorboard", tmp_path / "events"]
    tiny = ["--set", 'phases=["basics"]', "--set", "evaluation.final_games=0", "--set", "basics.epochs=200"]
    code, _, err = run(capsys, *command, "--preset", "smoke", *tiny, "--minutes", "0.02")
    assert code == ExitCode.DONE, err
    assert "its minutes are over, everything so far is saved; continue with: " in err
    assert run(capsys, *command, "--resume", "--set", "basics.epochs=2")[0] == ExitCode.DONE
    steps = [record["global_step"] for record in read_metrics(tmp_path / "run") if record["event"] == "train"]
    assert steps == sorted(steps)
    assert list((tmp_path / "events" / "run").glob("events.out.tfevents.*"))


# Runs that are made, continued, stopped by Ctrl-C, and never begun by mistake.


@pytest.mark.skipif(sys.platform == "win32", reason="no lock there")
def test_a_run_of_another_process_is_refused(capsys: Capsys, tmp_path: Path) -> None:
    with RunFolder.create(tmp_path / "run", resolve("smoke")):
        for words in (("--resume",), ("--preset", "smoke")):
            error = refused(capsys, ExitCode.FAILED, "train", "--run", tmp_path / "run", *words)
            assert "this program has" in error


@pytest.mark.parametrize("command", ["train --resume", "imitate", "selfplay", "generate-basics"])
def test_a_run_keeps_its_seed(command: str, capsys: Capsys, tmp_path: Path) -> None:
    RunFolder.create(tmp_path / "run", resolve("smoke")).close()
    error = refused(capsys, ExitCode.USAGE, *command.split(), "--run", tmp_path / "run", "--seed", 43)
    assert "seed is 42 in the run" in error
    assert "cannot become 43" in error


@pytest.mark.slow
def test_a_dry_run_shows_everything_and_writes_nothing(capsys: Capsys, here: Path) -> None:
    line = ("train", "--preset", "alphagomoku", "--set", "search.simulations=33", "--variant", "renju", "--dry-run")
    out = done(run(capsys, *line))
    for text in ("simulations = 33\n", 'variant = "renju"\n', "294,106"):
        assert text in out
    assert "evaluation, positions a second" not in out, "nothing is measured unless asked"
    shown = json.loads(done(run(capsys, "train", "--preset", "smoke", "--dry-run", "--speed", "--json")))
    assert "evaluation, positions a second" in shown["estimate"]
    assert shown["config"]["net"]["trunk"] == ["conv3-4", "residual"]
    opponents = 'evaluation.opponents=["nobody"]'
    assert "'nobody' names no player" in refused(
        capsys, ExitCode.USAGE, "train", "--preset", "quick", "--set", opponents, "--dry-run"
    )
    assert not list(here.iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="signals are another matter there")
def test_ctrl_c_saves_and_prints_the_command_that_continues(
    capfd: Capsys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, train = tmp_path / "run", Trainer.train

    def interrupted(*arguments: Any) -> Losses:
        os.kill(os.getpid(), signal.SIGINT)
        return train(*arguments)

    monkeypatch.setattr(Trainer, "train", interrupted)
    code, _, err = run(capfd, "train", "--preset", "smoke", "--set", "basics.epochs=100000", "--run", path)
    assert code == ExitCode.INTERRUPTED
    assert "finishing this step; press Ctrl-C again to stop at once" in err
    assert f"train --run {path} --resume" in err.partition("continue with: ")[2]
    assert len(read_metrics(path)) == 1


def test_a_run_that_is_not_there_is_said_to_need_no_resume(capsys: Capsys, tmp_path: Path) -> None:
    error = refused(capsys, ExitCode.BAD_DATA, "train", "--run", tmp_path, "--resume")
    assert "it holds no config.toml; without --resume the command makes one" in error


def test_a_preset_names_the_folder_of_its_run(capsys: Capsys, here: Path) -> None:
    RunFolder.create(here / "runs" / "smoke", resolve("smoke")).close()
    assert "continue it with --resume" in refused(capsys, ExitCode.USAGE, "train", "--preset", "smoke")
