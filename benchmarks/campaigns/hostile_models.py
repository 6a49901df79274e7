"""Cost of hostile model files.

Crafted model files are given to `gomoku info` and `gomoku evaluate` in this process. A file must be refused with one
line that names it, the documented exit code and no traceback. It may cost its own size plus 100 MB of memory, and a
refusal 1 s of processor time. `readers` damages good models at random.
"""

import argparse
import faulthandler
import io
import json
import os
import struct
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.campaigns.fuzz_readers import memory_bytes
from benchmarks.measuring import Fault, show
from core.input_limits import MAX_MODEL_BYTES, MAX_MODEL_HEADER_BYTES
from core.rules import Rules
from gomoku_cli import app
from nets.checkpoint import FORMAT
from nets.config import NetConfig
from nets.shapes import tensor_types
from search.tree.settings import SearchSettings

NET = NetConfig.tower(4, 1, hidden=4)
RULES = Rules(9, 5)
BAD_DATA, USAGE = 3, 2
MEMORY_BYTES = 100 << 20
SECONDS = 1.0
TIMEOUT_S = 120.0
Json = Any


@dataclass(frozen=True, kw_only=True)
class Case:
    """A crafted model file; each part replaces that of a good one."""

    net: Json = None
    rules: Json = None
    made: Json = None
    texts: dict[str, Json] | None = None
    """Metadata as it is written."""
    tensors: Callable[[dict[str, Json], bytearray], object] | None = None
    """Changes the entries of the header, and the data."""
    raw: Callable[[Path], object] | None = None
    """Writes the file itself."""
    fits: bool = False
    """Give it the tensors that `net` and `rules` need."""
    code: int = BAD_DATA
    plays: bool = False
    """`evaluate` may play the model or refuse it: its preparation costs as much as that of any new model."""
    evaluate: int | None = None
    """Exit code of `evaluate`; None for `code`."""


def good_parts(net: NetConfig, rules: Rules) -> tuple[dict[str, Json], bytearray]:
    """Return the header's tensors of a good model, and its data: small weights."""
    tensors: dict[str, Json] = {}
    data = bytearray()
    random = np.random.default_rng(0)
    for name, kind in tensor_types(net, rules).items():
        start = len(data)
        if kind.dtype == "F32":
            weights = random.uniform(-0.1, 0.1, kind.size) if "running_var" not in name else np.ones(kind.size)
            data += weights.astype("<f4").tobytes()
        else:
            data += bytes(8 * kind.size)
        tensors[name] = {"dtype": kind.dtype, "shape": list(kind.shape), "data_offsets": [start, len(data)]}
    return tensors, data


def write(case: Case, path: Path) -> None:
    """Write the file of a case."""
    if case.raw is not None:
        case.raw(path)
        return
    net = {**asdict(NET), **(case.net or {})} if isinstance(case.net, dict | None) else case.net
    rules = case.rules if case.rules is not None else asdict(RULES)
    made = case.made if case.made is not None else {"search": asdict(SearchSettings(simulations=8))}
    fitting = (NetConfig(**net), Rules(**rules)) if case.fits else (NET, RULES)
    tensors, data = good_parts(*fitting)
    if case.tensors is not None:
        case.tensors(tensors, data)
    texts = {"format": FORMAT, "net": json.dumps(net), "rules": json.dumps(rules), "made": json.dumps(made)}
    header = json.dumps({"__metadata__": texts | (case.texts or {}), **tensors}).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + data)


def search(**values: Json) -> dict[str, Json]:
    """Return the origin of a model with changed settings of its search."""
    return {"search": {**asdict(SearchSettings(simulations=8)), **values}}


def first(**values: Json) -> Callable[[dict[str, Json], bytearray], object]:
    """Return a change of the first tensor's entry."""
    return lambda tensors, _: tensors[next(iter(tensors))].update(values)


def all_weights(number: float) -> Callable[[dict[str, Json], bytearray], object]:
    """Return a change of all weights to a number."""

    def change(tensors: dict[str, Json], data: bytearray) -> None:
        for entry in tensors.values():
            start, end = entry["data_offsets"]
            if entry["dtype"] == "F32":
                data[start:end] = np.full((end - start) // 4, number, "<f4").tobytes()

    return change


def many(count: int) -> Callable[[dict[str, Json], bytearray], object]:
    """Return a change that adds empty tensors."""

    def change(tensors: dict[str, Json], data: bytearray) -> None:
        tensors.update({f"t{n}": {"dtype": "F32", "shape": [0], "data_offsets": [len(data)] * 2} for n in range(count)})

    return change


def sparse(size: int, start: bytes = b"") -> Callable[[Path], object]:
    """Return a writer of a file with a hole."""

    def write_it(path: Path) -> None:
        with path.open("wb") as file:
            file.write(start)
            file.truncate(size)

    return write_it


def cut(path: Path) -> None:
    """Write the first half of a good file."""
    write(Case(), path)
    os.truncate(path, path.stat().st_size // 2)


HEADER_OF = struct.Struct("<Q").pack

CASES: dict[str, Case] = {
    "filters 12,000": Case(net={"trunk": ["conv3-12000"]}),
    "10^6 blocks": Case(net={"trunk": ["conv3-4", "residual*1000000"]}),
    "10^18 blocks": Case(net={"trunk": ["conv3-4", f"residual*{10**18}"]}),
    "hidden layers on 25x25": Case(
        net={"value_head": ["conv1-1024", "linear-1024", "linear"]}, rules={"size": 25, "connect": 5}
    ),
    "the largest net by its limits": Case(net={"trunk": ["conv3-1024", "residual*127"]}),
    "a trunk of text": Case(net={"trunk": "conv3-32"}),
    "net is a list": Case(net=[1, 2, 3]),
    "rules are a list": Case(rules=[15, 5]),
    "a board of 10^9": Case(rules={"size": 10**9, "connect": 5}),
    "a long unknown setting": Case(net={"x" * 500_000: 1}),
    "Float8 tensors": Case(tensors=first(dtype="F8_E4M3")),
    "Float16 tensors": Case(tensors=first(dtype="F16")),
    "a tensor of no type": Case(tensors=first(dtype=None)),
    "a shape of 2^62 x 2^62": Case(tensors=first(shape=[2**62, 2**62])),
    "a shape of 10^5 dimensions": Case(tensors=first(shape=[2**62] * 40_000)),
    "a negative shape": Case(tensors=first(shape=[-4, -27])),
    "places beyond the file": Case(tensors=first(data_offsets=[2**40, 2**40 + 432])),
    "places of text": Case(tensors=first(data_offsets="0432")),
    "10^4 tensors": Case(tensors=many(10**4)),
    "10^6 tensors": Case(tensors=many(10**6)),
    "metadata 10^5 levels deep": Case(texts={"made": "[" * 10**5}),
    "header 10^6 levels deep": Case(raw=lambda path: path.write_bytes(HEADER_OF(10**6) + b"[" * 10**6)),
    "header of empty tables": Case(
        raw=lambda path: path.write_bytes(HEADER_OF(10**6) + b"[" + b"{}," * 333_332 + b"{}]")
    ),
    "an integer of 10^5 digits": Case(texts={"net": '{"filters": ' + "9" * 10**5 + "}"}),
    "metadata with NaN": Case(texts={"made": '{"results": {"elo": NaN}}'}),
    "made of 100 MB": Case(made={"config": "x" * 100_000_000}),
    "made is a list": Case(made=[1]),
    "results are a list": Case(made={"results": [1]}),
    "NaN weights": Case(tensors=all_weights(np.nan)),
    "infinite weights": Case(tensors=all_weights(np.inf)),
    "NaN weights of 80 MB": Case(net={"trunk": ["conv3-512", "residual*2"]}, fits=True, tensors=all_weights(np.nan)),
    "weights of 1e30": Case(tensors=all_weights(1e30), code=0, plays=True),
    "weights of -1": Case(tensors=all_weights(-1.0), code=0, plays=True),
    "simulations 10^12": Case(made=search(simulations=10**12), code=0, evaluate=BAD_DATA),
    "simulations of text": Case(made=search(simulations="8"), code=0, evaluate=BAD_DATA),
    "simulations 1.5": Case(made=search(simulations=1.5), code=0, evaluate=BAD_DATA),
    "c_puct 1e300": Case(made=search(c_puct=1e300), code=0, evaluate=BAD_DATA),
    "c_puct null": Case(made=search(c_puct=None), code=0, evaluate=BAD_DATA),
    "10^9 leaves in flight": Case(made=search(leaves_in_flight=10**9), code=0, evaluate=BAD_DATA),
    "virtual loss 2^62": Case(made=search(virtual_loss=2**62), code=0, evaluate=BAD_DATA),
    "an unknown search setting": Case(made=search(cache_megabytes=10**9), code=0, evaluate=BAD_DATA),
    "search is a list": Case(made={"search": [1]}),
    "cut short": Case(raw=cut),
    "empty": Case(raw=lambda path: path.write_bytes(b"")),
    "text": Case(raw=lambda path: path.write_text("this is no model")),
    "a header of 2^63 bytes": Case(raw=lambda path: path.write_bytes(HEADER_OF(2**63) + b"{}")),
    "a header of 400 MB": Case(raw=sparse(400_000_000, HEADER_OF(399_999_000))),
    "a long header": Case(made={"config": "x" * MAX_MODEL_HEADER_BYTES}),
    "a hole of 1 TB": Case(raw=sparse(1 << 40, HEADER_OF(2) + b"{}")),
    "a hole of the largest size": Case(raw=sparse(MAX_MODEL_BYTES, HEADER_OF(2) + b"{}")),
    "a pipe": Case(raw=os.mkfifo),
    "a link to itself": Case(raw=lambda path: path.symlink_to(path)),
    "a link to /dev/zero": Case(raw=lambda path: path.symlink_to("/dev/zero")),
    "a folder": Case(raw=Path.mkdir, evaluate=USAGE),
}


def command_fault(words: list[str], path: Path, allowed: set[int]) -> tuple[str, float]:
    """Run a command that reads a file; return the claims that it broke, and its seconds of processor time."""
    out, error = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    size = path.stat().st_size if path.is_file() else 0
    faulthandler.dump_traceback_later(TIMEOUT_S, exit=True)
    before, started = memory_bytes(), time.process_time()
    with redirect_stdout(out), redirect_stderr(error):
        code = app.run(words)
    seconds, taken = time.process_time() - started, memory_bytes(peak=True) - before
    faulthandler.cancel_dump_traceback_later()
    for stream in (out, error):
        stream.flush()
        stream.seek(0)
    said, lines = error.read(), []
    lines = [line for line in said.splitlines() if not line.startswith("note: ")]
    claims = {
        f"exit code {code}": code in allowed,
        "not one line": "Traceback" not in said and (code == 0 or len(lines) == 1),
        "the file is not named": code == 0 or path.name in said,
        "control characters": (said + out.read()).replace("\n", "").isprintable(),
        f"{taken >> 20:,} MB more": taken <= size + MEMORY_BYTES,
        f"{seconds:.1f} s": code == 0 or seconds <= SECONDS,
    }
    return "; ".join(claim for claim, holds in claims.items() if not holds), seconds


def rows(folder: Path, only: str) -> Iterator[dict[str, Any]]:
    """Yield the cost of each crafted file, and the claims that its commands broke."""
    play = ("--against", "random", "--games", "1", "--simulations", "8", "--quiet")
    good = folder / "good.safetensors"
    write(Case(), good)
    for words in (["info", str(good)], ["evaluate", str(good), *play]):
        for _ in range(2):  # the first time compiles the kernels and prepares the net
            fault, _ = command_fault(words, good, {0})
    if fault:
        raise Fault(f"a good model fails: {fault}")
    for number, (name, case) in enumerate(CASES.items(), 1):
        if only not in name:
            continue
        path = folder / f"{number:02}.safetensors"
        write(case, path)
        evaluate = {case.code if case.evaluate is None else case.evaluate} | ({0, BAD_DATA} if case.plays else set())
        info, info_s = command_fault(["info", str(path)], path, {case.code})
        played, play_s = command_fault(["evaluate", str(path), *play], path, evaluate)
        broken = "; ".join(each for each in (info, played) if each)
        yield {"file": f"{name:30}", "info, s": info_s, "evaluate, s": play_s, "faults": broken or "none"}
        if path.is_file() and not path.is_symlink():
            os.truncate(path, min(path.stat().st_size, 4 << 20))  # keeps the folder small


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--only", metavar="TEXT", default="", help="run the crafted files whose name has this text")


def run(arguments: argparse.Namespace) -> int:
    """Give the files to the commands; return 1 if one breaks a claim."""
    with tempfile.TemporaryDirectory() as folder:
        found = list(rows(Path(folder), arguments.only))
    show(found, arguments.json)
    return int(any(row["faults"] != "none" for row in found))
