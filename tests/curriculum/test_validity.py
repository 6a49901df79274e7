"""Configurations that cannot run are refused before a run begins, wherever they were made."""

from dataclasses import replace
from pathlib import Path

import pytest

from curriculum.config import Config, GateConfig
from curriculum.games.kinds import BasicsError
from curriculum.presets import preset_names, read_config, resolve, to_toml
from curriculum.run.folder import RunFolder
from curriculum.stated import ConfigError
from curriculum.validity import check
from tests.support.cases import cases


@pytest.mark.parametrize("name", [None, *preset_names()])
def test_every_preset_can_run(name: str | None) -> None:
    check(resolve(name))


@pytest.mark.parametrize(("assignments", "message"), cases("settings_refused"))
def test_settings_that_do_not_fit_together_are_refused(assignments: list[str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        check(resolve(assignments=assignments))


@pytest.mark.parametrize(
    "assignments",
    [
        ["selfplay.noise=every-node", "selfplay.dirichlet_alpha=1"],
        ["selfplay.noise=move", "selfplay.dirichlet_alpha=1.5"],
        ["selfplay.full_search_share=0.25", "selfplay.fast_simulations=50"],
        ["selfplay.fast_simulations=50"],
    ],
)
def test_noise_and_fast_searches_that_fit_are_accepted(assignments: list[str]) -> None:
    check(resolve(assignments=assignments))


def test_a_bar_that_is_measured_at_the_end_alone_is_no_mistake() -> None:
    check(resolve(assignments=["imitation.bar_every=0"]))


@pytest.mark.parametrize(
    ("kinds", "message"),
    [(("attack-fore",), "did you mean attack-four"), (("quux",), "valid are attack-four, defend-")],
)
def test_an_unknown_kind_of_basic_position_is_answered_with_valid_ones(kinds: tuple[str, ...], message: str) -> None:
    config = Config()
    with pytest.raises(BasicsError, match=message):
        check(replace(config, basics=replace(config.basics, kinds=kinds)))


def test_no_run_is_created_from_an_impossible_configuration(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"gate\.threshold is -1\.0; it must be from 0 to 1"):
        RunFolder.create(tmp_path / "run", Config(gate=GateConfig(threshold=-1.0)))
    assert not (tmp_path / "run").exists()


def test_a_run_made_before_a_check_existed_is_opened_all_the_same(tmp_path: Path) -> None:
    RunFolder.create(tmp_path, Config()).close()
    old = resolve("strongest", assignments=["imitation.bar_every=20"])
    (tmp_path / "config.toml").write_text(to_toml(old))
    (tmp_path / "settings.jsonl").unlink()  # which came later too
    with RunFolder.open(tmp_path) as run:
        assert run.config == old == read_config(tmp_path / "config.toml")
