"""Model files from anyone: refused by their header, in one line, before torch or memory for their tensors is needed."""

import json
import os
import struct
import time
import tracemalloc
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.input_limits import MAX_MODEL_BYTES
from gomoku_cli.exit_codes import ExitCode
from nets.checkpoint import DEFAULT_MODEL, FORMAT, CheckpointError, check_model, load_model, read_info, save_model
from nets.config import NetConfig, Planes
from nets.dual import make_model
from nets.shapes import parameter_total, tensor_types
from nets.tensor_types import TensorType
from tests.support.commands import Capsys, refused
from tests.support.hostile_models import HOSTILE, NET, RULES, File, nan_in_the_last_tensor

ALL_LAYERS = NetConfig(
    trunk=("conv5-9-pad4", "conv3-6", "residual*2", "garb", "pool-2", "conv3-4-bare"),
    policy_head=("conv1-3", "linear-5", "linear"),
    value_head=("conv3-4", "max", "linear-3*2", "linear"),
    batch_norm=False,
)


@pytest.mark.parametrize("planes", Planes)
@pytest.mark.parametrize("net", [NET, ALL_LAYERS, NetConfig.tower(3, 0, policy_head=("conv1-1", "linear"), dual=False)])
def test_the_tensors_of_a_configuration_are_those_of_its_net(net: NetConfig, planes: Planes) -> None:
    net = NetConfig(**{**asdict(net), "planes": planes})
    model = make_model(net, RULES, 0)
    types = {torch_name: ("F32", "I64")[not tensor.is_floating_point()] for torch_name, tensor in state(model).items()}
    expected = {name: TensorType(types[name], tuple(tensor.shape)) for name, tensor in state(model).items()}
    assert tensor_types(net, RULES) == expected
    assert parameter_total(net, RULES) == sum(each.numel() for each in model.parameters())


def state(model: Any) -> dict[str, Any]:
    return {name.removeprefix("nets."): tensor for name, tensor in model.state_dict().items()}


def test_a_whole_file_is_read(tmp_path: Path) -> None:
    path = File().write(tmp_path / "whole.safetensors")
    assert read_info(path) == check_model(path) == load_model(path)[1]
    assert read_info(path).parameters == parameter_total(NET, RULES)


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_file_is_refused_in_one_line_at_the_cost_of_its_size(kind: str, tmp_path: Path) -> None:
    apply, complaint = HOSTILE[kind]
    file = File()
    apply(file)
    path = file.write(tmp_path / "hostile.safetensors")
    refused_cheaply(path, complaint)


def refused_cheaply(path: Path, complaint: str) -> None:
    """Check that a file is refused in one line, soon, at the cost of 50 MB at most."""
    started = time.process_time()
    with pytest.raises(CheckpointError, match=complaint):
        load_model(path)
    assert time.process_time() - started < 10.0
    tracemalloc.start()
    with pytest.raises(CheckpointError, match=complaint) as error:
        check_model(path)
    memory = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert str(path) in str(error.value)
    assert str(error.value).isprintable()
    assert memory < 50 << 20


@pytest.mark.parametrize(
    ("start", "size", "complaint"),
    [
        (b"", 0, "it was cut short"),
        (b"this is no model", 16, "it was cut short"),
        (struct.pack("<Q", 2**63) + b"{}", 10, "it was cut short"),
        (struct.pack("<Q", 399_999_000), 400_000_000, "its header is 399,999,000 bytes"),
        (struct.pack("<Q", 2) + b"{}", MAX_MODEL_BYTES, "longer than its tensors"),
        (struct.pack("<Q", 2) + b"{}", 1 << 40, f"it is 1,099,511,627,776 bytes; the limit is {MAX_MODEL_BYTES:,}"),
        (struct.pack("<Q", 10**6) + b"[" * 10**6, 8 + 10**6, "nested more than 64 levels"),
        (struct.pack("<Q", 10**6) + b"[" + b"{}," * 333_332 + b"{}]", 8 + 10**6, "no table of tensors"),
    ],
)
def test_a_file_of_anything_is_refused_by_its_header(start: bytes, size: int, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "sparse.safetensors"
    path.write_bytes(start)
    os.truncate(path, size)
    refused_cheaply(path, complaint)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes and links of POSIX")
def test_a_model_file_is_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for path in (tmp_path / "pipe", tmp_path / "loop", tmp_path, Path("/dev/zero"), tmp_path / "missing"):
        with pytest.raises(CheckpointError, match=str(path)):
            check_model(path)


def test_a_file_cut_short_while_it_is_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = File().write(tmp_path / "cut.safetensors")
    require = "nets.tensor_file.TensorFile.require"
    monkeypatch.setattr(require, lambda *_: os.truncate(path, path.stat().st_size - 10))
    with pytest.raises(CheckpointError, match="cut short while it was read"):
        check_model(path)


def test_any_flipped_bit_of_a_header_is_refused_or_harmless(tmp_path: Path) -> None:
    path = File().write(tmp_path / "flipped.safetensors")
    data = bytearray(path.read_bytes())
    random = np.random.default_rng(12)
    header = struct.unpack("<Q", data[:8])[0] + 8
    for place in random.integers(header * 8, size=300).tolist():
        data[place // 8] ^= 1 << place % 8
        path.write_bytes(data)
        data[place // 8] ^= 1 << place % 8
        try:
            check_model(path)
        except CheckpointError as error:
            assert "\n" not in str(error)


def test_the_built_in_model_is_whole(tmp_path: Path) -> None:
    model, info = load_model(DEFAULT_MODEL)
    assert check_model(DEFAULT_MODEL) == info
    save_model(tmp_path / "again.safetensors", model, info.made)
    assert load_model(tmp_path / "again.safetensors")[1].made == info.made


def doubled(header: bytes, text: str) -> bytes:
    """Return a header in which a part stands twice."""
    assert header.count(text.encode()) == 1
    return header.replace(text.encode(), text.encode() * 2)


@pytest.mark.parametrize("kind", ["tensor", "metadata", "field", "setting"])
def test_a_name_that_stands_twice_is_refused(kind: str, tmp_path: Path) -> None:
    file = File()
    path = file.write(tmp_path / "twice.safetensors")
    data = path.read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    header = data[8 : 8 + length]
    if kind == "tensor":
        entry = json.dumps({file.first: file.tensors[file.first]})[1:-1] + ", "
        header = doubled(header, entry)
    elif kind == "metadata":
        header = doubled(header, json.dumps({"format": FORMAT})[1:-1] + ", ")
    elif kind == "field":
        header = header.replace(b'{"dtype"', b'{"dtype": "F32", "dtype"', 1)
    else:
        header = header.replace(b'\\"size\\"', b'\\"size\\": 7, \\"size\\"', 1)
    assert len(header) > length
    path.write_bytes(struct.pack("<Q", len(header)) + header + data[8 + length :])
    for read in (read_info, check_model, load_model):
        with pytest.raises(CheckpointError, match="stands twice in an object"):
            read(path)


def test_info_refuses_weights_that_are_not_finite(tmp_path: Path, capsys: Capsys) -> None:
    file = File()
    nan_in_the_last_tensor(file)
    path = file.write(tmp_path / "nan.safetensors")
    for words in (("info", path), ("info", path, "--json")):
        assert "numbers that are not finite" in refused(capsys, ExitCode.BAD_DATA, *words)
