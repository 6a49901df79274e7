"""Conversion of a model to OpenVINO's graphs, with torch; as a program, of a model file to saved graphs."""

import sys
import warnings
from pathlib import Path
from typing import Any

import torch

from core.rules import Rules, Variant
from nets.checkpoint import load_model
from nets.config import Backend, Precision
from nets.dual import DualNet
from nets.runtimes.inference import PlanesNet, version_of
from nets.runtimes.openvino import OpenVino, unavailable_where_it_fails
from nets.runtimes.saved_graphs import graphs_path, write_graphs


def converted(model: DualNet, openvino: OpenVino) -> dict[str, Any]:
    """Return each net as a graph for `openvino`'s precision. Raises `RuntimeUnavailableError`."""
    return {name: _converted_net(model, name, openvino) for name in model.nets}


def _converted_net(model: DualNet, name: str, openvino: OpenVino) -> Any:
    with warnings.catch_warnings(), unavailable_where_it_fails():
        warnings.simplefilter("ignore")  # the tracer warns of its own deprecation
        net = PlanesNet(model, name, refined=openvino.precision is Precision.BF16).eval()
        shape = (model.rules.size, model.rules.size, net.planes)
        graph = openvino.module.convert_model(net, example_input=torch.zeros(2, *shape))
        graph.reshape([-1, *shape])  # the number of positions stays open
        return openvino.with_input(graph)


def main(path: Path, precision: Precision, rules: Rules) -> bool:
    """Save a model file's graphs for some rules; return True on success.

    Raises `CheckpointError`, `RuntimeUnavailableError`, and `OSError` if the model file cannot be read.
    """
    openvino = OpenVino(precision)
    kept = graphs_path(path, rules, openvino)
    model, _ = load_model(path, rules)
    graphs = converted(model, openvino)
    if graphs_path(path, rules, openvino) != kept:
        raise RuntimeError(f"{path} was overwritten during the conversion")
    return write_graphs(kept, openvino, graphs, version_of(model, Backend.OPENVINO, openvino.precision))


def parsed_rules(size: str, connect: str, variant: str) -> Rules:
    """Return the rules that `nets.runtimes.saved_graphs.make_graphs` wrote as arguments."""
    return Rules(int(size), int(connect), Variant(variant))


if __name__ == "__main__":
    sys.exit(not main(Path(sys.argv[1]), Precision(sys.argv[2]), parsed_rules(*sys.argv[3:6])))
