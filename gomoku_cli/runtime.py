"""What runs the nets: as the options say, and a line to whoever asked for what cannot be had."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from nets.config import Backend, Precision, RuntimeChoice, RuntimeNotice, set_runtime


def choose_runtime(backend: Backend, precision: Precision) -> None:
    """Has this process run its nets so."""
    set_runtime(RuntimeChoice(backend=backend, precision=precision))


def print_notice(text: str) -> None:
    """`note: ...`, one line on stderr, above the bars if there are any."""
    from gomoku_cli.console import STDERR

    STDERR.print(f"note: {text}", markup=False, highlight=False, soft_wrap=True)


@contextmanager
def notices_to(tell: Callable[[str], None]) -> Iterator[None]:
    """Has `tell` say each `RuntimeNotice` once, on the thread that gave it, instead of Python's own warning."""
    told: set[str] = set()

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if not issubclass(category, RuntimeNotice):
            before(message, category, filename, lineno, file, line)
            return
        text = " ".join(str(message).split())
        if text not in told:
            told.add(text)
            tell(text)

    with warnings.catch_warnings():
        before = warnings.showwarning
        warnings.showwarning = show
        warnings.simplefilter("always", RuntimeNotice)
        yield
