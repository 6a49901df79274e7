"""Even levels: no step between two neighbours is a cliff for a scripted beginner.

A scripted beginner is a person who learns the game, in a few rules. It completes its five and makes an open four of its
open three; it blocks a four and an open three of the opponent, unless it overlooks them; else it extends its longest
line, or stops the opponent's. It never looks a move ahead, so it falls for every double threat.
"""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest

from core.compiled import stones_of
from core.compiled.threats import FIVE, OPEN_FOUR, OPEN_THREE, OPEN_TWO, TWO, load, new_threat_board, side_of
from core.position import Position
from core.rules import BLACK, EMPTY, WHITE, Colour, Rules
from core.streams import Purpose, generator
from curriculum.arena import player_names
from curriculum.arena.fixtures import fixtures
from curriculum.arena.formats import Format
from curriculum.arena.players import PlayerSettings, parse_player
from curriculum.arena.tournament import play_tournament
from curriculum.reporting import Context
from search.mentor.player import centre
from search.players import Decision
from tests.support.mentor_positions import moves_of, position
from tests.support.players import OneByOne


class Beginner(OneByOne):
    """A scripted beginner, which overlooks an open three with a probability, and a four a quarter as often."""

    def __init__(self, overlooks: float) -> None:
        self.name = f"beginner, overlooks {overlooks:.0%}"
        self.overlooks = overlooks

    def decide(self, position: Position, seed: int, stop: Callable[[], bool]) -> Decision:
        """See `OneByOne`."""
        if not position.moves:
            return Decision(centre(position.rules))
        chance = generator(seed, Purpose.MOVE)
        board = new_threat_board(position.rules)
        load(board, stones_of(position))
        classes = board.patterns.max(axis=1)
        classes[:, stones_of(position) != EMPTY] = 0
        own, other = classes[side_of(position.side_to_move)], classes[side_of(-position.side_to_move)]
        sees_four, sees_three = (chance.random(2) >= (0.25 * self.overlooks, self.overlooks)).tolist()
        wanted = ((own, FIVE), *([(other, FIVE)] * sees_four), (own, OPEN_FOUR), *([(other, OPEN_FOUR)] * sees_three))
        sides = (other, own) if chance.random() < 0.35 else (own, other)
        quiet = [(side, kind) for kind in (OPEN_THREE, OPEN_TWO, TWO) for side in sides]
        for side, kind in (*wanted, *quiet):
            cells = np.flatnonzero(side == kind)
            if len(cells):
                return Decision(int(chance.choice(cells)))
        return Decision(int(chance.choice(position.legal_moves())))


@pytest.mark.parametrize("colour", [BLACK, WHITE])
def test_a_beginner_sees_fives_its_own_open_threes_and_fours_to_block(colour: Colour) -> None:
    blind, sharp = Beginner(1.0), Beginner(0.0)
    assert moves_of(blind, position(colour, "e5 f5 g5 h5", "d5 e8 f8 g8 h8")) == {"i5"}
    assert moves_of(blind, position(colour, "c4 d4 e4", "k9 m2")) <= {"b4", "f4"}
    assert moves_of(sharp, position(colour, "d5 c9", "e5 f5 g5 h5")) == {"i5"}
    assert moves_of(sharp, position(colour, "k3 m5", "g7 h7 i7")) <= {"f7", "j7"}
    assert not moves_of(blind, position(colour, "k3 m5", "g7 h7 i7")) & {"f7", "j7"}, "it overlooks the open three"


@pytest.mark.slow
def test_the_levels_are_even_to_a_beginner() -> None:
    """The levels that were had a step of 68 points here."""
    rules, levels = Rules(), player_names.LEVELS[:8]
    players = [Beginner(0.5), *(parse_player(name, rules=rules, settings=PlayerSettings()) for name in levels)]
    schedule = fixtures(len(players), 40, openings=[()], seed=1, form=Format.GAUNTLET)
    matches = play_tournament(players, schedule, rules=rules, context=Context(), on_threads=1).matches
    scores = [matches[0, level].total.score for level in range(1, 9)]
    # A step between two sure results says little.
    steps = [abs(one - two) for one, two in pairwise(scores) if max(one, two) >= 0.1 and min(one, two) <= 0.9]
    assert max(steps) < 0.43, "25 points and the noise of 40 games"
    assert scores[0] > 0.7
    assert scores[7] < 0.1
