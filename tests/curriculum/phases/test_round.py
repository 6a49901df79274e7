"""Rounds of self-play step by step: games, gates and the clock are scripted, and nets count their steps."""

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from core.errors import BadDataError
from core.evaluation import PositionBatch
from core.rules import Rules
from curriculum.arena.results import MatchResult, Tally
from curriculum.config import BasicsConfig, Config, EvaluationConfig, GateConfig, SelfplayConfig, TrainingConfig
from curriculum.phases import selfplay, steps
from curriculum.phases.replay import Replay
from curriculum.phases.selfplay import run_selfplay
from curriculum.phases.steps import is_finished
from curriculum.reporting import Context, DivergedError, Interrupted, Task
from curriculum.run.folder import RunFolder, read_metrics
from curriculum.training.batches import BatchSource
from curriculum.training.packed import pack
from curriculum.training.samples import Samples
from curriculum.training.trainer import Losses, Trainer
from curriculum.workers.games import PATIENCE_S
from nets.checkpoint import load_model
from nets.config import NetConfig
from nets.tensor_file import NotFiniteError

CONFIG = Config(
    rules=Rules(7, 4),
    basics=BasicsConfig(noise_stones=(0, 12)),
    net=NetConfig.tower(2, 0, hidden=2),
    training=TrainingConfig(batch_size=4),
    selfplay=SelfplayConfig(
        iterations=2, draws_per_position=2.0, rehearsal_share=0.0, balanced_share=0.0, random_share=0.0
    ),
    gate=GateConfig(games=10, threshold=0.5),
    evaluation=EvaluationConfig(final_games=0),
)
"""A step takes 8 of the samples."""


def with_settings(**settings: Any) -> Config:
    return replace(CONFIG, selfplay=replace(CONFIG.selfplay, **settings))


def samples_of(count: int) -> Samples:
    positions = PositionBatch.empty(count, CONFIG.rules.cells)
    positions.to_move[::2] = -1
    policies = np.full((count, CONFIG.rules.cells), 1 / CONFIG.rules.cells, dtype=np.float32)
    return Samples.plain(positions, policies, np.arange(count, dtype=np.float32) / 100)


@dataclass
class Script:
    """The steps of the loop, in order, and the answers that it will get."""

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

    def note(self, *entry: Any) -> None:
        self.log.append(entry)
        self.is_stopped = self.is_stopped or entry[0] in self.stops

    def of(self, *kinds: str) -> list[Any]:
        return [entry[1:] if len(entry) > 2 else entry[1] for entry in self.log if entry[0] in kinds]

    def train(
        self, trainer: Trainer, source: BatchSource, first: int, until: int, rates: NDArray[np.float64]
    ) -> Losses:
        if "train" not in [entry[0] for entry in self.log[-1:]]:
            self.begun.append((*state_of(trainer), first))
        rehearsal = len(source.parts(source.colours[0])[1]) + len(source.parts(source.colours[1])[1])
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


class Games:
    """The games of a run, as the script has them."""

    def __init__(self, script: Script) -> None:
        self._script = script

    def begin(self, iteration: int, *, ahead: bool = False) -> None:
        self._script.note("begin", iteration, ahead)

    def wait(self) -> None:
        self._script.note("wait", None)

    def collect(self, patience: float = 0.0) -> list[Any]:
        self._script.note("collect", patience)
        arrived = self._script.arrivals.pop(0) if self._script.arrivals else []
        return [SimpleNamespace(samples=samples_of(count)) for count in arrived]

    def push(self, model: Path) -> None:
        self._script.note("push", model.stem, load_model(model)[1].made["step"])

    def __enter__(self) -> "Games":
        return self

    def __exit__(self, *exception: object) -> None:
        self._script.note("closed", None)


class Killed(BaseException):
    """End of the process: nothing may catch it."""


def kill(*arguments: object) -> None:
    raise Killed


def state_of(trainer: Trainer) -> tuple[float, float]:
    """The first weight of the black net's first layer, and its momentum."""
    parameter = next(trainer.model.nets["black"].parameters())
    state = trainer._optimisers["black"].state.get(parameter, {})
    return float(parameter.detach().flatten()[0]), float(state.get("momentum_buffer", torch.zeros(1)).flatten()[0])


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Script:
    script = Script()

    def window(self: Replay, settings: SelfplayConfig, iteration: int) -> tuple[Any, int]:
        script.note("window", iteration)
        return pack(samples_of(script.window[0])), script.window[1]

    def refresh(self: Trainer, found: Any, seed: int) -> None:
        script.note("norms", len(found))

    monkeypatch.setattr(selfplay, "RoundGames", lambda run, context: Games(script))
    monkeypatch.setattr(selfplay, "play_gate", script.gate)
    monkeypatch.setattr(
        selfplay, "time", SimpleNamespace(monotonic=lambda: script.seconds, perf_counter=lambda: script.seconds)
    )
    monkeypatch.setattr(Replay, "window", window)
    monkeypatch.setattr(Trainer, "train", lambda self, *arguments: script.train(self, *arguments))
    monkeypatch.setattr(Trainer, "refresh_norms", refresh)
    monkeypatch.setattr(steps, "STEPS_PER_SAVE", 2)
    return script


def play(path: Path, config: Config, script: Script) -> list[dict[str, Any]]:
    """Go on with the run in a folder, or begin it; return its metrics."""
    with RunFolder.open(path) if path.exists() else RunFolder.create(path, config) as run:
        run_selfplay(run, script.context)
    return read_metrics(path)


def made(path: Path, name: str) -> dict[str, Any]:
    return dict(load_model(path / "models" / f"{name}.safetensors")[1].made)


def test_a_round_plays_trains_and_meets_its_gate(script: Script, tmp_path: Path) -> None:
    path = tmp_path / "run"
    records = play(path, with_settings(iterations=1), script)
    kinds = [entry[0] for entry in script.log if entry[0] not in ("batches", "said")]
    fitted = ["train", "shown", "collect"]
    assert kinds == ["begin", "wait", "window", "task", "shown", *fitted, *fitted, "norms", "gate", "closed"]
    assert script.of("begin", "task") == [(0, False), ("training, round 1", 4, "steps")]
    losses = {"policy_loss": 2.0, "value_loss": 1.0}
    assert script.of("shown") == [(0, {}), (2, losses), (4, losses)]
    assert script.of("collect", "norms") == [0.0, 0.0, 16]
    assert script.of("said") == ["round 1: the candidate won 1, drew 1 and lost 0: it is the best model now"]
    assert [record["event"] for record in records] == ["train", "train", "gate"]
    gate = records[-1]
    assert (gate["iteration"], gate["seconds"], gate["accepted"], gate["score"]) == (0, 7, True, 0.75)
    assert json.loads((path / "state" / "gate.json").read_text())["0"]["result"] == gate["result"]
    assert json.loads((path / "state" / "selfplay.json").read_text()) == {"iteration": 1}
    assert {file.stem for file in (path / "models").iterdir()} == {"best", "selfplay-0000"}
    origin = made(path, "best")
    assert (origin["phase"], origin["iteration"], origin["step"]) == ("selfplay", 0, 4)
    assert origin["results"]["gate"]["wins"] == 1
    assert made(path, "selfplay-0000") == origin


def test_before_the_first_round_the_best_model_is_untrained(script: Script, tmp_path: Path) -> None:
    play(tmp_path / "run", with_settings(iterations=0), script)
    origin = made(tmp_path / "run", "best")
    assert (origin["phase"], origin["step"], script.log) == ("none", 0, [("closed", None)])


def test_a_finished_run_has_nothing_to_do_until_it_gets_more_rounds(script: Script, tmp_path: Path) -> None:
    path = tmp_path / "run"
    play(path, with_settings(iterations=1), script)
    best = (path / "models" / "best.safetensors").read_bytes()
    script.log.clear()
    play(path, CONFIG, script)
    assert script.log == [("said", "phase 3, self-play: done before")]
    assert (path / "models" / "best.safetensors").read_bytes() == best

    def still_open(*arguments: Any) -> MatchResult:
        assert not is_finished(run, "selfplay")
        return Script.gate(script, *arguments)

    script.log.clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(selfplay, "play_gate", still_open)
        with RunFolder.open(path, lambda config, original: with_settings(iterations=3)) as run:
            run_selfplay(run, script.context)
            assert is_finished(run, "selfplay")
    assert script.of("begin") == [(1, False), (2, False)]


@pytest.mark.parametrize("overlap", [False, True])
def test_games_are_played_ahead_of_all_rounds_but_the_first(script: Script, tmp_path: Path, overlap: bool) -> None:
    config = with_settings(iterations=3, overlap=overlap)
    play(tmp_path / "run", config, script)
    order = [entry[:3] for entry in script.log if entry[0] in ("begin", "wait", "window")]
    wanted: list[tuple[Any, ...]] = []
    for number in range(3):
        wanted += [("begin", number, False), ("wait", None)]
        wanted += [("begin", number + 1, True)] * (overlap and number < 2) + [("window", number)]
    assert order == wanted


@pytest.mark.parametrize("each_round", [False, True])
def test_learning_rates_fall_over_the_rounds_or_within_each(script: Script, tmp_path: Path, each_round: bool) -> None:
    rates = {"learning_rate": 0.01, "final_learning_rate": 0.002}
    config = with_settings(iterations=3, anneal_each_round=each_round, **rates)
    play(tmp_path / "run", config, script)
    found = [rate for _, _, rates in script.of("train") for rate in rates]
    within = [round(0.002 + 0.008 * (1 + math.cos(math.pi * step / 4)) / 2, 9) for step in range(4)]
    assert found == (within * 3 if each_round else [0.01] * 4 + [0.006] * 4 + [0.002] * 4)


@pytest.mark.parametrize(("each_round", "rate"), [(False, "0.002"), (True, "0.01")])
def test_a_diverged_round_names_its_first_rate(
    script: Script, tmp_path: Path, each_round: bool, rate: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Trainer, found: Any, seed: int) -> None:
        if len(script.of("begin")) == 2:
            raise NotFiniteError("not finite")

    monkeypatch.setattr(Trainer, "refresh_norms", refuse)
    config = with_settings(learning_rate=0.01, final_learning_rate=0.002, anneal_each_round=each_round)
    with pytest.raises(DivergedError, match=f"round 2: the training diverged at step 4, learning rate {rate}:"):
        play(tmp_path / "run", config, script)


@pytest.mark.parametrize(("epochs", "fresh", "count"), [(0, 16, 4), (0, 3, 1), (0, 0, 1), (3, 16, 6)])
def test_steps_follow_from_fresh_samples_or_passes(
    script: Script, tmp_path: Path, epochs: int, fresh: int, count: int
) -> None:
    """Two draws of each fresh one; a pass over 16 takes two steps."""
    script.window = (16, fresh)
    play(tmp_path / "run", with_settings(iterations=1, epochs=epochs), script)
    assert script.of("train")[-1][1] == count


@pytest.mark.parametrize(
    ("window", "needed", "trains"), [(0, 0, False), (1, 0, True), (4, 5, False), (5, 5, True), (6, 5, True)]
)
def test_the_first_training_waits_for_its_positions(
    script: Script, tmp_path: Path, window: int, needed: int, trains: bool
) -> None:
    path = tmp_path / "run"
    script.window = (window, window)
    play(path, with_settings(iterations=1, start_positions=needed), script)
    assert bool(script.of("train")) == bool(script.of("gate")) == trains
    assert json.loads((path / "state" / "selfplay.json").read_text()) == {"iteration": 1}
    if not trains:
        text = f"round 1: the replay buffer holds {window} positions of the {needed} before the first training"
        assert script.of("said") == [text]


@pytest.mark.parametrize("keep", [False, True])
def test_a_rejected_candidate_leaves_nothing_behind(script: Script, tmp_path: Path, keep: bool) -> None:
    """With weights, optimiser and steps: the next round begins as if it had never been."""
    path = tmp_path / "run"
    script.results = [(1, 1), (2, 1), (0, 0), (1, 0)]
    config = with_settings(iterations=4)
    records = play(path, replace(config, gate=replace(config.gate, keep_rejected=keep)), script)
    first, second, third, fourth = script.begun[::2]
    assert first == second
    assert third == fourth == (pytest.approx(first[0] + 4), 4.0, 0)
    assert first[1:] == (0.0, 0)
    assert [record["accepted"] for record in records if record["event"] == "gate"] == [False, True, False, True]
    rejected = {"rejected-0000", "rejected-0002"} if keep else set()
    assert {file.stem for file in (path / "models").iterdir()} == {"best", "selfplay-0001", "selfplay-0003"} | rejected
    assert script.of("said")[2] == "round 3: the candidate won 0, drew 1 and lost 0: discarded"


def test_without_a_gate_each_candidate_is_accepted(script: Script, tmp_path: Path) -> None:
    path = tmp_path / "run"
    records = play(path, replace(CONFIG, gate=replace(CONFIG.gate, games=0)), script)
    assert {record["event"] for record in records} == {"train"}
    assert [begun[1] for begun in script.begun[::2]] == [0.0, 4.0]
    assert {file.stem for file in (path / "models").iterdir()} == {"best", "selfplay-0000", "selfplay-0001"}
    assert made(path, "best")["results"] == {}
    assert json.loads((path / "state" / "gate.json").read_text()) == {"1": {"accepted": True, "result": {}}}


def test_a_stopped_training_goes_on_at_its_step(script: Script, tmp_path: Path) -> None:
    """In its first round and in a later one, whether the last candidate was accepted or not."""
    path = tmp_path / "run"
    script.results = [(1, 0), (0, 1), (1, 0)]
    for stopped in ("train", "gate", "train", "gate", "train"):
        script.log.clear()
        script.stops, script.is_stopped = {stopped}, False
        with pytest.raises(Interrupted):
            play(path, with_settings(iterations=3), script)
        assert script.of("train")[0][0] == (2 if stopped == "gate" else script.of("train")[0][0])
    script.log.clear()
    script.stops, script.is_stopped = set(), False
    play(path, with_settings(iterations=3), script)
    assert [first for first, _, _ in script.of("train")] == [2]
    assert made(path, "best")["iteration"] == 2


@pytest.mark.parametrize("accepted", [False, True])
def test_a_verdict_is_carried_out_without_a_second_match(
    script: Script, tmp_path: Path, accepted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, config = tmp_path / "run", with_settings(iterations=1, overlap=True)
    script.results = [(1, 0) if accepted else (0, 1)]
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(selfplay._Round, "_settle", kill)
        play(path, config, script)
    script.log.clear()
    play(path, config, script)
    assert [entry[0] for entry in script.log] == ["begin", "wait", "closed"]
    assert ("selfplay-0000" in {file.stem for file in (path / "models").iterdir()}) == accepted
    assert not (path / "models" / "candidate.safetensors").exists()


def left_with(path: Path, name: str, state: dict[str, Any], config: Config = CONFIG) -> Path:
    """A run that was left with a state in a file."""
    with RunFolder.create(path, config) as run:
        run.write_state(name, state)
    return path


@pytest.mark.parametrize(
    ("name", "state"),
    [
        *[("gate", {"0": verdict}) for verdict in (1, {"accepted": 1, "result": {}}, {"accepted": True})],
        ("selfplay", {"iteration": -1}),
    ],
)
def test_a_broken_state_is_refused(script: Script, tmp_path: Path, name: str, state: dict[str, Any]) -> None:
    with pytest.raises(BadDataError, match=rf"{name}\.json"):
        play(left_with(tmp_path / "run", name, state), CONFIG, script)


@pytest.mark.parametrize("first", [0, 1])
def test_a_run_goes_on_at_its_round(script: Script, tmp_path: Path, first: int) -> None:
    play(left_with(tmp_path / "run", "selfplay", {"iteration": first}), CONFIG, script)
    assert script.of("begin") == [(number, False) for number in range(first, 2)]


def test_the_verdict_of_another_round_does_not_count(script: Script, tmp_path: Path) -> None:
    verdict = {"1": {"accepted": True, "result": {}}}
    play(left_with(tmp_path / "run", "gate", verdict, with_settings(iterations=1)), CONFIG, script)
    assert len(script.of("gate")) == 1


@pytest.mark.parametrize("basics", [False, True])
@pytest.mark.parametrize("share", [0.0, 0.25])
def test_samples_of_earlier_phases_are_rehearsed(
    script: Script, tmp_path: Path, basics: bool, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selfplay, "read_training_games", lambda config, folder: samples_of(6))
    monkeypatch.setattr(selfplay, "basics_of", lambda run, context: samples_of(4))
    if basics:
        monkeypatch.setattr(selfplay, "basics_file", lambda run: tmp_path)
    play(tmp_path / "run", with_settings(iterations=1, rehearsal_share=share), script)
    assert script.of("batches")[0][:2] == ((10 if basics else 6) if share else 0, share)
    assert script.of("train")[-1][1] == (round(2 * 16 / 0.75 / 8) if share else 4)


def test_nothing_is_rehearsed_where_there_is_nothing(script: Script, tmp_path: Path) -> None:
    play(tmp_path / "run", with_settings(iterations=1, rehearsal_share=0.25), script)
    assert script.of("batches")[0][:2] == (0, 0.0)


CONCURRENT = replace(
    with_settings(
        iterations=1,
        concurrent=True,
        epochs=4,
        window=12,
        start_positions=10,
        push_seconds=5.0,
        epochs_without_games=2,
    ),
    gate=GateConfig(games=0),
)


def test_concurrent_games_flow_into_the_window_and_weights_into_the_games(script: Script, tmp_path: Path) -> None:
    """A pass takes 3 seconds. After two passes without a game the training waits for one."""
    script.window, script.arrivals = (8, 0), [[1], [], [1], [3], [], [], [], [1, 2]]
    records = play(tmp_path / "run", CONCURRENT, script)
    order = [entry for entry in script.log if entry[0] not in ("batches", "train", "said")]
    waiting, losses = {"waits_for": "games"}, {"policy_loss": 2.0}
    assert order == [
        ("begin", 0, False),
        ("window", 0),
        ("task", "training, round 1", 4, "epochs"),
        *[("collect", 0.0), ("shown", 0, {"positions": 9, **waiting})],
        *[("collect", PATIENCE_S), ("shown", 0, {"positions": 9, **waiting})],
        *[("collect", PATIENCE_S), ("shown", 1, {"positions": 10, **losses})],
        *[("collect", 0.0), ("shown", 2, {"positions": 12, **losses})],
        *[("norms", 12), ("push", "pushed", 4)],
        *[("collect", 0.0), ("shown", 3, {"positions": 12, **losses})],
        *[("collect", 0.0), ("shown", 3, {"positions": 12, **waiting})],
        *[("collect", PATIENCE_S), ("shown", 3, {"positions": 12, **waiting})],
        *[("collect", PATIENCE_S), ("shown", 4, {"positions": 12, **losses})],
        *[("norms", 12), ("push", "pushed", 8)],
        ("norms", 12),
        ("closed", None),
    ]
    assert [(first, len(rates)) for first, _, rates in script.of("train")] == [(0, 2)] * 4
    assert all(rates == [0.01] * 2 for _, _, rates in script.of("train"))
    assert len({seed for *_, seed in script.of("batches")}) == 4, "each pass has an order of its own"
    assert [record["epoch"] for record in records if record["event"] == "train"] == [4]


def test_concurrent_passes_are_saved_and_go_on_after_a_stop(script: Script, tmp_path: Path) -> None:
    settings = replace(CONCURRENT.selfplay, epochs=15, iterations=2)
    path, config = tmp_path / "run", replace(CONCURRENT, selfplay=settings)
    script.window, script.arrivals, script.stops = (12, 0), [[2]] * 99, {"push"}
    with pytest.raises(Interrupted):
        play(path, config, script)
    script.stops, script.is_stopped = set(), False
    records = play(path, config, script)
    trained = [record for record in records if record["event"] == "train"]
    passes = [(record["iteration"], record["epoch"], record["step"]) for record in trained]
    assert passes == [(0, 2, 4), (0, 9, 18), (0, 15, 30), (1, 7, 14), (1, 14, 28), (1, 15, 30)]
    assert made(path, "best")["iteration"] == 1
    assert script.begun[-15][1:] == (30.0, 0), "the second round goes on with the optimiser of the first"


def test_nets_without_batch_norms_are_pushed_as_they_are(script: Script, tmp_path: Path) -> None:
    config = replace(CONCURRENT, net=replace(CONCURRENT.net, batch_norm=False))
    script.window, script.arrivals = (12, 0), [[], [], [], [1], [1]]
    play(tmp_path / "run", config, script)
    assert len(script.of("push")) == 2
    assert len(script.of("norms")) == 1
    assert script.of("collect") == [0.0, 0.0, 0.0, PATIENCE_S, 0.0], "two passes without a game are the most"


def test_a_training_without_a_least_window_waits_for_one_sample(script: Script, tmp_path: Path) -> None:
    settings = replace(CONCURRENT.selfplay, start_positions=0, epochs=1)
    script.window, script.arrivals = (0, 0), [[], [1]]
    play(tmp_path / "run", replace(CONCURRENT, selfplay=settings), script)
    assert script.of("collect") == [0.0, PATIENCE_S]
