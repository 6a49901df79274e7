"""A stand-in of everything around the loop of self-play: games, gates, clock and reporter by a script."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from curriculum.arena.results import MatchResult, Tally
from curriculum.config import Config, SelfplayConfig
from curriculum.phases import selfplay, steps
from curriculum.phases.replay import Replay
from curriculum.phases.selfplay import run_selfplay
from curriculum.reporting import Context, Task
from curriculum.run.folder import RunFolder, read_metrics
from curriculum.training.batches import BatchSource
from curriculum.training.packed import pack
from curriculum.training.trainer import Losses, Trainer
from nets.checkpoint import load_model
from tests.support.runs import plain_samples


@dataclass
class Script:
    """A run, the steps of its loop in order, and what answers it: games, gates, clock and reporter."""

    path: Path
    config: Config
    log: list[tuple[Any, ...]] = field(default_factory=list)
    window: tuple[int, int] = (16, 16)
    """Samples of the window, and those of the round."""
    results: list[tuple[int, int]] = field(default_factory=lambda: [(1, 0)] * 9)
    """Wins and losses of each gate's candidate."""
    arrivals: list[list[int]] = field(default_factory=list)
    """Samples of the games that each look finds."""
    seconds: float = 0.0
    stops: set[str] = field(default_factory=set)
    """Kinds of entries after which the user asks to stop."""
    is_stopped: bool = False
    begun: list[tuple[float, float, int]] = field(default_factory=list)
    """Weight, momentum and step at the first step of each training."""

    @property
    def models(self) -> set[str]:
        return {file.stem for file in (self.path / "models").iterdir()}

    def note(self, *entry: Any) -> None:
        self.log.append(entry)
        self.is_stopped = self.is_stopped or entry[0] in self.stops

    def of(self, *kinds: str) -> list[Any]:
        return [entry[1:] if len(entry) > 2 else entry[1] for entry in self.log if entry[0] in kinds]

    def play(self, config: Config | None = None, **settings: Any) -> list[dict[str, Any]]:
        """Go on with the run, or begin it with these settings of self-play; return its metrics."""
        config = config or self.config
        config = replace(config, selfplay=replace(config.selfplay, **settings))
        with RunFolder.open(self.path) if self.path.exists() else RunFolder.create(self.path, config) as run:
            run_selfplay(run, self.context)
        return read_metrics(self.path)

    def play_on(self) -> list[dict[str, Any]]:
        """Go on without a stop and with an empty log."""
        self.log.clear()
        self.stops, self.is_stopped = set(), False
        return self.play()

    def made(self, name: str) -> dict[str, Any]:
        return dict(load_model(self.path / "models" / f"{name}.safetensors")[1].made)

    def state(self, name: str) -> Any:
        return json.loads((self.path / "state" / f"{name}.json").read_text())

    def train(self, trainer: Trainer, source: BatchSource, first: int, until: int, rates: Any) -> Losses:
        if self.log[-1][0] != "train":
            parameter = next(trainer.model.nets["black"].parameters())
            momentum = trainer._optimisers["black"].state[parameter].get("momentum_buffer", torch.zeros(1))
            self.begun.append((float(parameter.data.flatten()[0]), float(momentum.flatten()[0]), first))
        rehearsal = len(source.parts[1])
        self.note("batches", rehearsal, source._share, source.steps_per_pass, int(source._seed))
        for name, optimiser in trainer._optimisers.items():
            for parameter in trainer.model.nets[name].parameters():
                parameter.data += until - first
                count = optimiser.state[parameter].get("momentum_buffer", torch.zeros_like(parameter))
                optimiser.state[parameter]["momentum_buffer"] = count + until - first
        self.note("train", first, until, [round(float(rate), 9) for rate in rates])
        self.seconds += 3
        return {"policy_loss": 2.0, "value_loss": 1.0, "policy_entropy": 0.5}

    def gate(self, config: Config, candidate: Path, best: Path, iteration: int, context: Context) -> MatchResult:
        self.note("gate", iteration)
        wins, losses = self.results.pop(0)
        self.seconds += 7
        return MatchResult("candidate", "best", as_black=Tally(wins, 1, losses))

    @contextmanager
    def task(self, name: str, total: float, unit: str) -> Iterator[Task]:
        self.note("task", name, total, unit)
        yield self

    def update(self, done: float, **figures: float | str) -> None:
        self.note("shown", done, figures)

    def say(self, text: str) -> None:
        self.note("said", text)

    @property
    def context(self) -> Context:
        return Context(self, stop=lambda: self.is_stopped)

    def begin(self, iteration: int, *, ahead: bool = False) -> None:
        self.note("begin", iteration, ahead)

    def wait(self) -> None:
        self.note("wait", None)

    def collect(self, patience: float = 0.0) -> list[Any]:
        self.note("collect", patience)
        arrived = self.arrivals.pop(0) if self.arrivals else []
        return [SimpleNamespace(samples=plain_samples(count)) for count in arrived]

    def push(self, model: Path) -> None:
        self.note("push", model.stem, load_model(model)[1].made["step"])

    def close(self) -> None:
        self.note("closed", None)


def scripted(script: Script, monkeypatch: pytest.MonkeyPatch) -> Script:
    """Put the script in place of everything around the loop."""

    def window(self: Replay, settings: SelfplayConfig, iteration: int) -> tuple[Any, int]:
        script.note("window", iteration)
        return pack(plain_samples(script.window[0])), script.window[1]

    clock = SimpleNamespace(monotonic=lambda: script.seconds, perf_counter=lambda: script.seconds)
    monkeypatch.setattr(selfplay, "RoundGames", lambda run, context: script)
    monkeypatch.setattr(selfplay, "play_gate", script.gate)
    monkeypatch.setattr(selfplay, "time", clock)
    monkeypatch.setattr(Replay, "window", window)
    monkeypatch.setattr(Trainer, "train", lambda self, *arguments: script.train(self, *arguments))
    monkeypatch.setattr(Trainer, "refresh_norms", lambda self, found, seed: script.note("norms", len(found)))
    monkeypatch.setattr(steps, "STEPS_PER_SAVE", 2)
    return script
