"""Configurations that cannot run are refused before a run; schedules of settings; an explanation of every setting."""

from dataclasses import replace
from pathlib import Path

import pytest

from curriculum.config import Config, GateConfig
from curriculum.explanations import comment_lines, explanations
from curriculum.games.kinds import BasicsError
from curriculum.keys import KEYS, SECTIONS, allowed, names_of
from curriculum.presets import preset_names, read_config, resolve, to_toml
from curriculum.run.folder import RunFolder
from curriculum.schedule import at_round
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
        ["imitation.bar_every=0"],
        ["phases=basics,selfplay"],
        ["rules.size=3", "rules.connect=3", "phases=selfplay"],  # phases that are left out need no board
    ],
)
def test_settings_that_fit_together_are_accepted(assignments: list[str]) -> None:
    check(resolve(assignments=assignments))


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


# Schedules

SCHEDULE = "schedule=2: search.simulations=300; selfplay.temperature=0.5, 5: search.simulations=1000"


@pytest.mark.parametrize(
    "schedule", [SCHEDULE, "schedule=" + ", ".join(SCHEDULE.removeprefix("schedule=").split(", ")[::-1])]
)
def test_settings_change_from_their_round_on_in_whatever_order_they_stand(schedule: str) -> None:
    config = resolve(assignments=[schedule])
    found = [
        (at_round(config, n).search.simulations, at_round(config, n).selfplay.temperature) for n in (0, 2, 4, 5, 9)
    ]
    assert found == [(400, 1.0), (300, 0.5), (300, 0.5), (1000, 0.5), (1000, 0.5)]


@pytest.mark.parametrize(("stage", "complaint"), cases("stages_refused"))
def test_a_stage_that_cannot_be_read_is_refused_before_the_run(stage: str, complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        check(resolve(assignments=[f'schedule=["{stage}"]']))


def test_a_scale_shrinks_simulations_games_and_epochs_of_all_stages_and_leaves_something_of_each() -> None:
    config = resolve("alphagomoku", assignments=["scale=0.1", "schedule=3: search.simulations=1600"])
    assert (config.search.simulations, config.selfplay.games, config.basics.epochs) == (80, 90, 4)
    assert at_round(config, 3).search.simulations == 160
    assert config.selfplay.iterations == resolve("alphagomoku").selfplay.iterations
    assert config.selfplay.epochs == 0  # not used: it stays so
    config = resolve("alphagomoku", assignments=["scale=0.000001"])
    check(config)
    assert (config.search.simulations, config.selfplay.games, config.basics.epochs) == (8, 2, 1)


def test_phases_stand_in_their_order() -> None:
    for phases in ("selfplay,basics", "basics,basics"):
        with pytest.raises(ConfigError, match="in order"):
            check(resolve(assignments=[f"phases={phases}"]))


def test_concurrent_self_play_has_no_gate() -> None:
    check(resolve(assignments=["selfplay.concurrent=true", "selfplay.epochs=2", "gate.games=0"]))
    with pytest.raises(ConfigError, match=r"needs selfplay\.epochs above 0 and gate\.games = 0"):
        check(resolve(assignments=["selfplay.concurrent=true", "selfplay.epochs=2"]))


# Explanations


def test_every_setting_and_section_is_explained() -> None:
    assert explanations().keys() == KEYS.keys() | set(SECTIONS)
    assert [name for name, known in explanations().items() if not known.text] == []


def test_values_that_are_names_are_explained() -> None:
    assert explanations()["search.first_play"].values["zero"] == "0, as in the papers."
    assert names_of("search.first_play") == ["reduced", "zero"]
    assert names_of("phases") == ["basics", "imitation", "selfplay"]
    assert names_of("gate.paired_openings") == ["true", "false"]
    assert names_of("gate.games") == []


def test_a_first_sentence_ends_after_references() -> None:
    assert explanations()["search.c_puct"].first_sentence == "Weight of exploration (A eq. 8)"


def test_allowed_values_are_texts() -> None:
    assert allowed("selfplay.window") == "a whole number, above 0"
    assert allowed("imitation.opening_stones") == "a list of 2 whole numbers, 0 or more"
    assert allowed("search.first_play") == "one of reduced, zero"
    assert all(allowed(key) for key in KEYS)


def test_a_preset_reads_back_the_same_with_its_comments(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    for name in preset_names():
        text = to_toml(resolve(name), comment_lines)
        for written in (text, f"\ufeff{text}"):  # the second as editors on Windows save
            file.write_text(written, encoding="utf-8")
            assert read_config(file) == resolve(name)
        assert max(map(len, text.splitlines())) < 250


def test_the_file_of_a_run_explains_its_settings(tmp_path: Path) -> None:
    config = resolve("smoke")
    with RunFolder.create(tmp_path / "run", config):
        text = (tmp_path / "run" / "config.toml").read_text(encoding="utf-8")
        assert "# Weight of exploration (A eq. 8).\nc_puct = " in text
    with RunFolder.open(tmp_path / "run") as run:
        assert run.config == config
