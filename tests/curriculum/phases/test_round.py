"""Rounds of self-play step by step: games, gates and the clock are scripted, and nets count their steps."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from core.errors import BadDataError
from curriculum.arena.results import MatchResult
from curriculum.config import GateConfig, SelfplayConfig, TrainingConfig
from curriculum.phases import selfplay
from curriculum.phases.selfplay import run_selfplay
from curriculum.phases.steps import is_finished
from curriculum.reporting import DivergedError, Interrupted
from curriculum.run.folder import RunFolder
from curriculum.training.trainer import Trainer
from curriculum.workers.games import PATIENCE_S
from nets.config import NetConfig
from nets.tensor_file import NotFiniteError
from tests.support.rounds import Script, scripted
from tests.support.runs import CURRICULUM, Killed, plain_samples

CONFIG = replace(
    CURRICULUM,
    net=NetConfig.tower(2, 0, hidden=2),
    training=TrainingConfig(batch_size=4),
    selfplay=SelfplayConfig(
        iterations=2, draws_per_position=2.0, rehearsal_share=0.0, balanced_share=0.0, random_share=0.0
    ),
    gate=GateConfig(games=10, threshold=0.5),
)
"""A step takes 8 of the samples."""


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Script:
    return scripted(Script(tmp_path / "run", CONFIG), monkeypatch)


def test_a_round_plays_trains_and_meets_its_gate(script: Script) -> None:
    records = script.play(iterations=1)
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
    assert script.state("gate")["0"]["result"] == gate["result"]
    assert script.state("selfplay") == {"iteration": 1}
    assert script.models == {"best", "selfplay-0000"}
    origin = script.made("best")
    assert (origin["phase"], origin["iteration"], origin["step"]) == ("selfplay", 0, 4)
    assert origin["results"]["gate"]["wins"] == 1
    assert script.made("selfplay-0000") == origin


def test_before_the_first_round_the_best_model_is_untrained(script: Script) -> None:
    script.play(iterations=0)
    origin = script.made("best")
    assert (origin["phase"], origin["step"], script.log) == ("none", 0, [("closed", None)])


def test_a_finished_run_has_nothing_to_do_until_it_gets_more_rounds(
    script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    script.play(iterations=1)
    best = (script.path / "models" / "best.safetensors").read_bytes()
    script.play_on()
    assert script.log == [("said", "phase 3, self-play: done before")]
    assert (script.path / "models" / "best.safetensors").read_bytes() == best

    def still_open(*arguments: Any) -> MatchResult:
        assert not is_finished(run, "selfplay")
        return script.gate(*arguments)

    script.log.clear()
    monkeypatch.setattr(selfplay, "play_gate", still_open)
    more = replace(CONFIG.selfplay, iterations=3)
    with RunFolder.open(script.path, lambda config: replace(config, selfplay=more)) as run:
        run_selfplay(run, script.context)
        assert is_finished(run, "selfplay")
    assert script.of("begin") == [(1, False), (2, False)]


@pytest.mark.parametrize("overlap", [False, True])
def test_games_are_played_ahead_of_all_rounds_but_the_first(script: Script, overlap: bool) -> None:
    script.play(iterations=3, overlap=overlap)
    order = [entry[:3] for entry in script.log if entry[0] in ("begin", "wait", "window")]
    wanted: list[tuple[Any, ...]] = []
    for number in range(3):
        wanted += [("begin", number, False), ("wait", None)]
        wanted += [("begin", number + 1, True)] * (overlap and number < 2) + [("window", number)]
    assert order == wanted


@pytest.mark.parametrize(("each_round", "rate"), [(False, "0.002"), (True, "0.01")])
def test_learning_rates_fall_over_the_rounds_or_within_each_and_a_diverged_round_names_its_first(
    script: Script, each_round: bool, rate: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Trainer, found: Any, seed: int) -> None:
        if len(script.of("begin")) == 3:
            raise NotFiniteError("not finite")

    monkeypatch.setattr(Trainer, "refresh_norms", refuse)
    rates = {"learning_rate": 0.01, "final_learning_rate": 0.002}
    with pytest.raises(DivergedError, match=f"round 3: the training diverged at step 4, learning rate {rate}:"):
        script.play(iterations=3, anneal_each_round=each_round, **rates)
    found = [rate for _, _, rates in script.of("train") for rate in rates]
    within = [round(0.002 + 0.008 * (1 + math.cos(math.pi * step / 4)) / 2, 9) for step in range(4)]
    assert found == (within * 3 if each_round else [0.01] * 4 + [0.006] * 4 + [0.002] * 4)


@pytest.mark.parametrize(
    ("window", "settings", "count"),
    [
        *[((16, fresh), {}, count) for fresh, count in ((16, 4), (3, 1), (0, 1))],
        ((16, 16), {"epochs": 3}, 6),
        *[((0, 0), {"start_positions": 0}, 0), ((1, 1), {"start_positions": 0}, 1)],
        *[((size, size), {"start_positions": 5}, count) for size, count in ((4, 0), (5, 1), (6, 2))],
    ],
)
def test_steps_follow_from_fresh_samples_or_passes_and_the_first_ones_wait_for_their_positions(
    script: Script, window: tuple[int, int], settings: dict[str, int], count: int
) -> None:
    """Two draws of each fresh one; a pass over 16 takes two steps."""
    script.window = window
    script.play(**settings, iterations=1)
    assert [until for _, until, _ in script.of("train")][-1:] == [count] * bool(count)
    assert bool(script.of("gate")) == bool(count)
    assert script.state("selfplay") == {"iteration": 1}
    if not count:
        needed = settings["start_positions"]
        text = f"round 1: the replay buffer holds {window[0]} positions of the {needed} before the first training"
        assert script.of("said") == [text]


@pytest.mark.parametrize("keep", [False, True])
def test_a_rejected_candidate_leaves_nothing_behind(script: Script, keep: bool) -> None:
    """With weights, optimiser and steps: the next round begins as if it had never been."""
    script.results = [(1, 1), (2, 1), (0, 0), (1, 0)]
    records = script.play(replace(CONFIG, gate=replace(CONFIG.gate, keep_rejected=keep)), iterations=4)
    first, second, third, fourth = script.begun[::2]
    assert first == second
    assert third == fourth == (pytest.approx(first[0] + 4), 4.0, 0)
    assert first[1:] == (0.0, 0)
    assert [record["accepted"] for record in records if record["event"] == "gate"] == [False, True, False, True]
    rejected = {"rejected-0000", "rejected-0002"} if keep else set()
    assert script.models == {"best", "selfplay-0001", "selfplay-0003"} | rejected
    assert script.of("said")[2] == "round 3: the candidate won 0, drew 1 and lost 0: discarded"


def test_without_a_gate_each_candidate_is_accepted(script: Script) -> None:
    records = script.play(replace(CONFIG, gate=replace(CONFIG.gate, games=0)))
    assert {record["event"] for record in records} == {"train"}
    assert [begun[1] for begun in script.begun[::2]] == [0.0, 4.0]
    assert script.models == {"best", "selfplay-0000", "selfplay-0001"}
    assert script.made("best")["results"] == {}
    assert script.state("gate") == {"1": {"accepted": True, "result": {}}}


def test_a_stopped_training_goes_on_at_its_step(script: Script) -> None:
    """In its first round and in a later one, whether the last candidate was accepted or not."""
    script.results = [(1, 0), (0, 1), (1, 0)]
    for stopped in ("train", "gate", "train", "gate", "train"):
        script.log.clear()
        script.stops, script.is_stopped = {stopped}, False
        with pytest.raises(Interrupted):
            script.play(iterations=3)
        assert stopped == "train" or script.of("train")[0][0] == 2
    script.play_on()
    assert [first for first, _, _ in script.of("train")] == [2]
    assert script.made("best")["iteration"] == 2


@pytest.mark.parametrize("accepted", [False, True])
def test_a_verdict_is_carried_out_without_a_second_match(
    script: Script, accepted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    script.results = [(1, 0) if accepted else (0, 1)]
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(selfplay._Round, "_settle", Mock(side_effect=Killed))
        script.play(iterations=1, overlap=True)
    script.play_on()
    assert [entry[0] for entry in script.log] == ["begin", "wait", "closed"]
    assert ("selfplay-0000" in script.models) == accepted
    assert "candidate" not in script.models


@pytest.mark.parametrize(
    ("name", "state"),
    [
        *[("gate", {"0": verdict}) for verdict in (1, {"accepted": 1, "result": {}}, {"accepted": True})],
        ("selfplay", {"iteration": -1}),
    ],
)
def test_a_broken_state_is_refused(script: Script, name: str, state: dict[str, Any]) -> None:
    with RunFolder.create(script.path, CONFIG) as run:
        run.write_state(name, state)
    with pytest.raises(BadDataError, match=rf"{name}\.json"):
        script.play()


@pytest.mark.parametrize(
    ("name", "state", "rounds", "played"),
    [
        ("selfplay", {"iteration": 0}, 2, [0, 1]),
        ("selfplay", {"iteration": 1}, 2, [1]),
        ("gate", {"1": {"accepted": True, "result": {}}}, 1, [0]),
    ],
)
def test_a_run_goes_on_at_its_round_and_the_verdict_of_another_one_does_not_count(
    script: Script, name: str, state: dict[str, Any], rounds: int, played: list[int]
) -> None:
    script.play(iterations=0)
    script.log.clear()
    more = replace(CONFIG.selfplay, iterations=rounds)
    with RunFolder.open(script.path, lambda config: replace(config, selfplay=more)) as run:
        run.write_state(name, state)
    script.play()
    assert script.of("begin") == [(number, False) for number in played]
    assert script.of("gate") == played


@pytest.mark.parametrize(("games", "basics"), [(0, 0), (6, 0), (6, 4)])
@pytest.mark.parametrize("share", [0.0, 0.25])
def test_samples_of_earlier_phases_are_rehearsed_where_there_are_any(
    script: Script, games: int, basics: int, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    if games:
        monkeypatch.setattr(selfplay, "read_training_games", lambda config, folder: plain_samples(games))
    monkeypatch.setattr(selfplay, "basics_of", lambda run, context: plain_samples(4))
    if basics:
        monkeypatch.setattr(selfplay, "basics_file", lambda run: script.path)
    script.play(iterations=1, rehearsal_share=share)
    share = share if games else 0.0
    assert script.of("batches")[0][:2] == (games + basics if share else 0, share)
    assert script.of("train")[-1][1] == (round(2 * 16 / 0.75 / 8) if share else 4)


ROUND = {"iterations": 1, "concurrent": True, "epochs": 4, "window": 12, "start_positions": 10, "push_seconds": 5.0}
SELFPLAY = replace(CONFIG.selfplay, **ROUND, epochs_without_games=2)
CONCURRENT = replace(CONFIG, selfplay=SELFPLAY, gate=GateConfig(games=0))


def test_concurrent_games_flow_into_the_window_and_weights_into_the_games(script: Script) -> None:
    """A pass takes 3 seconds. After two passes without a game the training waits for one."""
    script.window, script.arrivals = (8, 0), [[1], [], [1], [3], [], [], [], [1, 2]]
    records = script.play(CONCURRENT)
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


def test_concurrent_passes_are_saved_and_go_on_after_a_stop(script: Script) -> None:
    script.window, script.arrivals, script.stops = (12, 0), [[2]] * 99, {"push"}
    with pytest.raises(Interrupted):
        script.play(CONCURRENT, epochs=15, iterations=2)
    records = script.play_on()
    trained = [record for record in records if record["event"] == "train"]
    passes = [(record["iteration"], record["epoch"], record["step"]) for record in trained]
    assert passes == [(0, 2, 4), (0, 9, 18), (0, 15, 30), (1, 7, 14), (1, 14, 28), (1, 15, 30)]
    assert script.made("best")["iteration"] == 1
    assert script.begun[-15][1:] == (30.0, 0), "the second round goes on with the optimiser of the first"


def test_nets_without_batch_norms_are_pushed_as_they_are(script: Script) -> None:
    config = replace(CONCURRENT, net=replace(CONCURRENT.net, batch_norm=False))
    script.window, script.arrivals = (12, 0), [[], [], [], [1], [1]]
    script.play(config)
    assert len(script.of("push")) == 2
    assert len(script.of("norms")) == 1
    assert script.of("collect") == [0.0, 0.0, 0.0, PATIENCE_S, 0.0], "two passes without a game are the most"


def test_a_training_without_a_least_window_waits_for_one_sample(script: Script) -> None:
    script.window, script.arrivals = (0, 0), [[], [1]]
    script.play(CONCURRENT, start_positions=0, epochs=1)
    assert script.of("collect") == [0.0, PATIENCE_S]
