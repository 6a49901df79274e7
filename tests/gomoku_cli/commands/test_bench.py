"""`gomoku bench`: its JSON, tables and picture, and the options that it refuses."""

import json
import math
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from core.rules import Rules
from curriculum.bench import agreement, bare_net, card, measure
from curriculum.bench.ceiling import Ceiling
from curriculum.bench.machine import machine
from curriculum.bench.positions import long_games, mixed_positions
from curriculum.bench.search import by_simulations
from curriculum.bench.selfplay import selfplay_config
from curriculum.config import Config
from curriculum.reporting import Context
from curriculum.run.folder import RunFolder
from gomoku_cli import app
from gomoku_cli.commands.bench import show, show_card
from gomoku_cli.exit_codes import ExitCode
from gomoku_cli.reports.bench_figure import draw_bench
from gomoku_cli.reports.plots import check_plot
from nets.config import Backend, NetConfig, Precision, RuntimeChoice
from nets.dual import make_model
from nets.runtimes.net_evaluator import NetEvaluator
from tests.support.cards import CARD, make_card
from tests.support.commands import Capsys, refused
from tests.support.evaluators import ScriptedEvaluator
from tests.support.nets import save_small_model

SMALL = Rules(7, 5)
TINY = NetConfig.tower(2, 1, hidden=2)
HEADLINES = """
bare.positions_per_second selfplay.bare_ratio single.bare_ratio single.bare_ratio_400 ceiling.positions_per_second
selfplay.simulations_per_second selfplay.ratio single.milliseconds_400 mentor.nodes_per_second
tree.bytes_per_simulation startup.help_seconds
""".split()


@pytest.fixture(scope="module")
def swept() -> dict[str, Any]:
    """The figures of the sweeps at the smallest counts."""
    config = selfplay_config(SMALL, TINY, simulations=4, games=2)
    small = long_games(SMALL, 4)
    evaluator = ScriptedEvaluator(SMALL)
    ceiling = Ceiling(evaluator, mixed_positions(small), 4)
    choice = RuntimeChoice(backend=Backend.TORCH, precision=Precision.FP32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measure, "NetEvaluator", lambda model: NetEvaluator(model, choice))
        return {
            "simulations": by_simulations(evaluator, small, (10, 100), 0.01, Context()),
            "games": measure.by_games(config, evaluator, small, (1, 4), 0.05, Context(), ceiling),
            "board": measure.by_size(config, (6,), 0.05, Context()),
        }


def test_sweeps_have_a_row_a_size(swept: dict[str, Any]) -> None:
    assert [row["simulations"] for row in swept["simulations"]] == [10, 100]
    assert [row["games"] for row in swept["games"]] == [1, 4]
    assert [row["size"] for row in swept["board"]] == [6]
    for rows in swept.values():
        for row in rows:
            assert all(math.isfinite(figure) and figure > 0 for figure in row.values())


@pytest.fixture(scope="module")
def model_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_small_model(tmp_path_factory.mktemp("bench") / "tiny.safetensors", SMALL, TINY)


@pytest.fixture(scope="module")
def quick(model_file: Path) -> dict[str, Any]:
    """The JSON of the command at the smallest counts."""
    with pytest.MonkeyPatch.context() as patch:
        printed: list[str] = []
        patch.setattr("typer.echo", lambda text: printed.append(text))
        limits = ("--seconds", "0.1", "--concurrent-games", "2", "--simulations", "4")
        nets = ("--model", str(model_file), "--backend", "torch", "--precision", "fp32")
        assert app.run(["bench", "--quick", *limits, *nets, "--json", "--quiet"]) == ExitCode.DONE
    (line,) = printed
    figures: dict[str, Any] = json.loads(line)
    return figures


def test_the_headlines_are_there_and_measured(quick: dict[str, Any]) -> None:
    for key in HEADLINES:
        section, _, name = key.partition(".")
        assert quick[section][name] > 0, key
    lanes = quick["machine"]["cores"]
    assert quick["backend"] == {"name": "torch", "precision": "fp32", "device": "cpu", "lanes": lanes}
    assert {"cores", "processor", "memory_bytes", "python", "torch", "numba"} <= quick["machine"].keys()
    assert {"cache", "others"} <= quick.keys()
    assert "sweeps" not in quick
    fastest = max(quick["ceiling"]["batches"], key=lambda row: row["positions_per_second"])
    assert quick["ceiling"]["batch"] == fastest["batch"]


def test_the_table_shows_what_was_measured(quick: dict[str, Any], swept: dict[str, Any], capsys: Capsys) -> None:
    show({**quick, "sweeps": swept})
    out = capsys.readouterr().out
    for name in ("forward ceiling", "self-play", "with the cache", "one position", "kernel descents", "mentor"):
        assert name in out
    assert " % hits" in out and not re.search(r"\d%", out)
    assert f"{quick['ceiling']['positions_per_second']:,.0f} positions/s" in out
    assert f"{swept['games'][1]['simulations_per_second']:,.0f}" in out
    assert "nan" not in out


def test_the_table_of_a_stopped_measurement_shows_what_there_is(capsys: Capsys) -> None:
    show({"machine": machine(), "mentor": {"nodes_per_second": 1234.0}})
    out = capsys.readouterr().out
    assert "1,234 nodes/s" in out
    assert "ceiling" not in out


def test_the_picture_is_drawn(quick: dict[str, Any], swept: dict[str, Any], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "full.svg"
    check_plot(path)
    draw_bench({**quick, "sweeps": swept}, path)
    assert path.read_bytes().startswith(b"<?xml")


def test_without_matplotlib_a_line_says_how_to_get_it(capsys: Capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "pip install '.[plots]'" in refused(capsys, ExitCode.USAGE, "bench", "--figure", "bench.png")


@pytest.mark.skipif(torch.cuda.is_available(), reason="a GPU would be measured")
def test_the_check_of_a_gpu_says_in_one_line_that_there_is_none(capsys: Capsys) -> None:
    assert app.run(["bench", "--device", "cuda", "--json"]) == ExitCode.USAGE
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "gomoku: there is no GPU to measure: the driver knows of none\n"


def test_the_check_of_a_gpu_measures_a_stand_in(monkeypatch: pytest.MonkeyPatch, capsys: Capsys) -> None:
    make_card(monkeypatch)
    monkeypatch.setattr(card, "require_gpu", lambda: CARD)
    monkeypatch.setattr(card, "_GAMES", 4)
    monkeypatch.setattr(bare_net, "_GPU_BATCHES", (8, 32))
    monkeypatch.setattr(agreement, "_GAMES", 32)
    settings = card.CardSettings(
        positions=100, seconds=0.1, games=(4,), simulations=4, batch_sizes=(8,), steps=2, run=Config()
    )
    folders: list[RunFolder] = []
    models = {"tiny": make_model(TINY, SMALL, 0).eval()}
    figures = {"machine": machine()} | dict(
        card.check_card(models, lambda run, _: folders.append(run), settings, Context())
    )
    assert [row["precision"] for row in figures["agreement"]] == ["fp32", "bf16", "fp16"]
    assert all(row["top_move_percent"] > 90 for row in figures["agreement"])
    assert figures["agreement"][0]["prior"] < 1e-4
    assert figures["selfplay"][0]["simulations_per_second"] > 0
    assert figures["training"][0]["positions_per_second"] > 0
    assert len(folders) == 1
    show_card(json.loads(json.dumps(figures)))
    assert "Agreement with torch" in capsys.readouterr().out
