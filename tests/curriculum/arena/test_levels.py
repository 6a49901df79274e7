"""Levels: nine players by their names, each stronger than the one below."""

from itertools import pairwise

import pytest

from core.position import Position
from core.rules import Rules
from curriculum.arena import player_names
from curriculum.arena.levels import LEVELS, ByModel
from curriculum.arena.players import PlayerSettings, PlayerSpecError, parse_player, settings_of
from curriculum.arena.tournament import play_match
from search.limit import Limit
from search.mentor.casual import CasualPlayer
from search.mentor.player import Mentor
from search.tree.player import MctsPlayer

RULES = Rules()


def test_every_level_is_a_player_on_any_board() -> None:
    assert [f"level:{level}" for level in LEVELS] == list(player_names.LEVELS)
    for name in player_names.LEVELS:
        for rules in (RULES, Rules(7, 4)):
            player = parse_player(name, rules=rules, settings=PlayerSettings())
            assert player.name == name
        assert settings_of(name) == {"keeps_tree", "memory_bytes"}
    first = parse_player("level:1", rules=RULES, settings=PlayerSettings())
    assert Position().is_legal(first.choose(Position()).move)
    with pytest.raises(PlayerSpecError, match="names no player"):
        parse_player("level:10", rules=RULES, settings=PlayerSettings())


def test_levels_overlook_less_and_less_and_the_last_one_is_the_model() -> None:
    players = [parse_player(name, rules=RULES, settings=PlayerSettings()) for name in player_names.LEVELS]
    assert [type(player) for player in players] == [CasualPlayer] * 8 + [MctsPlayer]
    habits = [player.habits for player in players if isinstance(player, CasualPlayer)]
    for below, above in pairwise(habits):
        assert below.sees_four <= above.sees_four
        assert below.sees_three < above.sees_three
        assert below.looks_ahead <= above.looks_ahead
        assert below.softness > above.softness
    by_model = [f"level:{number}" for number, level in LEVELS.items() if isinstance(level, ByModel)]
    assert by_model == [player_names.MODEL_LEVEL]
    elsewhere = parse_player("level:9", rules=Rules(7, 4), settings=PlayerSettings())
    assert isinstance(elsewhere, Mentor) and elsewhere.limit == Limit(nodes=1_000_000)


def test_a_level_wins_against_one_three_below() -> None:
    players = {level: parse_player(f"level:{level}", rules=RULES, settings=PlayerSettings()) for level in (1, 4, 7)}
    assert play_match(players[4], players[1], games=6, seed=1).total.score > 0.6
    assert play_match(players[7], players[4], games=6, seed=1).total.score > 0.6
