"""Time to compile each kernel of a first start: `python -m benchmarks.kernels`.

It prepares a player as `gomoku engine` does before it answers START, on an empty cache of its own, in one process, and
prints the seconds of processor time that each function took: in numba's own passes (of which the inference of types),
and in LLVM's optimisation and translation. Functions without the latter are optimised within their callers. The
machine may be busy: the time is the processor's, though it grows by half or more beside other work.
"""

import os
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

from benchmarks.measuring import parser_of, progress, show

_STAGES = ("passes", "types", "optimise", "translate")


class _Clock:
    """Processor time, each moment of it counted for the innermost function and stage under way."""

    def __init__(self) -> None:
        self.seconds: dict[str, Counter[str]] = defaultdict(Counter)
        self._open: list[tuple[str, str]] = []
        self._since = 0.0

    def begin(self, stage: str, name: str | None = None) -> None:
        """Begin a stage, of the function under way without a name."""
        self._turn()
        self._open.append((name or (self._open[-1][0] if self._open else "numba"), stage))

    def end(self) -> None:
        """End the innermost stage."""
        self._turn()
        self._open.pop()

    def _turn(self) -> None:
        now = time.thread_time()
        if self._open:
            name, stage = self._open[-1]
            self.seconds[name][stage] += now - self._since
        self._since = now


def _measure(clock: _Clock) -> None:
    """Let the compiler of this process report to the clock."""
    from numba.core import event
    from numba.core.codegen import CPUCodeLibrary, JITCodeLibrary

    class Functions(event.Listener):
        def on_start(self, event: event.Event) -> None:
            function = event.data["dispatcher"].py_func
            clock.begin("passes", f"{function.__module__}.{function.__qualname__}{_numbers(event.data['args'])}")

        def on_end(self, event: event.Event) -> None:
            clock.end()

    class Passes(Functions):
        def on_start(self, event: event.Event) -> None:
            clock.begin("types" if event.data["name"].startswith("nopython_type_inference") else "passes")

    def timed(stage: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            clock.begin(stage)
            try:
                return method(*arguments)
            finally:
                clock.end()

        return call

    event.register("numba:compile", Functions())
    event.register("numba:run_pass", Passes())
    library: Any = CPUCodeLibrary
    library._optimize_final_module = timed("optimise", library._optimize_final_module)
    library._finalize_final_module = timed("translate", library._finalize_final_module)
    jit: Any = JITCodeLibrary
    jit._finalize_specific = timed("translate", jit._finalize_specific)


def _numbers(arguments: tuple[Any, ...]) -> str:
    """Return the types of the arguments that are numbers: those of arrays and tuples fill lines."""
    named = [str(argument) for argument in arguments if str(argument).count("(") == 0]
    return f" ({', '.join(named)})" if named else ""


def main() -> None:
    """Run the command line."""
    parser = parser_of(__doc__)
    parser.add_argument("--model", default="default", metavar="PLAYER", help="the engine's player (default)")
    parser.add_argument("--rows", type=int, default=40, metavar="N", help="slowest functions shown (40)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        clock = _Clock()
        _measure(clock)

        from core.rules import Rules
        from curriculum.bench.machine import machine
        from gomoku_cli.gomocup import players

        players.helper_for = lambda work: None  # type: ignore[assignment]
        started = time.process_time()
        players.EnginePlayers(options.model, simulations=None).prepare(Rules(15), None, float("inf"))
        total = time.process_time() - started
    progress(
        f"{total:.1f} s of processor time on {machine()}; {len(clock.seconds)} functions, numba's own ones among them"
    )
    slowest = sorted(clock.seconds.items(), key=lambda row: -row[1].total())
    sums = sum(clock.seconds.values(), Counter[str]())
    show(
        (
            {"seconds": stages.total(), **{stage: stages[stage] for stage in _STAGES}, "function": name}
            for name, stages in [*slowest[: options.rows], ("all", sums)]
        ),
        options.json,
    )


if __name__ == "__main__":
    main()
