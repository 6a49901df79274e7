"""Cost of hostile model files.

Crafted model files, those of the tests and larger ones, are given to `gomoku info` and `gomoku evaluate` in this
process. A file must be refused with one line that names it, the documented exit code and no traceback. It may cost its
own size plus 100 MB of memory, and a refusal 1 s of processor time. `readers` damages good models at random.
"""

import argparse
import faulthandler
import io
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
from core.input_limits import MAX_MODEL_BYTES
from gomoku_cli import app
from search.tree.settings import SearchSettings
from tests.support.hostile_models import HOSTILE, File, change, change_net

BAD_DATA, USAGE = 3, 2
MEMORY_BYTES = 100 << 20
SECONDS = 1.0
TIMEOUT_S = 120.0
HEADER_OF = struct.Struct("<Q").pack


@dataclass(frozen=True, kw_only=True)
class Case:
    """A crafted model file, and the exit codes of the commands that may follow."""

    apply: Callable[[File], object] | None = None
    """Changes a good file."""
    raw: Callable[[Path], object] | None = None
    """Writes the file itself."""
    info: int = BAD_DATA
    evaluate: tuple[int, ...] = (BAD_DATA,)

    def write(self, path: Path) -> None:
        """Write the file."""
        if self.raw is not None:
            self.raw(path)
        else:
            file = File()
            (self.apply or change())(file)
            file.write(path)


def search(**values: Any) -> Case:
    """Return a model with changed settings of its search."""
    settings = asdict(SearchSettings(simulations=8)) | values
    return Case(apply=change(made={"search": settings}), info=0)


def all_weights(number: float) -> Case:
    """Return a model whose weights are all a number: it may be played or refused."""

    def fill(file: File) -> None:
        for entry in file.tensors.values():
            start, end = entry["data_offsets"]
            if entry["dtype"] == "F32":
                file.data[start:end] = np.full((end - start) // 4, number, "<f4").tobytes()

    return Case(apply=fill, info=0, evaluate=(0, BAD_DATA))


def sparse(size: int, start: bytes = b"") -> Case:
    """Return a file with a hole."""

    def write_it(path: Path) -> None:
        with path.open("wb") as file:
            file.write(start)
            file.truncate(size)

    return Case(raw=write_it)


def million_tensors(file: File) -> None:
    """Add empty tensors to a file."""
    entry = {"dtype": "F32", "shape": [0], "data_offsets": [len(file.data)] * 2}
    file.tensors.update({f"t{number}": entry for number in range(10**6)})


def cut(path: Path) -> None:
    """Write the first half of a good file."""
    File().write(path)
    os.truncate(path, path.stat().st_size // 2)


CASES: dict[str, Case] = {
    **{name: Case(apply=apply) for name, (apply, _) in HOSTILE.items()},
    "10^18 blocks": Case(apply=change_net(trunk=["conv3-4", f"residual*{10**18}"])),
    "the largest net by its limits": Case(apply=change_net(trunk=["conv3-1024", "residual*127"])),
    "a board of 10^9": Case(apply=change(rules={"size": 10**9, "connect": 5})),
    "a long unknown setting": Case(apply=change_net(**{"x" * 500_000: 1})),
    "10^6 tensors": Case(apply=million_tensors),
    "made of 100 MB": Case(apply=change(made={"config": "x" * 100_000_000})),
    "header 10^6 levels deep": Case(raw=lambda path: path.write_bytes(HEADER_OF(10**6) + b"[" * 10**6)),
    "header of empty tables": Case(
        raw=lambda path: path.write_bytes(HEADER_OF(10**6) + b"[" + b"{}," * 333_332 + b"{}]")
    ),
    "infinite weights": Case(apply=all_weights(np.inf).apply),
    "weights of 1e30": all_weights(1e30),
    "weights of -1": all_weights(-1.0),
    "simulations 10^12": search(simulations=10**12),
    "simulations of text": search(simulations="8"),
    "simulations 1.5": search(simulations=1.5),
    "c_puct 1e300": search(c_puct=1e300),
    "c_puct null": search(c_puct=None),
    "10^9 leaves in flight": search(leaves_in_flight=10**9),
    "virtual loss 2^62": search(virtual_loss=2**62),
    "an unknown search setting": search(cache_megabytes=10**9),
    "cut short": Case(raw=cut),
    "empty": Case(raw=lambda path: path.write_bytes(b"")),
    "text": Case(raw=lambda path: path.write_text("this is no model")),
    "a header of 2^63 bytes": Case(raw=lambda path: path.write_bytes(HEADER_OF(2**63) + b"{}")),
    "a header of 400 MB": sparse(400_000_000, HEADER_OF(399_999_000)),
    "a hole of 1 TB": sparse(1 << 40, HEADER_OF(2) + b"{}"),
    "a hole of the largest size": sparse(MAX_MODEL_BYTES, HEADER_OF(2) + b"{}"),
    "a pipe": Case(raw=os.mkfifo),
    "a link to itself": Case(raw=lambda path: path.symlink_to(path)),
    "a link to /dev/zero": Case(raw=lambda path: path.symlink_to("/dev/zero")),
    "a folder": Case(raw=Path.mkdir, evaluate=(USAGE,)),
}


def command_fault(words: list[str], path: Path, allowed: tuple[int, ...]) -> tuple[str, float]:
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
    File().write(good)
    for words in (["info", str(good)], ["evaluate", str(good), *play]):
        for _ in range(2):  # the first time compiles the kernels and prepares the net
            fault, _ = command_fault(words, good, (0,))
    if fault:
        raise Fault(f"a good model fails: {fault}")
    for number, (name, case) in enumerate(CASES.items(), 1):
        if only not in name:
            continue
        path = folder / f"{number:02}.safetensors"
        case.write(path)
        info, info_s = command_fault(["info", str(path)], path, (case.info,))
        played, play_s = command_fault(["evaluate", str(path), *play], path, case.evaluate)
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
