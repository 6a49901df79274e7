"""Tuning by matches: the settings move towards those that win, and a stopped command goes on."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks import tune
from benchmarks.measuring import exit_code_of
from search.tree.settings import SearchSettings


@pytest.fixture
def matches(monkeypatch: pytest.MonkeyPatch) -> list[tuple[float, float]]:
    """Matches that the player nearer to a `c_puct` of 2 wins by the difference; the pairs of settings that met."""
    met: list[tuple[float, float]] = []

    def player(net: object, rules: object, settings: SearchSettings, *others: object) -> SearchSettings:
        return settings

    def play(one: SearchSettings, two: SearchSettings, *, games: int, **options: Any) -> SimpleNamespace:
        met.append((one.c_puct, two.c_puct))
        better = max(-1.0, min(abs(two.c_puct - 2) - abs(one.c_puct - 2), 1.0))
        wins = round(games * (1 + better) / 2)
        return SimpleNamespace(total=SimpleNamespace(wins=wins, losses=games - wins))

    monkeypatch.setattr(tune, "searcher", player)
    monkeypatch.setattr(tune, "play_match", play)
    monkeypatch.setattr(tune, "open_model", lambda path: None)
    return met


def command(monkeypatch: pytest.MonkeyPatch, state: Path, *words: str) -> None:
    monkeypatch.setattr(sys, "argv", ["tune", str(state), *words])
    tune.main()


def test_settings_move_to_the_best_and_keep_to_their_bounds(
    matches: list[tuple[float, float]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    state = tmp_path / "tuned.json"
    command(monkeypatch, state, "c_puct=1.2:0.2", "virtual_loss_share=0.95:0.2", "--trials", "200")
    found = json.loads(state.read_text())
    assert 1.2 + 0.2 * found["moved"]["c_puct"] == pytest.approx(2.0, abs=0.1)
    assert abs(found["moved"]["virtual_loss_share"]) < 1.5  # no result depends on it
    assert len(matches) == 200


def test_a_tuning_goes_on(matches: list[tuple[float, float]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    state, whole = tmp_path / "tuned.json", tmp_path / "whole.json"
    for trials in ("10", "25", "25"):
        command(monkeypatch, state, "c_puct=1.2:0.2", "--trials", trials)
    assert len(matches) == 25
    command(monkeypatch, whole, "c_puct=1.2:0.2", "--trials", "25")
    assert json.loads(state.read_text()) == json.loads(whole.read_text())


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("forced_moves=1:1", "no number of the search: forced_moves"),
        ("c_puct", "c_puct is not of the form NAME=START:STEP"),
        ("c_puct=1.2", "not of the form"),
        ("c_puct=high:0.2", "not of the form"),
        ("c_puct=1.3:0.2", "tunes from {'c_puct': 1.2}, not from {'c_puct': 1.3}: take another file"),
    ],
)
def test_mistaken_words_are_refused(
    word: str,
    reason: str,
    matches: list[tuple[float, float]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    command(monkeypatch, tmp_path / "tuned.json", "c_puct=1.2:0.2", "--trials", "1")
    monkeypatch.setattr(sys, "argv", ["tune", str(tmp_path / "tuned.json"), word, "--trials", "2"])
    assert exit_code_of(tune.main) == 1
    assert reason in capsys.readouterr().err
    assert len(matches) == 1


@pytest.mark.parametrize("name", ["no-such-model", "README.md", "mentor"])
def test_a_model_that_is_none_is_refused(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        command(monkeypatch, tmp_path / "tuned.json", "c_puct=1.2:0.2", "--model", name)
    assert "argument --model: " in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
