"""Precision of each runtime on this machine, against torch in float32: `python -m benchmarks.backends`.

For each runtime and precision it prints the worst error of a prior (over the empty cells) and of a value, the
percentage of equal top moves, over 10,000 positions of games of the model against itself without a search, and the
seconds to open it. The precision is that in which it computes, where the processor lacks another. `gomoku bench
--backend ... --precision ...` measures the speed of one.
"""

import torch

from benchmarks.measuring import model_file, parser_of, show
from curriculum.bench.agreement import CPU, POSITIONS, agreements
from nets.checkpoint import load_model
from nets.config import Backend, Precision, RuntimeChoice
from nets.runtimes.devices import best_device

_HALF = (Precision.FP32, Precision.BF16)


def main() -> None:
    """Print the table."""
    parser = parser_of(__doc__)
    parser.add_argument("--model", type=model_file, default="paper", help="a model file, a run folder or `paper`")
    options = parser.parse_args()
    torch.set_num_threads(1)  # for each evaluating thread
    model, card = load_model(options.model)[0], best_device()
    runtimes = [(CPU, backend, each) for backend in (Backend.TORCH, Backend.OPENVINO) for each in _HALF]
    if model.config.has_lines:
        runtimes = [(CPU, Backend.NUMBA, Precision.INT16)]
    if card.type == "cuda":
        runtimes += [(card, Backend.TORCH, each) for each in (*_HALF, Precision.FP16)]
    choices = [(device, RuntimeChoice(backend=backend, precision=each)) for device, backend, each in runtimes]
    names = [f"{backend} on {device.type}" for device, backend, _ in runtimes]
    rows = agreements(model, choices, POSITIONS)
    show(({"runtime": name, **row} for name, row in zip(names, rows, strict=True)), options.json)


if __name__ == "__main__":
    main()
