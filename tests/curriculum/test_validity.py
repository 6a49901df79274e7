"""Configurations that cannot run are refused before a run begins, wherever they were made."""

from dataclasses import replace
from pathlib import Path

import pytest

from curriculum.config import Config, GateConfig, ImitationConfig, Phase
from curriculum.games.kinds import BasicsError
from curriculum.presets import preset_names, read_config, resolve, to_toml
from curriculum.run.folder import RunFolder
from curriculum.stated import ConfigError
from curriculum.validity import check


@pytest.mark.parametrize("name", [None, *preset_names()])
def test_every_preset_can_run(name: str | None) -> None:
    check(resolve(name))


@pytest.mark.parametrize("name", [None, *preset_names()])
def test_every_preset_measures_its_bar(name: str | None) -> None:
    config = resolve(name)
    settings = config.imitation
    assert Phase.IMITATION not in config.phases or 0 < settings.bar_every <= settings.passes


@pytest.mark.parametrize(
    ("assignments", "message"),
    [
        (
            ["imitation.bar_every=20", "imitation.passes=12"],
            "no pass would be measured before the end; give 12 or less, or 0",
        ),
        (["selfplay.random_share=0.3", "selfplay.opening_stones=[0, 0]"], "selfplay.opening_stones allows no stones"),
        (["selfplay.random_share=0.6", "selfplay.balanced_share=0.5"], "together are more than 1"),
        (["selfplay.short_term_share=0.6"], "selfplay.short_term_share together are more than 1"),
        (
            ["selfplay.concurrent=true", "selfplay.epochs=1", "gate.games=0", "selfplay.anneal_each_round=true"],
            "set selfplay.anneal_each_round to false",
        ),
        (["search.simulations=1"], "training needs 2 or more"),
        (["selfplay.noise=every-node", "selfplay.dirichlet_alpha=1.5"], "it must be from 0.001 to 1"),
        (["selfplay.noise=every-node", "selfplay.forced_playouts=2"], "with selfplay.noise every-node it must be 0"),
        (["selfplay.full_search_share=0.25"], "fast_simulations is 0; it must be above 0 and below search.simulations"),
        (
            ["selfplay.full_search_share=0.25", "selfplay.fast_simulations=400", "search.simulations=400"],
            "fast_simulations is 400; it must be above 0 and below search.simulations, 400",
        ),
        (
            ["selfplay.full_search_share=0.5", "selfplay.fast_simulations=50", 'schedule=["3: search.simulations=40"]'],
            "fast_simulations is 50; it must be above 0 and below search.simulations, 40",
        ),
    ],
)
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


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (Config(gate=GateConfig(threshold=-1.0)), r"gate\.threshold is -1\.0; it must be from 0 to 1"),
        (Config(imitation=ImitationConfig(games=1)), r"imitation\.games is 1; it must be 2 or more"),
        (Config(imitation=ImitationConfig(held_out_share=0.6)), r"held_out_share is 0\.6; it must be from 0 to 0\.5"),
        (Config(imitation=ImitationConfig(bar_every=9, passes=8)), "no pass would be measured before the end"),
        (Config(seed=-1), "seed is -1; it must be 0 or more"),
    ],
)
def test_no_run_is_created_from_an_impossible_configuration(config: Config, message: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=message):
        RunFolder.create(tmp_path / "run", config)
    assert not (tmp_path / "run").exists()


def test_a_run_made_before_a_check_existed_is_opened_all_the_same(tmp_path: Path) -> None:
    RunFolder.create(tmp_path, Config()).close()
    old = resolve("strongest", assignments=["imitation.bar_every=20"])
    (tmp_path / "config.toml").write_text(to_toml(old))
    (tmp_path / "settings.jsonl").unlink()  # which came later too
    with RunFolder.open(tmp_path) as run:
        assert run.config == old == read_config(tmp_path / "config.toml")
