"""`open_model`: the evaluator of a model file, for play; without torch if OpenVINO or numba runs it."""

import warnings
from pathlib import Path

from core.files.cache_folder import has_noticed
from core.rules import Rules
from nets.checkpoint import BUILT_IN, check_model, load_arrays, load_model, model_file, read_info
from nets.config import AUTO_DEVICE, CPU_DEVICE, Backend, Precision, RuntimeChoice, RuntimeNotice, default_runtime
from nets.runtimes.devices import best_device, may_have_gpu
from nets.runtimes.runtime import RuntimeUnavailableError
from nets.runtimes.runtime_evaluator import RuntimeEvaluator


def open_model(
    path: Path | str, choice: RuntimeChoice | None = None, *, rules: Rules | None = None
) -> RuntimeEvaluator:
    """Return an evaluator with the model of a file; its evaluations are repeatable (`nets.runtimes.batching.Batcher`).

    >>> evaluator = gomoku.open_model("default", rules=gomoku.Rules(9))

    `path`: a text may be the name of a built-in model, `default` or `paper`. `rules`: default: those of the model;
    others that it plays (`ModelInfo.plays`) give another board.

    `choice` selects the runtime (default: the choice for the whole process). OpenVINO runs graphs that are saved in the
    user's cache folder. The graphs of a new model are made first, which takes some seconds and gives a `RuntimeNotice`.
    Every other choice, and every failure, leads to `nets.runtimes.net_evaluator.NetEvaluator` with torch.

    Raises `CheckpointError`, also for rules that the model does not play, `DeviceError` for a device that is not
    there, whatever runs the nets, and `RuntimeUnavailableError` for a precision that no runtime here has.
    """
    path, choice = model_file(path, rules), choice or default_runtime()
    if choice.device not in (AUTO_DEVICE, CPU_DEVICE):
        best_device(choice.device)
    if choice.runs_in_kernels(read_info(path).net):
        from nets.runtimes.lines import LineRuntime

        if choice.precision not in (Precision.AUTO, Precision.INT16):
            text = "line-pattern nets run in int16 on numba; --backend torch runs them in fp32"
            warnings.warn(text, RuntimeNotice, stacklevel=2)
        arrays, info = load_arrays(path, rules)
        lines = LineRuntime(info.net, info.rules, arrays, shared=path in BUILT_IN.values())
        return RuntimeEvaluator(lines, info.net, info.rules.cells, lines.version, repeatable=True)
    on_cpu = choice.device == CPU_DEVICE or not may_have_gpu()
    if choice.backend is Backend.OPENVINO or (choice.backend is Backend.AUTO and on_cpu):
        evaluator = _open_graphs(path, choice.precision, rules)
        if evaluator is not None:
            return evaluator
    from nets.runtimes.net_evaluator import NetEvaluator

    return NetEvaluator(load_model(path, rules)[0], choice, repeatable=True)


def _open_graphs(path: Path, precision: Precision, rules: Rules | None) -> RuntimeEvaluator | None:
    """Return None if torch has to run the model or to report the error."""
    if precision in (Precision.FP16, Precision.INT16):
        return None
    info = read_info(path)
    rules = rules or info.rules
    if not info.plays(rules):
        return None
    # Imported here, since a run on torch or a GPU needs neither OpenVINO nor its saved graphs.
    from nets.runtimes.openvino import OpenVino, OpenVinoRuntime
    from nets.runtimes.saved_graphs import can_be_saved, graphs_path, make_graphs, read_graphs

    try:
        openvino = OpenVino(precision)
        kept = graphs_path(path, rules, openvino)
        found = read_graphs(kept, openvino)
        if found is None and can_be_saved(kept, path):
            check_model(path)
            if not has_noticed():  # a damaged file
                warnings.warn(f"preparing {path.name} for OpenVINO, once, which takes some seconds", RuntimeNotice, 3)
            found = read_graphs(kept, openvino) if make_graphs(path, rules, openvino.precision) else None
        if found is None:
            return None
        graphs, version = found
        runtime = OpenVinoRuntime(openvino, graphs, info.net.planes)
    except (OSError, RuntimeUnavailableError):
        return None
    return RuntimeEvaluator(runtime, info.net, rules.cells, version, repeatable=True)
