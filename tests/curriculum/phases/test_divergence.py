"""A training that diverges: it stops before it saves anything, and the run goes on with a smaller rate."""

import math
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from curriculum.config import Config, Optimiser, Phase
from curriculum.phases import steps as run_training
from curriculum.phases.all import run_basics, run_imitation, run_selfplay
from curriculum.presets import Choice, revised
from curriculum.reporting import Context, DivergedError
from curriculum.run.folder import RunFolder, read_metrics
from curriculum.training.files import read_samples, write_samples
from curriculum.training.trainer import StepError, Trainer
from curriculum.workers.games import Game, Job, Stream
from curriculum.workers.local import Local
from gomoku_cli.exit_codes import ExitCode
from nets.checkpoint import check_model
from nets.tensor_file import NotFiniteError, open_tensors
from tests.curriculum.phases.test_concurrent import CONFIG as CONCURRENT
from tests.support.commands import Capsys, refused, run
from tests.support.runs import CURRICULUM as CONFIG
from tests.support.runs import plain_samples

FEW = replace(
    CONFIG, selfplay=replace(CONFIG.selfplay, iterations=1, rehearsal_share=0.0), gate=replace(CONFIG.gate, games=0)
)
OVERLAPPED = replace(FEW, selfplay=replace(FEW.selfplay, iterations=2, overlap=True))
SIDE_BY_SIDE = replace(CONCURRENT, selfplay=replace(CONCURRENT.selfplay, iterations=1, epochs=1))
RUNS = {Phase.BASICS: run_basics, Phase.IMITATION: run_imitation, Phase.SELFPLAY: run_selfplay}
PLACES = {
    Phase.BASICS: "phase 1, basics: the training diverged at step ",
    Phase.IMITATION: "phase 2, imitation, pass 1: the training diverged at step ",
    Phase.SELFPLAY: "phase 3, self-play, round 1: the training diverged at step ",
}


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_training, "STEPS_PER_SAVE", 2)


class Here(Local):
    """Plays in this process what is to be played beside it."""

    def stream(self, job: Job[Game], numbers: Iterable[int], *others: Any, **beside: bool) -> Stream[Game]:
        """See `Pool`."""
        stream = super().stream(job, numbers, *others)
        assert stream.take(0.1) == []  # the first one opens the model, so that newer weights may come
        return stream


def with_rate(config: Config, phase: Phase, rate: float) -> Config:
    return revised(config, Choice(flags={f"{phase}.learning_rate": rate, f"{phase}.final_learning_rate": rate}))


def assert_finite(path: Path) -> None:
    """Read every file of the run as its readers do."""
    for file in path.rglob("*.safetensors"):
        with open_tensors(file, 1 << 30) as tensors:
            tensors.arrays()
    for file in path.rglob("*.npz"):
        read_samples(file)
    assert not [record for record in read_metrics(path) if record["event"] == "train" and record["policy_loss"] is None]


@pytest.mark.parametrize(
    ("config", "phase"),
    [
        *((FEW, phase) for phase in Phase),
        (replace(FEW, training=replace(FEW.training, optimiser=Optimiser.ADAM)), Phase.BASICS),
        (OVERLAPPED, Phase.SELFPLAY),
        (SIDE_BY_SIDE, Phase.SELFPLAY),
    ],
)
def test_a_diverged_phase_saves_nothing_and_goes_on(config: Config, phase: Phase, tmp_path: Path) -> None:
    path, work = tmp_path / "run", RUNS[phase]
    with RunFolder.create(path, with_rate(config, phase, 1e18)) as folder, pytest.raises(DivergedError) as error:
        work(folder, Context(pool=Here()))
    assert str(error.value).startswith(PLACES[phase])
    assert "learning rate 1e+18" in str(error.value)
    assert "with a smaller rate" in str(error.value)
    assert error.value.settings[0].startswith(f"{phase}.learning_rate=0.0")
    assert_finite(path)
    assert not (path / "models" / "candidate.safetensors").exists()
    smaller = {key: float(value) for key, value in (each.split("=") for each in error.value.settings)}
    with RunFolder.open(path, lambda config: revised(config, Choice(flags=smaller))) as folder:
        work(folder, Context(pool=Here()))
        assert folder.changes
    assert_finite(path)
    assert check_model(path / "models" / "best.safetensors").made["phase"]


def test_the_last_good_state_stays(tmp_path: Path) -> None:
    """A rate that is raised in mid-phase costs the steps since the last save alone."""
    path = tmp_path / "run"
    steps = 4

    class Stops(Context):
        def check(self) -> None:
            """See `Context`."""
            if run_folder.progress.training("basics").get("step", 0) >= steps:
                raise KeyboardInterrupt

    with RunFolder.create(path, FEW) as run_folder, pytest.raises(KeyboardInterrupt):
        run_basics(run_folder, Stops())
    before = (path / "state" / "basics.safetensors").read_bytes()
    big = {"basics.learning_rate": 1e18, "basics.final_learning_rate": 1e18}
    with (
        RunFolder.open(path, lambda config: revised(config, Choice(flags=big))) as run_folder,
        pytest.raises(DivergedError, match=f"at step ({steps + 1}|{steps + 2}), learning rate"),
    ):
        run_basics(run_folder, Context())
    assert run_folder.changes[0]["step"] == steps
    assert (path / "state" / "basics.safetensors").read_bytes() == before


def test_a_command_says_how_to_go_on(tmp_path: Path, capsys: Capsys) -> None:
    path = tmp_path / "run"
    RunFolder.create(path, with_rate(FEW, Phase.BASICS, 1e18)).close()
    error = refused(capsys, ExitCode.FAILED, "generate-basics", "--run", path, "--quiet")
    assert f"generate-basics --run {path} --set basics.learning_rate=0.0" in error
    code, _, err = run(capsys, *error[error.index("generate-basics --run") :].split(), "--quiet")
    assert code == ExitCode.DONE, err


def test_the_step_is_the_first_one_that_diverged() -> None:
    trainer = Trainer(CONFIG)
    rates = np.array([0.01, 0.01, math.nan, 0.01, 0.01])
    with pytest.raises(StepError) as error:
        trainer.train(trainer.batches(plain_samples(32), 1), 0, 5, rates)
    assert error.value.step == 4, "the weights of step 3 have no loss until step 4"
    assert "not a finite number" in error.value.reason


@pytest.mark.parametrize("value", [math.nan, math.inf])
@pytest.mark.parametrize("array", ["policies", "values"])
def test_samples_that_are_not_finite_are_not_written(array: str, value: float, tmp_path: Path) -> None:
    samples = plain_samples(3)
    getattr(samples, array)[1] = value
    with pytest.raises(NotFiniteError, match=f"x.npz would hold {array} that are not finite"):
        write_samples(tmp_path / "x.npz", samples, {})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("part", ["weights", "batch norms", "optimiser"])
def test_states_that_are_not_finite_are_not_written(part: str, tmp_path: Path) -> None:
    trainer = Trainer(CONFIG)
    trainer.train(trainer.batches(plain_samples(32), 1), 0, 1, np.array([0.01]))
    net = trainer.model.nets["black"]
    tensors = {
        "weights": next(net.parameters()).data,
        "batch norms": next(each for name, each in net.named_buffers() if "running_mean" in name),
        "optimiser": next(iter(trainer._optimisers["black"].state.values()))["momentum_buffer"],
    }
    tensors[part].fill_(math.nan)
    with pytest.raises(NotFiniteError, match="not finite"):
        trainer.save(tmp_path / "state.safetensors", {})
    assert not list(tmp_path.iterdir())
