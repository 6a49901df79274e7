"""Threats on the board and warnings before losing moves, for the screen."""

import functools
from collections.abc import Callable

import numpy as np

from core.compiled import stones_of
from core.compiled.threats import FIVE, FOUR, OPEN_FOUR, OPEN_THREE, side_of
from core.position import Position
from core.rules import BLACK, WHITE, Cell, Rules
from gomoku_cli.study.explain import Explainer
from gomoku_cli.study.threats import Threats as ThreatFinder
from gomoku_cli.tui.engine.messages import Threat, Threats, Verdict
from search.analysis import Analysis
from search.limits import Limit
from search.players import Analyses, Player

_LOOK_S = 0.6
"""Time of a search behind a move that the patterns on the board do not refute."""
_KINDS = {FIVE: "five", OPEN_FOUR: "open four", FOUR: "four", OPEN_THREE: "open three"}


@functools.lru_cache(maxsize=2)
def _finder(rules: Rules) -> ThreatFinder:
    return ThreatFinder(rules)


@functools.lru_cache(maxsize=2)
def _explainer(rules: Rules) -> Explainer:
    return Explainer(rules)


def find_threats(position: Position) -> Threats:
    """Return the threats of both colours, and a win by fours of the side to move."""
    if position.is_game_over():
        return Threats((), ())
    finder, stones = _finder(position.rules), stones_of(position)
    classes = finder.cells(stones)
    found = []
    for colour in (BLACK, WHITE):
        for kind, name in _KINDS.items():
            cells = tuple(np.flatnonzero(classes[side_of(colour)] == kind).tolist())
            if cells:
                found.append(Threat(colour, name, cells))
    return Threats(tuple(found), finder.win_by_fours(stones, position.side_to_move))


def check_move(position: Position, move: Cell, player: Player, stop: Callable[[], bool]) -> Verdict:
    """Return the reason why a move loses; none for a move that does not, or if every move loses."""
    explainer = _explainer(position.rules)
    reason = explainer.loss(position, move)
    if reason is None:
        after = position.copy()
        after.push(move)
        if after.is_game_over():
            return Verdict(None)
        view = _look(player, after, stop)
        reason = explainer.loss(position, move, view) if view is not None else None
    if reason is None:
        return Verdict(None)
    before = _look(player, position, stop)
    if before is not None and before.moves[0].proof is not None and before.moves[0].proof < 0:
        return Verdict(None)
    return Verdict(reason.sentence)


def _look(player: Player, position: Position, stop: Callable[[], bool]) -> Analysis | None:
    if not isinstance(player, Analyses):
        return None
    return player.analyse(position, Limit(seconds=_LOOK_S), stop=stop)
