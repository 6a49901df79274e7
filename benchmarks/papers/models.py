"""Models with the search of their training, and the right moves that they find."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from core.position import Position
from core.rules import Rules
from curriculum.arena.players import PlayerSettings, open_player
from curriculum.arena.suite import Puzzle
from search.players import Player


def trained_player(model: str, simulations: int, rules: Rules) -> Player:
    """Return the model of a run or a file as a player of its best moves, which searches as in its training."""
    return open_player(model, PlayerSettings(simulations=simulations, switch_stage=0, tactics=False), rules=rules)


def right_moves(model: str, playouts: int, puzzles: Sequence[Puzzle], rules: Rules) -> list[bool]:
    """Return for each puzzle whether the model plays one of its answers."""
    positions = [Position.from_moves(rules, puzzle.moves) for puzzle in puzzles]
    played = trained_player(model, playouts, rules).choose_batch(positions, seeds=range(len(positions)))
    return [decision.move in puzzle.answers for puzzle, decision in zip(puzzles, played, strict=True)]


def first_learnt(puzzles: Sequence[Puzzle], before: Sequence[bool], after: Sequence[bool]) -> Puzzle | None:
    """Return the first puzzle whose answer was found `after`, and not `before`."""
    return next((each for each, old, new in zip(puzzles, before, after, strict=True) if new and not old), None)


def shares(
    kinds: Iterable[str], puzzles: Sequence[Puzzle], right: Mapping[int, Sequence[bool]]
) -> dict[str, dict[str, float]]:
    """Return the shares of right moves, which are given by playouts, and the number of positions of each kind."""
    found: dict[str, dict[str, float]] = {}
    for kind in kinds:
        rows = [row for row, puzzle in enumerate(puzzles) if puzzle.kind == kind]
        found[kind] = {"positions": len(rows)}
        for playouts, of_all in right.items():
            found[kind][str(playouts)] = round(float(np.mean([of_all[row] for row in rows])), 3) if rows else 0.0
    return found
