"""Sessions: players by name, and the plan that identifies a kept match."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.position import Position
from core.records.record import RecordError
from core.rules import Rules, Variant
from curriculum.arena.formats import Format
from curriculum.arena.opening_sets import load_openings
from curriculum.arena.player_names import short_name, short_names
from curriculum.arena.players import PlayerSettings
from curriculum.arena.session import MatchSession, MatchSettings
from curriculum.reporting import Context, Quiet, Reporter
from curriculum.run.locking import FolderTakenError
from nets.checkpoint import save_model
from nets.config import NetConfig
from nets.dual import make_model
from search.tree.settings import Policy
from tests.support.cases import cases
from tests.support.remarks import Remarks

RULES = Rules(7, 4)
SETTINGS = MatchSettings(games=4, players=PlayerSettings(simulations=2), openings="empty", seed=3)
MATCH = ("random", "mentor:paper")


def session(reporter: Reporter | None = None, rules: Rules = RULES, **changes: Any) -> MatchSession:
    """A session with `SETTINGS`, but for some changes."""
    return MatchSession(replace(SETTINGS, **changes), rules, Context(reporter or Quiet()))


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a match that was played."""
    folder = tmp_path_factory.mktemp("kept")
    session().play_match(MATCH, folder=folder)
    return folder


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"simulations": 3}, "simulations"),
        ({"simulations": None, "seconds": 0.1}, "simulations"),
        ({"policy": Policy.DETERMINISTIC}, "policy"),
        ({"switch_stage": 7}, "switch_stage"),
        ({"tactics": False}, "tactics"),
        ({"engine_seconds": 1.0}, "engine_seconds"),
    ],
)
def test_a_kept_match_has_one_plan(change: dict[str, Any], key: str, kept: Path) -> None:
    with pytest.raises(FolderTakenError, match=f"{key} is "):
        session(players=replace(SETTINGS.players, **change)).play_match(MATCH, folder=kept)


def test_the_seed_is_part_of_the_plan_and_concurrency_is_not(kept: Path) -> None:
    with pytest.raises(FolderTakenError, match="seed is "):
        session(seed=4).play_match(MATCH, folder=kept)
    assert session(concurrency=1).play_match(MATCH, folder=kept).games == 4


def test_a_plan_knows_the_content_of_models_and_openings(tmp_path: Path) -> None:
    model, openings = tmp_path / "model.safetensors", tmp_path / "openings.txt"
    openings.write_text("d4 d5\n", encoding="utf-8")

    def play() -> None:
        session(games=2, openings=str(openings)).play_match((str(model), "random"), folder=tmp_path / "match")

    save_model(model, make_model(NetConfig.tower(2, 0, hidden=2), RULES, 1), {})
    play()
    openings.write_text("d4 e4\n", encoding="utf-8")
    with pytest.raises(FolderTakenError, match="openings_fingerprint"):
        play()
    openings.write_text("d4 d5\n", encoding="utf-8")
    save_model(model, make_model(NetConfig.tower(2, 0, hidden=2), RULES, 2), {})
    with pytest.raises(FolderTakenError, match="models"):
        play()


def test_the_format_matters_for_more_than_two_players(tmp_path: Path) -> None:
    players = ("random", "mentor:paper", "pure-mcts:5")
    session().play(players, folder=tmp_path)
    with pytest.raises(FolderTakenError, match='format is "round-robin" there and "gauntlet" here'):
        session().play(players, form=Format.GAUNTLET, folder=tmp_path)


@pytest.mark.parametrize(("spec", "name"), cases("short_names"))
def test_short_names(spec: str, name: str) -> None:
    assert short_name(spec) == name


def test_players_have_distinct_names() -> None:
    same = ["a/best.safetensors", "b/best.safetensors"]
    assert short_names([*same, "c/new.safetensors"]) == [*same, "new"]
    assert short_names(["runs/a", "runs/b", "random"], ["first"]) == ["first", "b", "random"]
    assert short_names(["runs/a", "runs/b"], ["b"]) == ["b", "runs/b"]
    assert short_names(["random", "random"]) == ["random", "random"]
    for given, complaint in ((["mentor"], "two players are called mentor"), ([""], "a name is empty")):
        with pytest.raises(ValueError, match=complaint):
            short_names(["random", "mentor"], given)
    with pytest.raises(ValueError, match="3 names for 2 players"):
        short_names(["random", "mentor"], ["a", "b", "c"])


def test_given_names_stand_in_results_and_games() -> None:
    match = session(names=("first",)).play_match(("random", "mentor:paper")).matches[0, 1]
    assert (match.player, match.opponent) == ("first", "mentor:paper")
    record = match.games[0].record(RULES, ("first", "mentor:paper"))
    assert {record.black, record.white} == {"first", "mentor:paper"}


def test_without_shipped_openings_all_games_begin_on_the_empty_board_with_a_note() -> None:
    remarks = Remarks()
    games = session(remarks, openings="balanced").play_match(MATCH)
    assert all(game.fixture.opening == () for game in games.matches[0, 1].games)
    (note,) = remarks.lines
    assert note.startswith("note: there are no balanced openings for 4 in a row on 7x7")
    remarks.lines.clear()
    shipped = session(remarks, Rules(9), openings="balanced")
    assert len(shipped.openings) > 1 and remarks.lines == []
    standard = session(remarks, Rules(9, variant=Variant.STANDARD), openings="balanced")
    assert standard.openings == shipped.openings
    assert remarks.lines[0].startswith("note: the balanced openings are those of freestyle")


@pytest.mark.parametrize("size", [15, 20])
@pytest.mark.parametrize("variant", [Variant.STANDARD, Variant.RENJU, Variant.CARO_EXACT])
def test_every_rule_has_balanced_openings_of_its_own(variant: Variant, size: int) -> None:
    remarks, rules = Remarks(), Rules(size, variant=variant)
    own = session(remarks, rules, openings="balanced").openings
    trained = load_openings("balanced", rules, for_training=True)
    assert remarks.lines == []
    assert min(len(own), len(trained)) >= 40
    assert not set(own) & (set(trained) | set(load_openings("balanced", Rules(size), for_training=True)))
    assert set(own) != set(load_openings("balanced", Rules(size)))
    assert not any(Position.from_moves(rules, moves).is_game_over() for moves in own + trained)


def test_openings_of_another_rule_are_taken_with_a_note(tmp_path: Path) -> None:
    file, remarks = tmp_path / "openings.txt", Remarks()
    file.write_text("# gomoku openings 1 --variant=standard --seed=0\ne5 d4 f6\n")
    for variant in (Variant.STANDARD, Variant.RENJU):
        assert len(session(remarks, Rules(9, variant=variant), openings=str(file)).openings) == 1
    assert remarks.lines == [f"note: the openings of {file} were made for standard"]


def test_openings_are_read_before_the_players_are_made(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"missing\.txt"):
        session(openings=str(tmp_path / "missing.txt")).play_match(("engine:no-such-program", "random"))
