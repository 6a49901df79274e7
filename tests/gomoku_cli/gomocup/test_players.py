"""The engine's players: the named one on its boards, the mentor on others, within the limit of memory."""

import threading
from pathlib import Path

import pytest

from core.cores import resident_bytes
from core.position import Position
from core.rules import Rules
from curriculum.arena.players import PlayerSpecError
from gomoku_cli.gomocup import players as module
from gomoku_cli.gomocup.players import EnginePlayers
from nets.config import NetConfig
from search.mentor.player import Mentor
from search.players import Player, RandomPlayer, never
from search.tree.player import MctsPlayer
from tests.support.nets import save_small_model
from tests.support.waiting import wait_until

TINY = NetConfig.tower(2, 0, hidden=2)
SMALL = Rules(6)


def player_of(players: EnginePlayers, rules: Rules, **limits: int | None) -> Player:
    """Return the player that is ready for these rules, within limits such as `max_depth` from now on."""
    for name, value in limits.items():
        setattr(players, name, value)
    return players.get(rules, never).player


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A model file for 6x6."""
    return str(save_small_model(tmp_path_factory.mktemp("models") / "model.safetensors", SMALL, TINY))


def test_a_model_plays_on_its_own_board_and_the_mentor_on_others_with_a_note(model: str) -> None:
    players = EnginePlayers(model, simulations=4)
    assert isinstance(player_of(players, SMALL), MctsPlayer)
    assert players.notes == []
    assert isinstance(player_of(players, Rules(20)), Mentor)
    (note,) = players.notes
    assert note == f"{model} plays 5 in a row on 6x6, so on 20x20 the mentor plays"
    assert isinstance(player_of(players, SMALL), MctsPlayer)


def test_a_model_whose_weights_fit_every_board_plays_on_it(tmp_path: Path) -> None:
    net = NetConfig(
        trunk=("conv3-4",),
        policy_head=("conv3-1-bare",),
        value_head=("conv1-4", "max", "linear"),
        batch_norm=False,
        dual=False,
    )
    path = save_small_model(tmp_path / "model.safetensors", SMALL, net)
    players = EnginePlayers(str(path), simulations=4)
    assert isinstance(player_of(players, Rules(20)), MctsPlayer)
    assert players.notes == []


class SlowHelper:
    """A process that compiles until `done` is set."""

    def __init__(self) -> None:
        self.done = threading.Event()

    def join(self, timeout_s: float | None = None) -> bool:
        return self.done.wait(timeout_s)

    def kernels(self) -> set[str]:
        return {"search.tree.line_search.search_turn"}


@pytest.fixture
def helper(monkeypatch: pytest.MonkeyPatch) -> SlowHelper:
    """The kernels are cold, and this helper compiles them."""
    helper = SlowHelper()
    monkeypatch.setattr(module, "KERNELS_ARE_COLD", True)
    monkeypatch.setattr(module, "helper_for", lambda work: helper)
    return helper


def test_the_mentor_plays_until_the_search_of_the_model_is_compiled(model: str, helper: SlowHelper) -> None:
    players = EnginePlayers(model, simulations=None)
    for rules in (SMALL, Rules(7), SMALL):
        assert isinstance(player_of(players, rules), Mentor)
    assert players.notes[0] == f"the mentor plays until the search of {model} is compiled, once"
    helper.done.set()
    wait_until(lambda: isinstance(player_of(players, SMALL), MctsPlayer))
    player = player_of(players, SMALL)
    assert players.notes[-1] == f"{model} plays from now on"
    assert player_of(players, SMALL) is player


def test_the_mentor_goes_on_where_the_model_cannot_play(
    model: str, helper: SlowHelper, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: object) -> None:
        raise MemoryError("no room for\nits nets")

    monkeypatch.setattr(MctsPlayer, "prepare", fail)
    players = EnginePlayers(model, simulations=None)
    assert isinstance(player_of(players, SMALL), Mentor)
    assert len(players.notes) == 1
    helper.done.set()
    wait_until(lambda: len(players.notes) > 1)
    assert players.notes[1] == f"{model} cannot play, so the mentor goes on: MemoryError: no room for its nets"
    for _ in range(2):
        assert isinstance(player_of(players, SMALL), Mentor)
    assert len(players.notes) == 2


@pytest.mark.parametrize(("simulations", "max_simulations"), [(4, None), (None, 4), (0, None)])
def test_a_model_with_a_number_of_simulations_is_waited_for(
    model: str, helper: SlowHelper, simulations: int | None, max_simulations: int | None
) -> None:
    threading.Timer(0.3, helper.done.set).start()
    players = EnginePlayers(model, simulations=simulations)
    assert isinstance(player_of(players, SMALL, max_simulations=max_simulations), MctsPlayer)
    assert helper.done.is_set()


def test_a_player_without_a_net_plays_on_any_board() -> None:
    players = EnginePlayers("random", simulations=None)
    assert isinstance(player_of(players, Rules(25)), RandomPlayer)
    player_of(players, Rules(25), max_bytes=1000)
    assert players.notes == []


def test_one_player_is_kept_from_game_to_game(model: str) -> None:
    players = EnginePlayers(model, simulations=4)
    player = player_of(players, SMALL)
    assert player_of(players, SMALL) is player
    assert player_of(players, SMALL, max_simulations=2) is not player


@pytest.mark.parametrize(("simulations", "max_simulations", "made"), [(4, None, 4), (4, 2, 2), (4, 9, 4), (None, 3, 3)])
def test_the_smaller_limit_of_simulations_applies(
    model: str, simulations: int | None, max_simulations: int | None, made: int
) -> None:
    player = player_of(EnginePlayers(model, simulations=simulations), SMALL, max_simulations=max_simulations)
    assert player.choose(Position(SMALL)).simulations == made


def test_without_a_limit_of_simulations_it_thinks_until_it_is_stopped(model: str) -> None:
    player, checks = player_of(EnginePlayers(model, simulations=None), SMALL), iter(range(100))
    # 90 rounds, one check of `stop` each, are more simulations than the model was trained with.
    decision = player.choose(Position(SMALL), stop=lambda: next(checks) == 90)
    assert next(checks) == 91
    assert decision.simulations > 90


def test_trees_get_the_rest_of_the_limit_of_memory(model: str) -> None:
    players = EnginePlayers(model, simulations=None)
    player = player_of(players, SMALL)
    assert isinstance(player, MctsPlayer)
    held = resident_bytes()
    player_of(players, SMALL, max_bytes=held + 100_000_000)
    assert 50_000_000 < player.max_bytes < 100_000_000
    assert players.notes == []
    player_of(players, SMALL, max_bytes=10_000_000)
    assert 0 < player.max_bytes < 10_000_000
    player_of(players, SMALL, max_bytes=10_000_000)
    assert players.notes == ["a limit of 10 MB is less than this program needs"]
    player_of(players, SMALL, max_bytes=None)
    assert player.max_bytes is None


def test_a_model_for_another_connect_length_is_an_error(tmp_path: Path) -> None:
    path = save_small_model(tmp_path / "four.safetensors", Rules(6, 4), TINY)
    with pytest.raises(PlayerSpecError, match="plays 4 in a row on 6x6; the protocol is about 5 in a row"):
        EnginePlayers(str(path), simulations=None)


def test_the_mentor_keeps_limits_of_nodes_and_depth_and_others_ignore_a_depth() -> None:
    players = EnginePlayers("mentor", simulations=None)
    limited = player_of(players, SMALL, max_simulations=300)
    assert isinstance(limited, Mentor) and limited.limit.nodes == 300
    player = player_of(players, SMALL, max_simulations=None)
    assert isinstance(player, Mentor)
    position = Position.from_moves(SMALL, [14, 15])
    player_of(players, SMALL, max_depth=2)
    assert player.search(position)[1].depth == 2
    player_of(players, SMALL, max_depth=100)
    assert player.limit.depth is None, "more than a search reaches is no limit"
    player_of(players, SMALL, max_depth=None)
    assert player.limit.depth is None
    others = EnginePlayers("random", simulations=None)
    player_of(others, SMALL, max_depth=2)
