"""Positions and games of the mentors' tests."""

import os
from itertools import zip_longest

import pytest

from core.notation import cell_name
from core.position import Position
from core.rules import BLACK, WHITE, Colour, Rules
from core.streams import stream_key
from search.players import Player

RULES = Rules(15, 5)
KERNELS_ARE_PYTHON = os.environ.get("NUMBA_DISABLE_JIT") == "1"
takes_many_nodes = pytest.mark.skipif(KERNELS_ARE_PYTHON, reason="so many nodes take minutes in plain Python")
FILLERS = "a1 o1 a15 o15 h1 a8 o8 h15".split()
"""Cells of the edge too far apart to make a pattern."""


def position(colour: Colour, own: str, enemy: str) -> Position:
    """Return a position with `colour` to move, `own` and `enemy` stones, and as many fillers as the turns need."""
    stones = {colour: own.split(), -colour: enemy.split()}
    fillers = iter(FILLERS)
    # Black has moved once more than White if it is White's turn, else as often.
    while len(stones[BLACK]) < len(stones[WHITE]) + (colour == WHITE):
        stones[BLACK].append(next(fillers))
    while len(stones[WHITE]) < len(stones[BLACK]) - (colour == WHITE):
        stones[WHITE].append(next(fillers))
    moves = [name for pair in zip_longest(stones[BLACK], stones[WHITE]) for name in pair if name is not None]
    result = Position.from_moves(RULES, moves)
    assert result.side_to_move == colour
    return result


def openings() -> list[Position]:
    """Return quiet positions of four to eight stones, in which nothing is decided."""
    starts = (
        *("g11 f10 g7 h6 h12", "f8 h8 j5 g5", "h2 e5 h4 e3 d7 f2 e4", "d3 d4 h7 d2 e5 h4 b2 f3"),
        *("f12 g10 g9 h13 h11 e12 e15 g13", "h11 g9 h9 j10 e9", "m5 n5 o5 l4", "n5 m5 l5 l3 k3"),
    )
    return [Position.from_moves(RULES, start) for start in starts]


def moves_of(player: Player, board: Position, seeds: int = 4) -> set[str]:
    """Return the names of the moves that a player makes over some seeds."""
    decisions = player.choose_batch([board] * seeds, seeds=range(seeds))
    return {cell_name(decision.move, board.rules.size) for decision in decisions}


def play(black: Player, white: Player, rules: Rules, seed: int, opening: tuple[int, ...] = ()) -> Position:
    """Return a game played to its end; an illegal move raises."""
    board = Position.from_moves(rules, opening)
    while not board.is_game_over():
        player = black if board.side_to_move == BLACK else white
        board.push(player.choose_batch([board], seeds=[stream_key(seed, board.ply)])[0].move)
    return board
