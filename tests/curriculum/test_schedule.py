"""Budgets and schedules: settings that depend on the scale or on the round of self-play."""

from pathlib import Path

import pytest

from curriculum.presets import Choice, read_config, resolve, revised, to_toml
from curriculum.schedule import at_round
from curriculum.stated import ConfigError
from curriculum.validity import check
from tests.support.cases import cases

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


def test_a_schedule_survives_the_run_folder(tmp_path: Path) -> None:
    config = resolve(assignments=[SCHEDULE])
    path = tmp_path / "config.toml"
    path.write_text(to_toml(config))
    assert read_config(path) == config


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


def test_a_scaled_run_is_not_scaled_again(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    config = resolve("quick", flags={"scale": 0.5})
    path.write_text(to_toml(config))
    assert read_config(path) == config
    assert revised(config, config, Choice("quick", flags={"scale": 0.5})) == config


def test_phases_stand_in_their_order() -> None:
    check(resolve(assignments=["phases=basics,selfplay"]))
    for phases in ("selfplay,basics", "basics,basics"):
        with pytest.raises(ConfigError, match="in order"):
            check(resolve(assignments=[f"phases={phases}"]))
    # Phases that are left out need no board for their positions.
    check(resolve(assignments=["rules.size=3", "rules.connect=3", "phases=selfplay"]))


def test_concurrent_self_play_has_no_gate() -> None:
    check(resolve(assignments=["selfplay.concurrent=true", "selfplay.epochs=2", "gate.games=0"]))
    with pytest.raises(ConfigError, match=r"needs selfplay\.epochs above 0 and gate\.games = 0"):
        check(resolve(assignments=["selfplay.concurrent=true", "selfplay.epochs=2"]))
