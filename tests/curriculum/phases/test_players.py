"""Players of a run: the student has the run's search, every other player its own."""

from dataclasses import asdict, replace
from pathlib import Path

import pytest

from core.rules import Rules
from curriculum.arena.players import PlayerSpecError
from curriculum.config import Config, EvaluationConfig, ImitationConfig
from curriculum.phases.players import ModelPlayer, check_players, named_player
from nets.checkpoint import save_model
from nets.config import NetConfig
from nets.dual import make_model
from search.tree.player import MctsPlayer
from search.tree.settings import SearchSettings

RULES = Rules(7, 4)
CONFIG = Config(
    rules=RULES, search=SearchSettings(simulations=33, c_puct=1.5), evaluation=EvaluationConfig(switch_stage=3)
)
OF_THE_TEACHER = SearchSettings(simulations=11, c_puct=3.0, value_decay=0.95)


@pytest.fixture
def teacher(tmp_path: Path) -> Path:
    """A model that was trained with another search than the run's."""
    path = tmp_path / "teacher.safetensors"
    model = make_model(NetConfig.tower(4, 1, hidden=4), RULES, 1)
    save_model(path, model, {"search": asdict(OF_THE_TEACHER)})
    return path


def test_a_model_that_teaches_plays_with_its_own_search_and_with_tactics(teacher: Path) -> None:
    player = named_player(CONFIG, str(teacher)).make({teacher: teacher})
    assert isinstance(player, MctsPlayer)
    assert player._settings == OF_THE_TEACHER.for_play()
    assert player._switch_stage == 3
    player = named_player(CONFIG, str(teacher), seconds=0.5).make({teacher: teacher})
    assert isinstance(player, MctsPlayer) and player._budget.seconds == 0.5, "its time replaces its simulations"


@pytest.mark.parametrize("simulations", [0, 5])
def test_the_model_in_training_plays_with_the_runs_search(simulations: int, teacher: Path) -> None:
    player = ModelPlayer(CONFIG, teacher, "model", simulations).make({teacher: teacher})
    assert isinstance(player, MctsPlayer)
    assert player._settings == replace(CONFIG.search, simulations=simulations or CONFIG.search.simulations)
    assert player._switch_stage == 3


def test_players_that_do_not_exist_are_refused(teacher: Path) -> None:
    check_players(Config(rules=RULES, imitation=ImitationConfig(teacher=str(teacher))))
    for settings in (ImitationConfig(teacher="mentr"), ImitationConfig(bar_opponent="mentr")):
        with pytest.raises(PlayerSpecError, match="did you mean mentor"):
            check_players(Config(imitation=settings))
    with pytest.raises(PlayerSpecError, match="plays 4 in a row on 7x7"):
        check_players(Config(imitation=ImitationConfig(teacher=str(teacher))))
