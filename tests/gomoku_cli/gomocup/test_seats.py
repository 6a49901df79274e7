"""Who plays for the engine: the player that was named where it can, the mentor elsewhere, within the memory allowed."""

import math
from pathlib import Path

import pytest

from core.position import Position
from core.rules import Rules
from curriculum.arena.players import PlayerSpecError
from gomoku_cli.gomocup.seats import ModelSeats, resident_bytes
from nets.checkpoint import save_model
from nets.config import NetConfig
from nets.dual import make_model
from search.mentor.player import Mentor
from search.players import RandomPlayer
from search.tree.player import MctsPlayer

TINY = NetConfig(filters=2, blocks=0, value_hidden=2)
SMALL = Rules(6)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A model file for 6x6."""
    path = tmp_path_factory.mktemp("seats") / "model.safetensors"
    save_model(path, make_model(TINY, SMALL, 1), {})
    return str(path)


def test_a_model_plays_on_its_own_board_and_the_mentor_on_others_and_says_so(model: str) -> None:
    seats = ModelSeats(model, simulations=4)
    assert isinstance(seats.seat(SMALL, None, math.inf), MctsPlayer)
    assert seats.notes == []
    assert isinstance(seats.seat(Rules(20), None, math.inf), Mentor)
    (note,) = seats.notes
    assert note == f"{model} plays 5 in a row on 6x6, so on 20x20 the mentor plays"
    assert isinstance(seats.seat(SMALL, None, math.inf), MctsPlayer)


def test_a_player_without_a_net_plays_on_any_board() -> None:
    seats = ModelSeats("random", simulations=None)
    assert isinstance(seats.seat(Rules(25), None, math.inf), RandomPlayer)
    seats.limit_memory(1000)
    assert seats.notes == []


def test_the_same_player_goes_on_from_game_to_game(model: str) -> None:
    seats = ModelSeats(model, simulations=4)
    player = seats.seat(SMALL, None, math.inf)
    assert seats.seat(SMALL, None, math.inf) is player
    assert seats.seat(SMALL, 2, math.inf) is not player


@pytest.mark.parametrize(("simulations", "most", "made"), [(4, None, 4), (4, 2, 2), (4, 9, 4), (None, 3, 3)])
def test_no_more_simulations_are_made_than_either_side_allows(
    model: str, simulations: int | None, most: int | None, made: int
) -> None:
    player = ModelSeats(model, simulations=simulations).seat(SMALL, most, math.inf)
    assert player.choose_batch([Position(SMALL)], seeds=[0])[0].simulations == made


def test_without_a_number_of_simulations_it_thinks_until_it_is_stopped(model: str) -> None:
    player, asked = ModelSeats(model, simulations=None).seat(SMALL, None, math.inf), iter(range(100))
    # More than any number that a model is trained with, one question of `stop` a round.
    decision = player.choose_batch([Position(SMALL)], seeds=[0], stop=lambda: next(asked) == 90)[0]
    assert next(asked) == 91
    assert decision.simulations > 90


def test_trees_get_what_a_limit_of_memory_leaves(model: str) -> None:
    seats = ModelSeats(model, simulations=None)
    player = seats.seat(SMALL, None, math.inf)
    assert isinstance(player, MctsPlayer)
    held = resident_bytes()
    seats.limit_memory(held + 100_000_000)
    assert player.max_bytes is not None
    assert 50_000_000 < player.max_bytes < 100_000_000
    assert seats.notes == []
    seats.limit_memory(10_000_000)
    assert 0 < player.max_bytes < 10_000_000
    seats.limit_memory(10_000_000)
    assert seats.notes == ["a limit of 10 MB is less than this program needs"]
    seats.limit_memory(None)
    assert player.max_bytes is None


def test_a_model_of_another_game_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "four.safetensors"
    save_model(path, make_model(TINY, Rules(6, 4), 1), {})
    with pytest.raises(PlayerSpecError, match="plays 4 in a row on 6x6; the protocol is about 5 in a row"):
        ModelSeats(str(path), simulations=None)
