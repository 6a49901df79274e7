"""Model files opened for play: without torch where that can be."""

import warnings
from pathlib import Path

from nets.checkpoint import load_model, read_info
from nets.config import Backend, Precision, RuntimeChoice, RuntimeNotice, default_runtime
from nets.runtimes.devices import may_have_gpu
from nets.runtimes.runtime import RuntimeUnavailableError
from nets.runtimes.serving import RuntimeEvaluator


def open_model(path: Path, choice: RuntimeChoice | None = None) -> RuntimeEvaluator:
    """An evaluator with the model of a file, whose judgements are repeatable (`nets.runtimes.batching.Batcher`).

    Runs the nets as `choice` says, or as was chosen for the whole process. OpenVINO runs them from graphs that are kept
    in the user's cache folder; those of a model that is new are made first, which takes some seconds and is told by a
    `RuntimeNotice`. All else, and whatever fails, goes by `nets.runtimes.net_evaluator.NetEvaluator` with torch.

    Raises `CheckpointError`, and `RuntimeUnavailableError` for a precision that nothing here computes with.
    """
    choice = choice or default_runtime()
    if choice.backend is Backend.OPENVINO or (choice.backend is Backend.AUTO and not may_have_gpu()):
        evaluator = _open_graphs(path, choice.precision)
        if evaluator is not None:
            return evaluator
    from nets.runtimes.net_evaluator import NetEvaluator

    return NetEvaluator(load_model(path)[0], choice, repeatable=True)


def _open_graphs(path: Path, precision: Precision) -> RuntimeEvaluator | None:
    """None where torch has to do it, or to say what is wrong."""
    if precision is Precision.FP16:
        return None
    info = read_info(path)
    # Imported here, since a run on torch or a GPU needs neither OpenVINO nor what is kept for it.
    from nets.runtimes.openvino import OpenVino, OpenVinoRuntime
    from nets.runtimes.saved_graphs import graphs_path, make_graphs, read_graphs

    try:
        openvino = OpenVino(precision)
        kept = graphs_path(path, openvino)
        found = read_graphs(kept, openvino)
        if found is None:
            warnings.warn(f"{path.name} is prepared for OpenVINO, once, which takes some seconds", RuntimeNotice, 3)
            found = read_graphs(kept, openvino) if make_graphs(path, openvino.precision) else None
        if found is None:
            return None
        graphs, version = found
        runtime = OpenVinoRuntime(openvino, graphs, info.rules.cells)
    except (OSError, RuntimeUnavailableError):
        return None
    return RuntimeEvaluator(runtime, info.net, info.rules.cells, version, repeatable=True)
