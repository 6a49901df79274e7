"""A model file as a model of the package, in 16 bits: `python -m benchmarks.papers.ship MODEL --name y-8x8`.

`gomoku papers check` plays the models of the package against the claims of `docs/papers`. Prints bytes, and the
agreement with the file on positions of games against itself.
"""

import sys

from benchmarks.measuring import exit_code_of, model_file, parser_of, show
from curriculum.bench.agreement import Exact, own_games
from nets.checkpoint import BUILT_IN, load_model, save_model
from nets.runtimes.net_evaluator import NetEvaluator

_POSITIONS = 2_000


def main() -> None:
    """Write the model, and compare it with the file."""
    parser = parser_of(__doc__)
    parser.add_argument("model", type=model_file, metavar="MODEL")
    parser.add_argument("--name", required=True, help="of the model as a player")
    arguments = parser.parse_args()
    model, info = load_model(arguments.model)
    path = BUILT_IN["default"].parent / "papers" / f"{arguments.name}.safetensors"
    path.parent.mkdir(exist_ok=True)
    save_model(path, model, info.made, half=True)
    exact, stored = NetEvaluator(model), NetEvaluator(load_model(path)[0])
    errors = Exact(exact, own_games(exact, model.rules, _POSITIONS)).errors(stored)
    show([{"file": path.name, "bytes": path.stat().st_size, "parameters": info.parameters, **errors}], arguments.json)


if __name__ == "__main__":
    sys.exit(exit_code_of(main))
