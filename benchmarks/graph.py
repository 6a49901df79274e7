"""Speed of the nets' graph part by part, against the bare net: OpenVINO, one core a request.

    python -m benchmarks.graph [--model PLAYER] [--batches 1 8 128] [--rounds 15] [--nodes N] [--calls]

The table has positions a second on one core, and on each of two cores side by side, of
- the bare net: planes ready as float32, as the net comes;
- a search's evaluation of a batch: its planes written, its graph run, and the answers copied (`OpenVinoRuntime`);
- the graph alone; without what `nets.runtimes.precision.refine` changes; without the heads;
- positions in: the bare net with its planes made inside the graph.

Rates are medians of many short rounds, in which the parts take turns. The clock is the processor time of the thread,
so other processes count less. `--nodes` prints the time of each node of the graph for one batch size instead, `--calls`
the time of one call through Python's binding and through OpenVINO's C library.
"""

import argparse
import ctypes
import statistics
import tempfile
import time
import warnings
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from core.evaluation import PositionBatch
from curriculum.arena.players import model_path
from nets.blocks import channels_last, folded
from nets.checkpoint import load_model
from nets.config import PLANE_COUNT, Precision
from nets.dual import DualNet
from nets.runtimes.conversion import converted
from nets.runtimes.inference import InferenceNet, PlanesNet, example_positions
from nets.runtimes.openvino import OpenVino, OpenVinoRuntime
from nets.runtimes.runtime import Piece

_BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
_ROUND_S = 0.02
_NODE_RUNS = 200
_CALLS = 300
_CALL_ROUNDS = 15

Run = Callable[[], object]


class _Trunk(nn.Module):
    """A net up to its heads; the mean of the trunk is its output."""

    def __init__(self, net: nn.Module) -> None:
        super().__init__()
        self.trunk = net.trunk

    def forward(self, planes: Tensor) -> Tensor:
        """Return [B, C] for planes [B, D, D, P]."""
        result: Tensor = self.trunk(planes.permute(0, 3, 1, 2)).mean((2, 3))
        return result


def graph_of(openvino: OpenVino, module: nn.Module, *inputs: Tensor, narrow: bool = False) -> Any:
    """Return a module as a graph; `narrow`: with the input's number format of a search."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = openvino.module.convert_model(module, example_input=inputs if len(inputs) > 1 else inputs[0])
    made.reshape({index: [-1, *each.shape[1:]] for index, each in enumerate(inputs)})
    return openvino.with_input(made) if narrow else made


def graphs(openvino: OpenVino, model: DualNet) -> dict[str, Any]:
    """Return the graph of each measured part, with the model's first net."""
    name, size = next(iter(model.nets)), model.rules.size
    bare = channels_last(folded(model.nets[name])).requires_grad_(False).eval()
    plain = PlanesNet(model, name, refined=False).eval()
    refined = PlanesNet(model, name, refined=True).eval()
    planes, twice = torch.zeros(2, size, size, plain.planes), torch.zeros(2, size, size, refined.planes)
    return {
        "bare net": graph_of(openvino, bare, torch.zeros(2, PLANE_COUNT[model.config.planes], size, size)),
        "graph": converted(model, openvino)[name],
        "not refined": graph_of(openvino, plain, planes, narrow=True),
        "no heads": graph_of(openvino, _Trunk(refined.net), twice, narrow=True),
        "positions in": graph_of(openvino, InferenceNet(model, name).eval(), *example_positions(2, model.rules.cells)),
    }


def random_positions(count: int, cells: int) -> PositionBatch:
    """Return positions with random stones, black to move."""
    random, batch = np.random.default_rng(1), PositionBatch.empty(count, cells)
    batch.stones[:] = random.choice(np.array([0, 0, 0, -1, 1], np.int8), batch.stones.shape)
    batch.last_moves[:] = random.integers(0, cells, batch.last_moves.shape)
    return batch


def runs_of(compiled: Any) -> Run:
    """Return a run of a compiled graph; inputs of positions get random stones."""
    request = compiled.create_infer_request()
    tensors = request.input_tensors
    if len(tensors) > 1:
        count, cells = tensors[0].shape
        batch = random_positions(count, cells)
        for tensor, array in zip(tensors, (batch.stones, batch.to_move, batch.last_moves), strict=True):
            tensor.data[:] = array
    result: Run = request.infer
    return result


def evaluation(runtime: OpenVinoRuntime, net: str, batch: int, cells: int) -> Run:
    """Return a search's evaluation of a batch."""
    logits, values = np.empty((batch, cells), np.float32), np.empty(batch, np.float32)
    piece = Piece(np.arange(batch), random_positions(batch, cells), logits, values)
    return partial(runtime.evaluate, net, [piece])


def rate(run: Run, batch: int) -> float:
    """Return positions a second of processor time on this thread, over a short round."""
    runs, start, end = 0, time.thread_time(), time.perf_counter() + _ROUND_S
    while time.perf_counter() < end:
        run()
        runs += 1
    return batch * runs / (time.thread_time() - start)


def rates(pairs: dict[str, list[Run]], batch: int, rounds: int) -> dict[tuple[str, str], float]:
    """Return the median rates of each name's two equal runs, by cores and name: of one alone, and of both at once."""
    found: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    with ThreadPoolExecutor(2) as threads:
        for _ in range(rounds):
            for name, pair in pairs.items():
                found["one core", name].append(rate(pair[0], batch))
                found["each of two", name].append(statistics.mean(threads.map(rate, pair, (batch, batch))))
    return {key: statistics.median(each) for key, each in found.items()}


def print_table(openvino: OpenVino, model: DualNet, batches: list[int], rounds: int) -> None:
    """Print the rates of all parts."""
    parts, net = graphs(openvino, model), next(iter(model.nets))
    runtime = OpenVinoRuntime(openvino, converted(model, openvino), model.config.planes)
    rows: defaultdict[tuple[str, str], dict[int, float]] = defaultdict(dict)
    for batch in batches:
        pairs: dict[str, list[Run]] = {}
        for name, graph in parts.items():
            compiled = openvino.compiled(graph, batch)
            pairs[name] = [runs_of(compiled), runs_of(compiled)]
        if batch <= runtime.sizes[-1]:
            pairs["evaluation"] = [evaluation(runtime, net, batch, model.rules.cells) for _ in range(2)]
        for key, median in rates(pairs, batch, rounds).items():
            rows[key][batch] = median
    print("positions a second" + " " * 9 + "".join(f"{batch:>9}" for batch in batches))
    for cores, name in sorted(rows, key=lambda key: key[0], reverse=True):
        cells = "".join(
            f"{rows[cores, name][batch]:9,.0f}" if batch in rows[cores, name] else f"{'-':>9}" for batch in batches
        )
        print(f"{name + ', ' + cores:27}{cells}", flush=True)


def print_nodes(openvino: OpenVino, model: DualNet, batch: int) -> None:
    """Print the nodes of the searched graph, in the order of their run, with their median times."""
    request = openvino.compiled(graphs(openvino, model)["graph"], batch, PERF_COUNT=True).create_infer_request()
    times: defaultdict[tuple[int, str, str, str], list[float]] = defaultdict(list)
    for _ in range(_NODE_RUNS):
        request.infer()
        for index, node in enumerate(request.get_profiling_info()):
            key = (index, node.node_type, node.exec_type, node.node_name)
            times[key].append(node.real_time.total_seconds() * 1e6)
    print(f"microseconds of each node at batch {batch}")
    for (_, kind, kernel, name), spent in times.items():
        if statistics.median(spent) > 0:
            print(f"{statistics.median(spent):8.0f} {kind:16} {kernel:26} {name}")


def print_calls(openvino: OpenVino, model: DualNet) -> None:
    """Print the time of one call at batch 1 through Python's binding and through OpenVINO's C library."""
    graph = graphs(openvino, model)["graph"]
    ways = {"Python's binding": runs_of(openvino.compiled(graph, 1)), "C library": c_call(openvino, graph)}
    found: defaultdict[str, list[float]] = defaultdict(list)
    for _ in range(_CALL_ROUNDS):
        for name, run in ways.items():
            start = time.thread_time()
            for _ in range(_CALLS):
                run()
            found[name].append((time.thread_time() - start) / _CALLS * 1e6)
    for name, spent in found.items():
        print(f"{name:20}{statistics.median(spent):8.1f} microseconds a call")


def c_call(openvino: OpenVino, graph: Any) -> Run:
    """Return a run at batch 1 through OpenVINO's C library."""
    sized = graph.clone()
    sized.reshape([1, *list(graph.input(0).partial_shape)[1:]])
    library = ctypes.CDLL(str(next((Path(openvino.module.__file__).parent / "libs").glob("libopenvino_c.so*"))))
    core, compiled, request = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    options = (
        b"NUM_STREAMS",
        b"1",
        b"INFERENCE_NUM_THREADS",
        b"1",
        b"INFERENCE_PRECISION_HINT",
        openvino.hint.encode(),
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.xml"
        openvino.module.serialize(sized, path)
        failed = library.ov_core_create(ctypes.byref(core)) or library.ov_core_compile_model_from_file(
            core,
            str(path).encode(),
            b"CPU",
            ctypes.c_size_t(len(options)),
            ctypes.byref(compiled),
            *map(ctypes.c_char_p, options),
        )
    if failed or library.ov_compiled_model_create_infer_request(compiled, ctypes.byref(request)):
        raise RuntimeError("OpenVINO's C library failed")
    return partial(library.ov_infer_request_infer, request)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="paper", help="a model file, a run folder or `paper`")
    parser.add_argument("--batches", type=int, nargs="+", default=list(_BATCHES))
    parser.add_argument("--rounds", type=int, default=15, help="of 20 ms for each part and batch size")
    parser.add_argument("--nodes", type=int, metavar="N", help="print the nodes of a batch of N positions instead")
    parser.add_argument("--calls", action="store_true", help="print the time of a call instead")
    options = parser.parse_args()
    if (path := model_path(options.model)) is None:
        parser.error(f"{options.model} names no model")
    model = load_model(path)[0]
    openvino = OpenVino(Precision.AUTO)
    print(f"{openvino.core.get_property('CPU', 'FULL_DEVICE_NAME')}, {openvino.precision}")
    if options.nodes:
        print_nodes(openvino, model, options.nodes)
    elif options.calls:
        print_calls(openvino, model)
    else:
        print_table(openvino, model, options.batches, options.rounds)


if __name__ == "__main__":
    main()
