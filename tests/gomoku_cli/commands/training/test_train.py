"""`gomoku train`: chains of presets, and runs that start from another model."""

import json
from pathlib import Path

import pytest
import torch

from curriculum.run.folder import read_metrics
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
    assert (code, "its minutes are over, everything so far is saved; continue with: " in err) == (
        ExitCode.DONE,
        True,
    ), err
    assert run(capsys, *command, "--resume", "--set", "basics.epochs=2")[0] == ExitCode.DONE
    steps = [record["global_step"] for record in read_metrics(tmp_path / "run") if record["event"] == "train"]
    assert steps == sorted(steps)
    assert list((tmp_path / "events" / "run").glob("events.out.tfevents.*"))
