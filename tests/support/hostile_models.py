"""Hostile model files: a good one whose parts are changed one by one, and the words of their refusals."""

import json
import struct
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from core.input_limits import MAX_FILTERS, MAX_LAYERS, MAX_MODEL_HEADER_BYTES, MAX_PARAMETERS
from core.rules import Rules
from nets.checkpoint import FORMAT
from nets.config import NetConfig
from nets.shapes import tensor_types

NET = NetConfig.tower(2, 1, hidden=2)
RULES = Rules(7, 4)


class File:
    """The parts of a model file, to be changed one by one."""

    def __init__(self) -> None:
        self.net: Any = asdict(NET)
        self.rules: Any = asdict(RULES)
        self.made: Any = {}
        self.texts: dict[str, Any] = {}
        """Metadata as written, in place of the JSON of `net`, `rules` and `made`."""
        self.tensors: dict[str, Any] = {}
        self.data = bytearray()
        for name, kind in tensor_types(NET, RULES).items():
            start = len(self.data)
            self.data += bytes(kind.size * (4 if kind.dtype == "F32" else 8))
            offsets = [start, len(self.data)]
            self.tensors[name] = {"dtype": kind.dtype, "shape": list(kind.shape), "data_offsets": offsets}
        self.first = next(iter(self.tensors))

    def write(self, path: Path) -> Path:
        """Write the file; return its path."""
        named = {"net": self.net, "rules": self.rules, "made": self.made}
        metadata = {"format": FORMAT, **{name: json.dumps(value) for name, value in named.items()}, **self.texts}
        header = json.dumps({"__metadata__": metadata, **self.tensors}).encode()
        path.write_bytes(struct.pack("<Q", len(header)) + header + self.data)
        return path


def change(**parts: Any) -> Callable[[File], None]:
    """Return a change of parts."""

    def apply(file: File) -> None:
        for name, value in parts.items():
            setattr(file, name, value)

    return apply


def change_net(**values: Any) -> Callable[[File], None]:
    """Return a change of the net's settings."""
    return lambda file: file.net.update(values)


def change_first(**values: Any) -> Callable[[File], None]:
    """Return a change of the first tensor's entry."""
    return lambda file: file.tensors[file.first].update(values)


def nan_in_the_last_tensor(file: File) -> None:
    """Make the last weight no number."""
    file.data[-4:] = np.float32("nan").tobytes()


def many_tensors(file: File) -> None:
    entry = {"dtype": "F32", "shape": [0], "data_offsets": [len(file.data)] * 2}
    file.tensors.update({f"t{number}": entry for number in range(10_000)})


def one_over_the_other(file: File) -> None:
    for entry in file.tensors.values():
        entry |= {"data_offsets": [0, 8]} if entry["dtype"] == "I64" else {}


WIDE = {**asdict(NET), "value_head": ["conv1-1024", "linear-1024", "linear"]}
TOO_MANY = f"parameters; the limit is {MAX_PARAMETERS:,}"
HOSTILE: dict[str, tuple[Callable[[File], object], str]] = {
    "filters": (change_net(trunk=["conv3-12000"]), f"it must be from 1 to {MAX_FILTERS:,}"),
    "blocks": (change_net(trunk=["conv3-4", "residual*1000000"]), f"1 to {MAX_LAYERS} layers"),
    "10^18 blocks": (change_net(trunk=["conv3-4", f"residual*{10**18}"]), "valid are conv3-32"),
    "largest layers": (change_net(trunk=["conv3-1024", "residual*127"]), TOO_MANY),
    "a board of 10^9": (change(rules={"size": 10**9, "connect": 5}), "board size 1000000000 is outside 3 to 25"),
    "a long unknown setting": (change_net(**{"x" * 500_000: 1}), r"xxx\.\.\."),
    "hidden layers": (change(net=WIDE, rules={"size": 25, "connect": 5}), TOO_MANY),
    "deep metadata": (change(texts={"made": "[" * 100_000}), "nested more than"),
    "deep net": (change(texts={"net": '{"a":' * 100_000}), "nested more than"),
    "digits": (change(texts={"net": '{"filters": ' + "9" * 5_000 + "}"}), "a number above the limit"),
    "no number": (change(texts={"made": '{"results": {"elo": NaN}}'}), "not finite"),
    "metadata of numbers": (change(texts={"made": 3}), "its metadata is no text"),
    "rules of another kind": (change(rules=[3, 3]), "rules is no table"),
    "net of another kind": (change(net="net"), "net is no table"),
    "planes of another kind": (change_net(planes=["own"]), "describes no net"),
    "results of another kind": (change(made={"results": [1]}), "results is no table"),
    "search of another kind": (change(made={"search": 3}), "search is no table"),
    "eight bits": (change_first(dtype="F8_E4M3"), "tensors are of type F32 or I64 or F16"),
    "type of another kind": (change_first(dtype=["F32"]), "tensors are of type F32 or I64 or F16"),
    "shape of another kind": (change_first(shape={"a": 1}), "no valid shape"),
    "negative shape": (change_first(shape=[-1, -18]), "no valid shape"),
    "many dimensions": (change_first(shape=[2**62] * 1_000), "no valid shape"),
    "huge shape": (change_first(shape=[2**62, 2**62]), "do not fit its shape"),
    "places beyond the file": (change_first(data_offsets=[2**40, 2**40 + 4 * 54]), "overlap or leave gaps"),
    "places one over the other": (one_over_the_other, "overlap or leave gaps"),
    "no places": (change_first(data_offsets=None), "no valid shape and place"),
    "tensor of another kind": (lambda file: file.tensors.update({file.first: 3}), "no table of tensors"),
    "many tensors": (many_tensors, "10000 tensors that the net lacks"),
    "swapped types": (
        lambda file: file.tensors["black.trunk.0.conv.bias"].update(dtype="I64", shape=[1]),
        r"black\.trunk\.0\.conv\.bias is I64 \(1,\) where the net has F32 \(2,\)",
    ),
    "lacking tensors": (change_net(trunk=["conv3-2", "residual*2"]), "lacks"),
    "tensors of another board": (change(rules={"size": 9, "connect": 5}), "where the net has"),
    "rules of another type": (change(rules={"size": 7.0, "connect": 4}), "describes no net"),
    "origin of another kind": (change(made=["a list"]), "describes no net"),
    "more bytes": (lambda file: file.data.extend(b"more"), "longer than its tensors"),
    "no finite number": (nan_in_the_last_tensor, r"linear\.bias holds numbers that are not finite"),
    "long header": (change(made={"config": "x" * MAX_MODEL_HEADER_BYTES}), f"the limit is {MAX_MODEL_HEADER_BYTES:,}"),
}
