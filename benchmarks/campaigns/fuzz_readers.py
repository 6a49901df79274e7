"""Fuzzer of all readers: `python -m benchmarks.campaigns.fuzz_readers --inputs 1000000 --workers 2`.

Mutated files, arguments and lines go through the functions that the commands call. Each must be read, or refused with
an error of one printable line, within 2 s of CPU time and within 10 times its size plus 100 MB of memory; a good one
must be read back as it was. Prints a table, and exits with 1 if an input fails; failing inputs are kept in `--keep`.
Input N of a reader depends on the seed alone: `--readers NAME --only N` repeats it.
"""

import argparse
import faulthandler
import multiprocessing
import os
import random
import re
import resource
import sys
import tempfile
import time
import traceback
import warnings
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from queue import Empty
from typing import Any

from benchmarks.campaigns.readers import Reader, make_readers
from core.errors import UserError
from curriculum.run import folder as run_folder

_MAX_CPU_S = 2.0
_HANG_S = 120.0
"""Wall time after which a chunk hangs, on a busy machine too."""
_MAX_MEMORY, _MEMORY_FACTOR = 100 << 20, 10
_CHUNK = 100
"""Inputs between two looks at memory and two reports."""
_MAX_TRIES = 200
"""Attempts at a shorter input with the same failure."""
_MAX_MESSAGE = 1000
_ARGUMENTS = ("assignments", "players")
"""Readers of what the user has typed; their messages repeat it."""
_SHARED_MEMORY = Path("/dev/shm")


@dataclass(slots=True)
class Count:
    """Counts of the inputs of a reader, read and refused."""

    inputs: int = 0
    accepted: int = 0
    seconds: float = 0.0
    slowest_s: float = 0.0
    peak_bytes: int = 0

    def add(self, other: "Count") -> None:
        """Add the counts of a chunk."""
        self.inputs += other.inputs
        self.accepted += other.accepted
        self.seconds += other.seconds
        self.slowest_s = max(self.slowest_s, other.slowest_s)
        self.peak_bytes = max(self.peak_bytes, other.peak_bytes)


@dataclass(frozen=True, slots=True)
class Failure:
    """An input that failed."""

    reader: str
    number: int
    why: str
    data: bytes


def input_of(reader: Reader, seed: int, number: int) -> bytes:
    """Return input `number` of a reader."""
    return reader.inputs.draw(random.Random(f"{seed}/{reader.name}/{number}"))


def outcome(reader: Reader, data: bytes) -> tuple[bool, str | None]:
    """Give an input to its reader; return whether it was good, and its failure or None."""
    started = time.process_time()
    accepted, why = True, None
    try:
        reader.read(data)
    except (UserError, OSError) as error:
        accepted, message = False, str(error)
        if reader.name in _ARGUMENTS:
            pass
        elif isinstance(error, UserError) and not message.isprintable():
            why = f"its message is not one printable line: {message[:300]!r}"
        elif len(message) > _MAX_MESSAGE:
            why = f"its message has {len(message)} characters: {message[:200]!r}"
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        why = f"{type(error).__name__} at {Path(place.filename).name}:{place.lineno}: {str(error)[:300]!r}"
    if why is None and (seconds := time.process_time() - started) > _MAX_CPU_S:
        why = f"it took {seconds:.1f} s"
    return accepted, why


def shortened(reader: Reader, data: bytes, why: str) -> bytes:
    """Return a shorter input with the same failure, as far as a few attempts find one."""
    kind = why.partition(":")[0]
    tries, step = 0, len(data) // 2
    while step and tries < _MAX_TRIES and "took" not in why:
        at = 0
        while at < len(data) and tries < _MAX_TRIES:
            tries += 1
            shorter = data[:at] + data[at + step :]
            found = outcome(reader, shorter)[1]
            if found is not None and found.partition(":")[0] == kind:
                data = shorter
            else:
                at += step
        step //= 2
    return data


def _memory() -> tuple[int, int]:
    """Return the resident bytes and their peak since the last reset; zeros where the system does not show them."""
    try:
        status = Path("/proc/self/status").read_text()
        Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    except OSError:
        return 0, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    found = {key: int(kilobytes) << 10 for key, kilobytes in re.findall(r"(VmRSS|VmHWM):\s+(\d+)", status)}
    return found.get("VmRSS", 0), found.get("VmHWM", 0)


def run_chunk(reader: Reader, seed: int, numbers: range) -> tuple[Count, list[Failure]]:
    """Read the inputs of these numbers."""
    count, failures = Count(), []
    largest = 0
    before, _ = _memory()
    for number in numbers:
        data = input_of(reader, seed, number)
        largest = max(largest, len(data))
        started = time.perf_counter()
        accepted, why = outcome(reader, data)
        seconds = time.perf_counter() - started
        count.inputs += 1
        count.accepted += accepted and why is None
        count.seconds += seconds
        count.slowest_s = max(count.slowest_s, seconds)
        if why is not None:
            failures.append(Failure(reader.name, number, why, shortened(reader, data, why)))
    count.peak_bytes = max(0, _memory()[1] - before)
    if count.peak_bytes > _MAX_MEMORY and count.peak_bytes > _MEMORY_FACTOR * largest and len(numbers) > 1:
        count.peak_bytes = 0
        for number in numbers:  # to find the one
            data = input_of(reader, seed, number)
            before, _ = _memory()
            outcome(reader, data)
            taken = max(0, _memory()[1] - before)
            count.peak_bytes = max(count.peak_bytes, taken)
            if taken > _MAX_MEMORY + _MEMORY_FACTOR * len(data):
                failures.append(Failure(reader.name, number, f"it took {taken >> 20} MB for {len(data):,} bytes", data))
    return count, failures


def _work(seed: int, tasks: Any, reports: Any) -> None:
    """Read chunks until None comes."""
    faulthandler.enable()
    warnings.simplefilter("ignore")
    run_folder._commit = lambda: None  # git takes longer than all reading
    base = _SHARED_MEMORY if _SHARED_MEMORY.is_dir() else None
    with tempfile.TemporaryDirectory(dir=base, prefix="gomoku-fuzz-") as name:
        os.chdir(name)
        readers = {reader.name: reader for reader in make_readers(Path(name))}
        reports.put(("ready", None, None))
        while (task := tasks.get()) is not None:
            reader_name, numbers = task
            faulthandler.dump_traceback_later(_HANG_S, exit=True)
            count, failures = run_chunk(readers[reader_name], seed, numbers)
            faulthandler.cancel_dump_traceback_later()
            reports.put((reader_name, count, failures))
    reports.put(("end", None, None))


def chunks_of(readers: list[Reader], inputs: int) -> list[tuple[str, range]]:
    """Return the chunks of all readers, mixed so that every part of the run has inputs of each."""
    total = sum(reader.share for reader in readers)
    tasks = []
    for reader in readers:
        own = max(1, inputs * reader.share // total)
        starts = range(0, own, _CHUNK)
        tasks += [
            ((n + 0.5) / len(starts), reader.name, range(at, min(at + _CHUNK, own))) for n, at in enumerate(starts)
        ]
    return [(name, numbers) for _, name, numbers in sorted(tasks, key=lambda task: task[:2])]


def table(counts: dict[str, Count]) -> str:
    """Return the counts as lines of a table."""
    lines = [
        f"{'reader':16}{'inputs':>12}{'accepted':>11}{'refused':>12}{'slowest ms':>12}{'peak MB':>9}{'inputs/s':>10}"
    ]
    total = Count()
    for count in counts.values():
        total.add(count)
    for name, count in (*counts.items(), ("all", total)):
        rate = count.inputs / count.seconds if count.seconds else 0.0
        lines.append(
            f"{name:16}{count.inputs:12,}{count.accepted:11,}{count.inputs - count.accepted:12,}"
            f"{1000 * count.slowest_s:12.1f}{count.peak_bytes / 1e6:9.1f}{rate:10,.0f}"
        )
    return "\n".join(lines)


def main() -> int:
    """Run the campaign; return 1 if an input fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--readers", help="names with commas between them; all without")
    parser.add_argument("--only", type=int, help="one input by its number, of one reader")
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--keep", type=Path, default=Path("fuzz-failures"), help="folder of failing inputs")
    arguments = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        readers = make_readers(Path(folder))
        chosen = arguments.readers.split(",") if arguments.readers else [reader.name for reader in readers]
        readers = [reader for reader in readers if reader.name in chosen]
        if len(readers) != len(chosen):
            parser.error(f"there is no such reader among {arguments.readers}")
        if arguments.only is not None:
            data = input_of(readers[0], arguments.seed, arguments.only)
            print(f"{data[:500]!r}\n{outcome(readers[0], data)}")
            readers[0].read(data)
            return 0
    tasks = chunks_of(readers, arguments.inputs)
    spawn = multiprocessing.get_context("spawn")
    queue, reports = spawn.SimpleQueue(), spawn.Queue()
    workers = [spawn.Process(target=_work, args=(arguments.seed, queue, reports)) for _ in range(arguments.workers)]
    for worker in workers:
        worker.start()
    counts: dict[str, Count] = defaultdict(Count)
    failures: list[Failure] = []
    start = said = time.monotonic()
    sent = done = 0
    try:
        while done < sent or sent < len(tasks):
            late = time.monotonic() - start > 60 * arguments.minutes
            if late and done == sent:
                break
            while not late and sent < len(tasks) and sent - done < 2 * len(workers):
                queue.put(tasks[sent])
                sent += 1
            try:
                name, count, found = reports.get(timeout=1.0)
            except Empty:
                if any(worker.exitcode for worker in workers):
                    hung = tasks[done:sent]
                    print(f"a worker ended; its input is one of {hung} (seed {arguments.seed})")
                    return 1
                continue
            if count is None:
                continue
            done += 1
            counts[name].add(count)
            for failure in found:
                failures.append(failure)
                arguments.keep.mkdir(parents=True, exist_ok=True)
                kept = arguments.keep / f"{name.replace(' ', '-')}-{arguments.seed}-{failure.number}"
                kept.write_bytes(failure.data)
                again = f"--readers '{name}' --seed {arguments.seed} --only {failure.number}"
                print(f"{name}: {failure.why}; {kept}: {failure.data[:200]!r}\n  {again}", file=sys.stderr)
            if time.monotonic() > said + 10:
                said = time.monotonic()
                inputs = sum(count.inputs for count in counts.values())
                print(f"{inputs:,} inputs in {said - start:.0f} s, {len(failures)} failures", file=sys.stderr)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
    finally:
        for _ in workers:
            queue.put(None)
        for worker in workers:
            worker.join(10)
            if worker.is_alive():
                worker.terminate()
    print(table(counts))
    seconds = time.monotonic() - start
    print(f"{sum(count.inputs for count in counts.values()):,} inputs in {seconds:.0f} s; {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
