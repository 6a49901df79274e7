"""Notices, such as that of a runtime that replaces a missing one, as lines for the user."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from core.errors import Notice


def print_notice(text: str) -> None:
    """Print `note: ...`, one line on stderr, above the progress bars."""
    from gomoku_cli.console import STDERR
    from gomoku_cli.printable import shown

    STDERR.print(f"note: {shown(text)}", markup=False, highlight=False, soft_wrap=True)


@contextmanager
def notices_to(print_line: Callable[[str], None]) -> Iterator[None]:
    """Call `print_line` once for each `Notice`, in place of Python's own warning.

    It is called on the warning thread.
    """
    printed: set[str] = set()

    def show(message: Warning | str, category: type[Warning], *place: Any, **others: Any) -> None:
        if not issubclass(category, Notice):
            before(message, category, *place, **others)
            return
        text = " ".join(str(message).split())
        if text not in printed:
            printed.add(text)
            print_line(text)

    with warnings.catch_warnings():
        before = warnings.showwarning
        warnings.showwarning = show
        warnings.simplefilter("always", Notice)
        yield
