"""The curve of errors over positions: collected, labelled, trained and drawn in small, and each step goes on."""

import argparse
import json
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from benchmarks.curve import collect, label, measure, plot, train
from benchmarks.curve.data import count, share
from benchmarks.curve.dataset import Dataset
from benchmarks.measuring import Fault
from core.rules import Rules
from curriculum.games.basics import draw
from curriculum.phases.selfplay import run_selfplay
from curriculum.presets import resolve, to_toml
from curriculum.reporting import Context
from curriculum.run.folder import RunFolder
from curriculum.training.files import read_samples, write_samples
from nets.checkpoint import CheckpointError, load_model
from nets.runtimes.net_evaluator import NetEvaluator
from tests.curriculum.training.test_samples import games
from tests.support.commands import Capsys
from tests.support.runs import CURRICULUM

RULES = Rules(9, 5)


def command(module: ModuleType, *words: object) -> int:
    parser = argparse.ArgumentParser()
    module.options(parser)
    code: int = module.run(parser.parse_args([str(word) for word in words]))
    return code


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder of positions from two files of a run."""
    run, data = tmp_path / "run", tmp_path / "data"
    (run / "replay").mkdir(parents=True)
    (run / "config.toml").write_text(to_toml(resolve("hour", assignments=["rules.size=9", "training.batch_size=64"])))
    for number in range(2):
        write_samples(run / "replay" / f"selfplay-0000-{number:06d}.npz", games(RULES, 30, seed=number), {})
    command(collect, data, run, "--held-out", "0.2")
    return data


@pytest.mark.parametrize(("searched", "decay"), [(0.0, 0.9), (0.5, 0.99)])
def test_another_decay_gives_the_results_of_self_play_with_it(tmp_path: Path, searched: float, decay: float) -> None:
    selfplay = replace(CURRICULUM.selfplay, iterations=1, games=4, search_value_share=searched)
    values = []
    for name, own in (("same", 0.99), ("other", decay)):
        config = replace(CURRICULUM, selfplay=selfplay, training=replace(CURRICULUM.training, z_decay=own))
        with RunFolder.create(tmp_path / name, config) as run:
            run_selfplay(run, Context())
        command(collect, tmp_path / f"{name}-data", tmp_path / name, "--decay", "0.99", "--held-out", "0")
        kept = Dataset(tmp_path / f"{name}-data", config.rules).training.rows(slice(None))
        values.append({row.tobytes(): value for row, value in zip(kept.positions.stones, kept.values, strict=True)})
        (plain,) = run.replay.glob("selfplay-*.npz")
        assert own != 0.99 or set(read_samples(plain)[0].values) >= set(kept.values)
    assert values[0].keys() == values[1].keys()
    assert all(values[1][key] == pytest.approx(value, abs=1e-3) for key, value in values[0].items())


def test_labels_are_deep_searches_of_the_positions_that_are_held_out(data: Path) -> None:
    for positions in (33, 40):  # the second call goes on
        command(label, data, "--positions", positions, "--simulations", 30)
    files = sorted((data / "labels").glob("deep-*.npz"))
    found = [
        (read_samples(path)[0], read_samples(path.with_name(path.name.replace("deep", "own")))[0]) for path in files
    ]
    assert [len(deep) for deep, _ in found] == [32, 1, 7]
    for deep, own in found:
        assert (deep.positions.stones == own.positions.stones).all()
        assert (deep.policies[deep.positions.stones != 0] == 0).all()
        assert (deep.policies != own.policies).any()
    everything = {row.tobytes() for _, own in found for row in own.positions.stones}
    assert len(everything) == 40, "none twice"


def test_nets_of_each_size_learn_the_first_positions_and_are_trained_once(data: Path, capsys: Capsys) -> None:
    command(label, data, "--positions", 20, "--simulations", 10)
    words = ("--units", "8", "16x3", "--passes", "1", "--json")
    command(train, data, "--positions", "256", *words)
    command(train, data, "--positions", "256", "512", *words)
    rows = [json.loads(line) for line in (data / "curve" / "curve.jsonl").read_text().splitlines()]
    nets = ("lines-32:8, spread", "lines-32:16x3, spread")
    assert [(row["net"], row["positions"]) for row in rows] == [(net, count) for count in (256, 512) for net in nets]
    for row in rows:
        assert {"policy", "value", "deep_policy", "deep_value", "r"} <= row.keys()
        assert 0 < row["deep_value"] < 4
        assert row["measured_on"] == 20
    assert len([*(data / "curve").glob("*.state")]) == 0
    (large,) = (data / "curve").glob("lines-32_16x3-spread-512-1-1-*.safetensors")
    capsys.readouterr()
    command(measure, data, large, "--json")
    measured = json.loads(capsys.readouterr().out)
    learnt = next(row for row in rows if row["net"] == "lines-32:16x3, spread" and row["positions"] == 512)
    assert [measured[name] for name in ("policy", "value", "r")] == [
        pytest.approx(learnt[name], abs=1e-5) for name in ("deep_policy", "deep_value", "r")
    ]
    with pytest.raises(Fault, match="plays 5 in a row on 15x15; the positions are of"):
        command(measure, data, "default")
    model, info = load_model(large)
    assert info.net.trunk == ("lines-32:16x3", "spread")
    assert model.rules == RULES
    command(plot, data, "--figure", data / "curve.svg")
    assert "lines-32:16x3" in (data / "curve.svg").read_text()
    (start,) = (data / "curve").glob("lines-32_8-spread-512-1-1-*.safetensors")
    command(train, data, "--positions", "256", "--units", "12", "--passes", "0.001", "--rates", 0, 0, "--from", start)
    *_, same = (json.loads(line) for line in (data / "curve" / "curve.jsonl").read_text().splitlines())
    assert same["policy"] == pytest.approx(rows[2]["policy"], abs=1e-2), "a larger function, with the same values"
    with pytest.raises(CheckpointError, match="has another net than the run"):
        command(train, data, "--positions", "256", "--units", "4", "--from", start)
    with pytest.raises(Fault, match="positions to learn from, not 3,000,000"):
        command(train, data, "--positions", "3M")


def test_a_net_that_rehearses_basics_learns_them_beside_the_games(data: Path) -> None:
    run = data.parent / "basics"
    (run / "replay").mkdir(parents=True)
    (run / "config.toml").write_text(to_toml(resolve("hour", assignments=["rules.size=9"])))
    words = ("--positions", "512", "--units", "8", "--passes", "4", "--rates", "1e-2", "1e-3", "--rehearse", run)
    with pytest.raises(Fault, match="has no basic positions"):
        command(train, data, *words)
    basic = draw(RULES, ["attack-four", "defend-four"], 200, (0, 8), seed=3)
    write_samples(run / "replay" / "basics.npz", basic, {})
    for rehearsed in (("--rehearse-share", "0.5"), ("--rehearse-share", "0")):
        command(train, data, *words, *rehearsed)
    rows = [json.loads(line) for line in (data / "curve" / "curve.jsonl").read_text().splitlines()]
    assert [row["rehearsed"] for row in rows] == [0.5, 0.0]
    errors = {}
    for path in (data / "curve").glob("*.safetensors"):
        model, info = load_model(path)
        evaluator = NetEvaluator(model)
        errors[info.made["curve"]["rehearsed"]] = train.errors(evaluator, basic)
        evaluator.close()
    assert errors[0.5][0] < errors[0.0][0] - 0.1, "it knows the basics better"


@pytest.mark.parametrize("text", ["-0.1", "7", "nan", "half"])
def test_a_share_is_from_0_to_1(text: str) -> None:
    assert (share("0"), share("0.75"), share("1")) == (0, 0.75, 1)
    with pytest.raises(ValueError, match=text):
        share(text)


def test_numbers_of_positions_have_units() -> None:
    assert [count(text) for text in ("300", "300k", "1M", "1.5M")] == [300, 300_000, 1_000_000, 1_500_000]
