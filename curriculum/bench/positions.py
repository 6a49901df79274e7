"""Positions for the benchmark: all stages of a game in equal parts, and hardly any of them decided."""

from collections.abc import Sequence

import numpy as np

from core.compiled import legal_moves_of
from core.compiled.symmetry import targets
from core.compiled.threats import PATTERNS, new_threat_board, place, side_of
from core.evaluation import PositionBatch
from core.position import Position
from core.rules import BLACK, Cell, Rules
from core.streams import Purpose, generator
from curriculum.games.mentor_games import random_move, replay_positions

_STONES = (2, 80)
"""Minimum and maximum number of stones."""
_RANDOM_SHARE = 0.2
_WORTH = 3.0 ** np.arange(PATTERNS)
"""The worth of a block of each pattern: stronger patterns count more, and a cell may block several."""


def long_games(rules: Rules, number: int) -> list[Position]:
    """Return games up to their last measured position: four moves of five block the other side, the rest is random.

    Games between players who try to win end before the board fills.
    """
    random = generator(0, Purpose.OPENING)
    max_stones = min(_STONES[1], rules.cells // 2)
    games = []
    for _ in range(number):
        position, board = Position(rules), new_threat_board(rules)
        while position.ply < max_stones:
            colour = position.side_to_move
            if position.ply < 2 or random.random() < _RANDOM_SHARE:
                move = random_move(position, random)
            else:
                worth = _WORTH[board.patterns[side_of(-colour)]].sum(axis=0)
                worth[~legal_moves_of(position)] = 0.0
                move = int(random.choice(np.flatnonzero(worth == worth.max())))
            position.push(move)
            if position.is_game_over():
                position.pop()
                break
            place(board, move, colour)
        games.append(position)
    return games


def mixed_positions(games: Sequence[Position]) -> PositionBatch:
    """Return all positions of some games in random order, black and white to move in turn."""
    batch = PositionBatch.concatenate([replay_positions(game, _STONES[0]) for game in games])
    order = generator(0, Purpose.SHUFFLE).permutation(len(batch))
    black, white = order[batch.to_move[order] == BLACK], order[batch.to_move[order] != BLACK]
    pairs = min(len(black), len(white))
    return batch.rows(np.column_stack([black[:pairs], white[:pairs]]).ravel())


def openings(games: Sequence[Position]) -> list[list[Cell]]:
    """Return openings for self-play: each position of some games in each symmetry.

    A short run is then a fair mix of stages, and hardly two of its games start alike.
    """
    turned = targets(games[0].rules.size)
    return [
        symmetry[game.moves[:ply]].tolist()
        for game in games
        for ply in range(_STONES[0], game.ply + 1)
        for symmetry in turned
    ]


def positions_between(games: Sequence[Position], min_stones: int, max_stones: int, number: int) -> list[Position]:
    """Return `number` positions of `min_stones` to `max_stones` stones, evenly spread, each from the next game."""
    return [
        Position.from_moves(game.rules, game.moves[:stones])
        for game, stones in zip(
            (game for _ in range(number) for game in games),
            np.linspace(min_stones, max_stones, number).astype(int),
            strict=False,
        )
    ]
