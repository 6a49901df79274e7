"""The metadata of models name files by name and hash, and never a path of the machine that made them."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from curriculum.config import Config, Phase
from curriculum.phases.origin import file_hash, origin_of, portable_name
from curriculum.phases.steps import keep_model, starting_model
from curriculum.presets import read_text
from curriculum.run.folder import RunFolder
from nets.checkpoint import BUILT_IN, load_model, read_info, save_model
from nets.dual import make_model
from tests.support.cases import cases
from tests.support.runs import CURRICULUM as CONFIG


def texts(value: Any) -> Iterator[str]:
    """All texts in JSON, the names of values included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)


def assert_portable(made: dict[str, Any]) -> None:
    assert not [text for text in texts(made) if re.search(r"[/\\]", text)]
    assert made.get("phase", "none") in ("none", *Phase)


@pytest.mark.parametrize("name", BUILT_IN)
def test_the_built_in_models_tell_nothing_of_a_machine(name: str) -> None:
    made = read_info(BUILT_IN[name]).made
    assert_portable(made)
    assert read_text(made["config"], name).preset == made["preset"]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "my folder" / "model.safetensors"
    path.parent.mkdir()
    save_model(path, make_model(CONFIG.net, CONFIG.rules, 7), {})
    return path


@pytest.mark.parametrize(("spec", "name"), cases("portable_names"))
def test_players_are_named_without_folders(spec: str, name: str) -> None:
    assert portable_name(spec) == name
    assert portable_name(name) == name


def test_files_are_named_with_their_hash(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = f"model#{file_hash(model)}"
    assert portable_name(str(model)) == portable_name(str(model.parent / ".." / "my folder" / model.name)) == known
    assert portable_name(f"{model}@30") == f"{known}@30"
    with RunFolder.create(tmp_path / "hour", CONFIG) as run:
        best = keep_model(run, "best", load_model(model)[0], {"phase": "none"})
    assert portable_name(str(tmp_path / "hour")) == portable_name(str(best)) == f"hour#{file_hash(best)}"
    monkeypatch.chdir(tmp_path / "hour")
    assert portable_name(".") == f"hour#{file_hash(best)}"


def with_paths(config: Config, model: Path) -> Config:
    """The configuration with a path at every place that takes one."""
    return replace(
        config,
        start=str(model),
        imitation=replace(config.imitation, teacher=str(model), bar_opponent="engine:/usr/bin/true 'a b/c'"),
        evaluation=replace(config.evaluation, opponents=("random", str(model), "engine:/bin/x/y")),
    )


def test_every_setting_that_names_a_file_is_portable(model: Path) -> None:
    config = with_paths(CONFIG, model)
    assert_portable(origin_of(config, None))
    assert file_hash(model) in origin_of(config, None)["config"]


def test_models_of_a_run_that_starts_from_a_file_are_portable(model: Path, tmp_path: Path) -> None:
    with RunFolder.create(tmp_path / "run", with_paths(CONFIG, model)) as run:
        starting_model(run)
        first = read_info(run.best_model).made
        assert first["parent"] == file_hash(model)
        assert_portable(first)


def changed(config: Config, opponent: str) -> Config:
    evaluation = replace(config.evaluation, opponents=("random", opponent))
    return replace(config, gate=replace(config.gate, games=4), evaluation=evaluation)


def test_a_change_is_told_by_the_models_after_it(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "run"
    RunFolder.create(path, CONFIG).close()
    with RunFolder.open(path, lambda config: changed(config, str(model))) as run:
        keep_model(run, "best", make_model(CONFIG.net, CONFIG.rules, 1), {"phase": "none"})
        made = read_info(run.best_model).made
    assert_portable(made)
    before, after = list(CONFIG.evaluation.opponents), ["random", f"model#{file_hash(model)}"]
    settings = {"gate.games": [2, 4], "evaluation.opponents": [before, after]}
    assert made["changes"] == [{"phase": "basics", "step": 0, "settings": settings}]
    assert "games = 4" in made["config"]
    assert json.dumps(made)
    assert all(torch.isfinite(each).all() for each in load_model(path / "models" / "best.safetensors")[0].parameters())
