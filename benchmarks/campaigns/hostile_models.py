"""Cost of hostile model files.

Crafted model files are given to `gomoku info` and `gomoku evaluate`, each in a process of its own with a limit of time.
A file must be refused with one line that names it, the documented exit code and no traceback. Above a good small model
it may cost its own size plus 100 MB of memory and 1 s of processor time. `readers` damages good models at random.
"""

import argparse
import json
import os
import shlex
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measuring import show
from core.limits import MAX_MODEL_BYTES, MAX_MODEL_HEADER_BYTES
from core.rules import Rules
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


@dataclass(frozen=True)
class Cost:
    """The outcome of a command and of the processes that it started."""

    code: int
    seconds: float
    """Processor time, which other processes do not lengthen."""
    peak_bytes: int
    """Largest resident memory of one of them."""
    out: str
    error: str


# A small process measures: a child's largest memory begins at that of the process that started it.
LAUNCHER = """
import resource, subprocess, sys
try:
    code = subprocess.call(sys.argv[3:], timeout=float(sys.argv[2]))
except subprocess.TimeoutExpired:
    code = 124
used = resource.getrusage(resource.RUSAGE_CHILDREN)
with open(sys.argv[1], "w") as file:
    print(code, used.ru_utime + used.ru_stime, used.ru_maxrss, file=file)
"""


def run_command(command: list[str]) -> Cost:
    """Run a command with a limit of time; code 124 if it takes longer."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as error:
        figures = Path(folder) / "figures"
        launcher = [sys.executable, "-S", "-c", LAUNCHER, str(figures), str(TIMEOUT_S), *command]
        subprocess.run(launcher, stdin=subprocess.DEVNULL, stdout=out, stderr=error, check=True)
        code, seconds, kilobytes = figures.read_text(encoding="utf-8").split()
        texts = []
        for stream in (out, error):
            stream.seek(0)
            texts.append(stream.read(1 << 20).decode(errors="replace"))
    return Cost(int(code), float(seconds), int(kilobytes) * 1024, *texts)


def commands(path: Path) -> Iterator[list[str]]:
    """Yield the commands that read a model file."""
    gomoku = [sys.executable, "-m", "gomoku_cli"]
    yield [*gomoku, "info", str(path)]
    yield [*gomoku, "evaluate", str(path), "--against", "random", "--games", "1", "--simulations", "8", "--quiet"]


def faults(cost: Cost, base: Cost, code: int, size: int, path: Path) -> list[str]:
    """Return the claims that a command broke."""
    found = []
    if cost.code != code:
        found.append(f"exit code {cost.code} instead of {code}")
    lines = [line for line in cost.error.splitlines() if not line.startswith("note: ")]
    if "Traceback" in cost.error or (code and len(lines) != 1):
        found.append("not one line")
    if code and path.name not in cost.error:
        found.append("the file is not named")
    if any(letter != "\n" and not letter.isprintable() for letter in cost.error + cost.out):
        found.append("control characters")
    if cost.peak_bytes > base.peak_bytes + size + MEMORY_BYTES:
        found.append(f"{(cost.peak_bytes - base.peak_bytes) >> 20:,} MB more")
    if cost.seconds > base.seconds + SECONDS:
        found.append(f"{cost.seconds - base.seconds:.1f} s of processor time more")
    return found


def rows(folder: Path, only: str) -> Iterator[dict[str, Any]]:
    """Yield the cost of each crafted file, and the claims that its commands broke."""
    good = folder / "good.safetensors"
    write(Case(), good)
    bases = []
    for command in commands(good):
        run_command(command)  # compiles the kernels and prepares the net
        bases.append(run_command(command))
        if bases[-1].code:
            raise SystemExit(f"a good model fails: {shlex.join(command)}\n{bases[-1].error}")
    for number, (name, case) in enumerate(CASES.items(), 1):
        if only not in name:
            continue
        path = folder / f"{number:02}.safetensors"
        write(case, path)
        size = path.stat().st_size if path.is_file() else 0
        row: dict[str, Any] = {"file": f"{name:30}", "bytes": size}
        broken = []
        codes = (case.code, case.code if case.evaluate is None else case.evaluate)
        for command, base, code in zip(commands(path), bases, codes, strict=True):
            cost = run_command(command)
            if case.plays and command[3] == "evaluate" and cost.code in (0, BAD_DATA):
                code, base = cost.code, cost
            if found := faults(cost, base, code, size, path):
                broken.append(f"{'; '.join(found)}: {shlex.join(command)}: {cost.error[-500:]}")
            row |= {f"{command[3]}, s": cost.seconds, f"{command[3]}, MB": cost.peak_bytes >> 20}
        yield {**row, "faults": " ".join(broken) or "none"}
        if path.is_file() and not path.is_symlink():
            os.truncate(path, min(size, 4 << 20))  # keeps the folder small


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--only", metavar="TEXT", default="", help="run the crafted files whose name has this text")


def run(arguments: argparse.Namespace) -> int:
    """Give the files to the commands; return 1 if one breaks a claim."""
    broken = []

    def noted(found: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        for row in found:
            broken.extend([row["file"]] if row["faults"] != "none" else [])
            yield row

    with tempfile.TemporaryDirectory() as folder:
        show(noted(rows(Path(folder), arguments.only)), arguments.json)
    print(f"{len(broken)} failures")
    return int(bool(broken))
