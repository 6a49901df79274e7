"""Players by their names, and the rules of their games."""

import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from core.input_limits import MAX_SIMULATIONS
from core.position import Position
from core.rules import Rules
from curriculum.arena import player_names
from curriculum.arena.players import (
    PlayerSettings,
    PlayerSpecError,
    model_path,
    open_player,
    parse_player,
    resolve_rules,
    settings_of,
)
from curriculum.config import Config
from curriculum.phases.steps import keep_model
from curriculum.run.folder import RunFolder
from curriculum.run.locking import FolderError
from nets.checkpoint import BUILT_IN, DEFAULT_MODEL, CheckpointError, load_model, read_info, save_model
from nets.config import NetConfig
from nets.dual import make_model
from search.players import Decision, Player
from search.tree.player import MctsPlayer
from search.tree.settings import Policy, SearchSettings
from tests.support.cases import cases
from tests.support.nets import LINES

SMALL, OTHER = Rules(7, 4), Rules(9, 5)
TINY = NetConfig.tower(2, 0, hidden=2)
TRAINED_WITH = SearchSettings(simulations=11)
SETTINGS = PlayerSettings(policy=Policy.DETERMINISTIC)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with a best model on 7x7."""
    path = tmp_path_factory.mktemp("specs") / "run"
    with RunFolder.create(path, Config(rules=SMALL, net=TINY, search=TRAINED_WITH)) as folder:
        keep_model(folder, "best", make_model(TINY, SMALL, 1), {"phase": "none"})
    return path


@pytest.fixture(scope="module")
def other_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model file on 9x9."""
    path = tmp_path_factory.mktemp("specs") / "other.safetensors"
    save_model(path, make_model(TINY, OTHER, 2), {})
    return path


def named(spec: object, settings: PlayerSettings = SETTINGS) -> Player:
    return parse_player(str(spec), rules=SMALL, settings=settings)


def decided(spec: object, settings: PlayerSettings = SETTINGS, moves: Sequence[int] = ()) -> Decision:
    """The decision of a player after some moves."""
    return named(spec, settings).choose(Position.from_moves(SMALL, moves), seed=1)


def test_a_model_may_have_its_own_number_of_simulations(run: Path, tmp_path: Path) -> None:
    spec = f"{run}@7"
    assert model_path(spec) == model_path(str(run))
    assert resolve_rules([spec]) == SMALL
    for settings in (SETTINGS, replace(SETTINGS, simulations=30), replace(SETTINGS, seconds=5.0)):
        assert named(spec, settings).name == spec
        assert decided(spec, settings).simulations == 7
    assert decided(f"{run}@0").simulations == 0
    for wrong in ("mentor@5", "random@5"):
        with pytest.raises(PlayerSpecError, match="takes no simulations of its own: models do, as default@50"):
            named(wrong)
    assert model_path("engine:./program --user me@5") is None  # its own @
    for wrong in (f"{run}@", f"{run}@many", f"{run}@99999999999"):
        with pytest.raises(CheckpointError, match="there is no file or folder"):
            named(wrong)


@pytest.mark.parametrize("spec", ["random", "mentor", "mentor:paper", "pure-mcts:50"])
def test_players_without_a_net_are_known_by_their_specs_and_play(spec: str) -> None:
    assert named(spec).name == spec
    assert model_path(spec) is None
    assert Position.from_moves(SMALL, [24]).is_legal(decided(spec, moves=[24]).move)


def test_a_run_folder_is_its_best_model(run: Path) -> None:
    assert model_path(str(run)) == run / "models" / "best.safetensors"
    decisions = [decided(spec, moves=[24]) for spec in (run, run / "models" / "best.safetensors")]
    assert decisions[0].move == decisions[1].move
    assert decisions[0].simulations == TRAINED_WITH.simulations


def test_the_built_in_models_are_in_the_package() -> None:
    assert model_path("default") == DEFAULT_MODEL
    path = model_path("paper")
    assert path is not None
    made = read_info(path)
    assert made.net == NetConfig()
    assert made.parameters == 2 * 147_053
    assert made.made["phase"] == "selfplay"
    assert made.made["commit"] == "2f38ca024102babe54635282d5016777bcc7cf7e"


@pytest.mark.parametrize(
    ("settings", "simulations"),
    [
        (PlayerSettings(simulations=5), 5),
        (PlayerSettings(simulations=0), 0),
        (PlayerSettings(search=SearchSettings(simulations=9)), 9),
        (PlayerSettings(search=SearchSettings(simulations=9), simulations=4), 4),
    ],
)
def test_a_model_searches_with_the_settings(run: Path, settings: PlayerSettings, simulations: int) -> None:
    assert decided(run, settings).simulations == simulations


def test_a_model_plays_with_tactics_or_literally(run: Path) -> None:
    # Three in a row of each side: the search for fours sees the win, a search of one simulation does not.
    with_tactics, literal = (
        decided(run, PlayerSettings(simulations=9, tactics=tactics), [22, 1, 23, 3, 24, 5]).simulations
        for tactics in (True, False)
    )
    assert with_tactics < literal == 9


def test_a_literal_search_is_that_of_the_training_with_its_leaves_in_flight(run: Path) -> None:
    player = named(run, PlayerSettings(tactics=False))
    assert isinstance(player, MctsPlayer)
    assert player._settings == replace(TRAINED_WITH, proven_nodes=False)


@pytest.mark.parametrize(
    ("spec", "read", "unread"),
    [
        ("default", {"simulations": 7, "memory_bytes": 10**8}, {"nodes": 5}),
        ("mentor", {"nodes": 5, "policy": Policy.DETERMINISTIC}, {"simulations": 7}),
        ("mentor:3", {"nodes": 5}, {"temperature": 2.0}),
        ("level:9", {"keeps_tree": True}, {"simulations": 7}),
        ("random", {}, {"seconds": 1.0}),
        ("mentor:paper", {}, {"seconds": 1.0}),
        ("pure-mcts:10", {}, {"simulations": 7}),
    ],
)
def test_a_setting_that_a_player_does_not_read_is_refused(
    spec: str, read: dict[str, Any], unread: dict[str, Any]
) -> None:
    assert set(read) <= settings_of(spec)
    assert open_player(spec, PlayerSettings(**read)).name == spec
    (name,) = unread
    with pytest.raises(PlayerSpecError, match=f"^{spec} reads no setting {name}: it reads "):
        open_player(spec, PlayerSettings(**unread))


@pytest.mark.parametrize(("spec", "message"), cases("players_refused"))
def test_a_text_that_names_no_player_is_refused_with_the_valid_spellings(spec: str, message: str) -> None:
    with pytest.raises(PlayerSpecError, match=message):
        named(spec)


def test_a_name_of_any_length_is_refused_with_its_limit() -> None:
    with pytest.raises(
        PlayerSpecError, match=r"'engine:line:line.*' has 1,000,007 characters; a name has 4,096 at most"
    ):
        named("engine:" + "line:" * 200_000)


def test_a_run_without_a_model_says_so(tmp_path: Path) -> None:
    RunFolder.create(tmp_path / "new", Config(rules=SMALL, net=TINY)).close()
    with pytest.raises(CheckpointError, match="has no model yet: train it further with --resume"):
        model_path(str(tmp_path / "new"))
    (tmp_path / "new" / "state" / "phases.json").write_text('{"basics": true}')
    (tmp_path / "new" / "models" / "imitation.safetensors").touch()
    why = r"best\.safetensors is missing, the best model of its run: copy another .*, such as .*imitation\.safetensors"
    with pytest.raises(CheckpointError, match=why):
        model_path(str(tmp_path / "new"))
    with pytest.raises(FolderError, match=why):
        RunFolder.open(tmp_path / "new")
    with pytest.raises(CheckpointError, match=r"there is no run in .*: it holds no config\.toml"):
        model_path(str(tmp_path))


def test_a_path_of_no_model_is_a_missing_file() -> None:
    with pytest.raises(CheckpointError, match=r"there is no file or folder missing/model\.safetensors"):
        named("missing/model.safetensors")


def searching(run: Path, path: Path, search: dict[str, Any]) -> Path:
    """The model of the run with another search in its metadata."""
    model, info = load_model(run / "models" / "best.safetensors")
    save_model(path, model, {**info.made, "search": search})
    return path


def test_a_player_with_a_net_ponders_and_keeps_to_its_time(run: Path, tmp_path: Path) -> None:
    path = searching(run, tmp_path / "patient.safetensors", asdict(replace(TRAINED_WITH, simulations=MAX_SIMULATIONS)))
    started = time.perf_counter()
    decision = decided(path, PlayerSettings(seconds=0.3), [24])
    assert 0.3 <= time.perf_counter() - started < 60
    assert 0 < decision.simulations < MAX_SIMULATIONS


@pytest.mark.parametrize(
    ("settings", "complaint"), [*cases("search_settings_refused"), ({"playouts": 3}, "a search of another version")]
)
def test_a_model_with_impossible_search_settings_is_refused(
    run: Path, tmp_path: Path, settings: dict[str, Any], complaint: str
) -> None:
    path = searching(run, tmp_path / "hostile.safetensors", {**asdict(TRAINED_WITH), **settings})
    with pytest.raises(CheckpointError, match=complaint) as error:
        named(path)
    assert str(path) in str(error.value)


@pytest.mark.parametrize(
    "net",
    [
        NetConfig(trunk=("conv3-4",), policy_head=("conv3-1-bare",), value_head=("conv1-4", "max", "linear")),
        LINES,
    ],
    ids=["convolutions", "lines"],
)
def test_a_model_without_fully_connected_layers_over_cells_plays_boards_of_every_size(
    net: NetConfig, tmp_path: Path
) -> None:
    net = replace(net, batch_norm=False, dual=False)
    small, large = (str(tmp_path / f"{size}.safetensors") for size in (7, 9))
    save_model(Path(small), make_model(net, Rules(7, 5), 1), {})
    save_model(Path(large), make_model(net, Rules(9, 5), 2), {})
    assert resolve_rules([large, small]) == Rules(9, 5)
    assert resolve_rules([small, large]) == Rules(7, 5)
    assert resolve_rules([small, large], size=12) == Rules(12, 5)
    with pytest.raises(PlayerSpecError, match="plays 5 in a row on 7x7, not 4 in a row on 7x7"):
        resolve_rules([small], connect=4)
    settings = PlayerSettings(simulations=20, policy=Policy.DETERMINISTIC)
    for size in (6, 12):
        rules = Rules(size, 5)
        position = Position.from_moves(rules, [0, 1, 2])
        decision = parse_player(small, rules=rules, settings=settings).choose(position)
        assert position.is_legal(decision.move)
        assert decision.policy is not None
        assert len(decision.policy) == rules.cells


def test_rules_are_those_of_the_models_or_the_given_ones(run: Path, other_model: Path) -> None:
    assert resolve_rules(["random", "mentor"]) == Rules(15, 5)
    assert resolve_rules(["random", "mentor"], size=9, connect=4) == Rules(9, 4)
    assert resolve_rules([str(run), "random"]) == SMALL
    assert resolve_rules(["random", str(run)], size=7) == SMALL
    assert resolve_rules([str(run), str(run)]) == SMALL
    with pytest.raises(PlayerSpecError, match="plays 4 in a row on 7x7, not 4 in a row on 15x15"):
        resolve_rules([str(run), "random"], size=15)
    with pytest.raises(PlayerSpecError, match="they cannot meet"):
        resolve_rules([str(run), str(other_model)])
    with pytest.raises(ValueError, match="board size 99"):
        resolve_rules(["random"], size=99)


def test_every_built_in_model_has_a_name_that_help_shows() -> None:
    own = {name for name in BUILT_IN if not name.startswith(f"{player_names.DEFAULT}-")}
    assert own == {player_names.DEFAULT, player_names.PAPER, *player_names.PAPER_MODELS}
