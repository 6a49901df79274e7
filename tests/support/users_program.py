"""A program of a user. `make types` checks it: it knows the types of all names, and notices the mistake at the end."""

from collections.abc import Sequence
from typing import assert_type

import numpy as np
from numpy.typing import NDArray

import gomoku_cli as gomoku
from core.position import Position


class Flat(gomoku.BatchEvaluator):
    def evaluate(self, positions: gomoku.PositionBatch) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        return np.zeros(positions.stones.shape, np.float32), np.zeros(len(positions), np.float32)


def corner(position: gomoku.Position) -> int:
    return position.legal_moves()[0]


def main() -> None:
    position = gomoku.Position(gomoku.Rules(size=15, variant=gomoku.Variant.RENJU))
    position.push("h8")
    assert position.side_to_move == gomoku.WHITE != gomoku.BLACK
    player = gomoku.MctsPlayer(Flat(), position.rules, gomoku.SearchSettings(simulations=20))
    with gomoku.open_engine("mentor") as engine, gomoku.Engine(player) as own:
        decision: gomoku.Decision = own.play(position, gomoku.Limit(nodes=10))
        with engine.analysis(position, gomoku.Limit(seconds=1)) as analysis:
            for info in analysis:
                print(info.depth, info.nodes, info.value, [position.name_of(move) for move in info.variation])
        final: gomoku.Analysis = analysis.wait()
    record: gomoku.Record = gomoku.record_game(position, black="a", analyses=[None, final])
    gomoku.write_games("game.sgf", [record])
    games: Sequence[gomoku.Record] = gomoku.read_games("game.sgf")
    other: gomoku.Player = gomoku.FunctionPlayer("corner", corner)
    result = gomoku.play_match(gomoku.open_player("random"), other, games=2)
    print(result.total.wins, decision.move, len(games))
    config: gomoku.Config = gomoku.load_config("smoke", assignments=["seed=1"])
    try:
        gomoku.train("runs/mine", config)
    except gomoku.UserError as error:
        print(error)
    assert_type(position, Position)
    wrong: str = position.ply  # type: ignore[assignment]  # mypy refuses this comment where it finds no mistake
    print(wrong)
