"""Paper Y: what a net says without a search, of the empty board and of cells that hold a stone.

    python -m benchmarks.papers.net_alone runs/8x8

The net's policy is the softmax over all cells of the board, occupied ones included, which a search leaves out (3.1).
The positions are those of the model's own games, whose first moves are drawn from its policy. The value of the empty
board is that of black, who is to move (5.4).
"""

import argparse
import json

import numpy as np
from scipy import special

from benchmarks.measuring import model_file
from core.evaluation import PositionBatch
from core.position import Position
from curriculum.bench.agreement import POSITIONS, own_games
from nets.checkpoint import load_model
from nets.config import Backend, Precision, RuntimeChoice
from nets.runtimes.net_evaluator import NetEvaluator


def main() -> None:
    """Evaluate, and print the result as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=model_file, help="a run folder or a model file")
    arguments = parser.parse_args()
    model, info = load_model(arguments.model)
    evaluator = NetEvaluator(model, RuntimeChoice(backend=Backend.TORCH, precision=Precision.FP32))
    positions = own_games(evaluator, info.rules, POSITIONS)
    priors = special.softmax(evaluator.evaluate(positions)[0].astype(np.float64), axis=1)[positions.stones != 0]
    value = evaluator.evaluate(PositionBatch.from_positions([Position(info.rules)], info.rules))[1][0]
    figures = {"value_of_empty_board": round(float(value), 3), "positions": POSITIONS}
    print(json.dumps(figures | {"mean_prior_of_occupied_cell": priors.mean(), "largest": priors.max()}))


if __name__ == "__main__":
    main()
