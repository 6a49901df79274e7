"""Threats on the board and warnings before losing moves, for the screen."""

import functools
from collections.abc import Callable

from core.compiled import stones_of
from core.compiled.threats import FIVE, FOUR, OPEN_FOUR, OPEN_THREE, side_of
from core.position import Position
from core.rules import Cell
from gomoku_cli.study.explain import Explainer
from gomoku_cli.study.threats import Threats as ThreatFinder
from gomoku_cli.tui.engine.messages import Threats, Verdict
from search.analysis import Analysis
from search.limit import Limit

_LOOK = Limit(seconds=0.6)
"""Limit of a search behind a move that the patterns on the board do not refute."""
_MARKS = {FIVE: "5", OPEN_FOUR: "4", FOUR: "+", OPEN_THREE: "3"}
"""Those of `gomoku_cli.tui.keys.THREAT_MARKS`."""


_finder = functools.lru_cache(maxsize=2)(ThreatFinder)
_explainer = functools.lru_cache(maxsize=2)(Explainer)


def find_threats(position: Position) -> Threats:
    """Return the threats of both colours, and a win by fours of the side to move."""
    if position.is_game_over():
        return Threats({}, ())
    finder, stones, to_move = _finder(position.rules), stones_of(position), position.side_to_move
    classes = finder.cells(stones)
    sides = (classes[side_of(colour)].tolist() for colour in (to_move, -to_move))
    marks = {
        cell: (_MARKS[max(own, other)], to_move if own >= other else -to_move)
        for cell, (own, other) in enumerate(zip(*sides, strict=True))
        if own or other
    }
    return Threats(marks, finder.win_by_fours(stones, to_move))


def check_move(position: Position, move: Cell, look: Callable[[Position, Limit], Analysis | None]) -> Verdict:
    """Return the reason why a move loses; none for a move that does not, or if every move loses.

    `look` returns the analysis of a position, None for a player that has none.
    """
    explainer = _explainer(position.rules)
    reason = explainer.loss(position, move)
    if not reason:
        after = position.copy()
        after.push(move)
        reason = "" if after.is_game_over() else explainer.loss(position, move, look(after, _LOOK))
    if not reason:
        return Verdict(None)
    before = look(position, _LOOK)
    is_lost_anyway = before is not None and before.moves[0].proof is not None and before.moves[0].proof < 0
    return Verdict(None if is_lost_anyway else reason)
