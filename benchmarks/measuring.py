"""The common parts of all benchmarks: options, errors, and one way to print figures and progress."""

import argparse
import json
import shlex
import statistics
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import typer

from core.errors import FailedError, UserError
from gomoku_cli.exit_codes import for_error
from gomoku_cli.notices import notices_to, print_notice


class Fault(FailedError):
    """A program broke a promise, or a command cannot do its work; the message says why."""


def exit_code_of(command: Callable[[], int | None]) -> int:
    """Return the exit code of a command; an error that a user can understand is one line on stderr."""
    try:
        with notices_to(print_notice):
            return command() or 0
    except typer.Exit as end:
        return end.exit_code
    except Exception as error:
        code = for_error(error)
        if code is None:
            raise
        print(f"error: {error}", file=sys.stderr)
        return code


def parser_of(doc: str | None) -> argparse.ArgumentParser:
    """Return a parser of options with a module's docstring as its help, and `--json`."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    return parser


def run_one_of(doc: str | None, modules: Mapping[str, ModuleType]) -> int:
    """Run the module that the first argument names, by its `options(parser)` and `run(arguments)`; return its code."""
    parser = parser_of(doc)
    kinds = parser.add_subparsers(dest="what", required=True)
    for name, module in modules.items():
        kind = kinds.add_parser(
            name, description=module.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
        )
        module.options(kind)
        kind.set_defaults(run=module.run)
    arguments = parser.parse_args()
    return exit_code_of(lambda: arguments.run(arguments))


def model_file(text: str) -> Path:
    """Return the file of a model that an option names. Raises `ArgumentTypeError`."""
    from curriculum.arena.players import model_path
    from nets.checkpoint import read_info

    try:
        path = model_path(text) or Path(text)
        read_info(path)
    except (UserError, OSError) as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return path


def again() -> str:
    """Return the command line of this process, for whoever continues its work."""
    return shlex.join(["python", *sys.orig_argv[1:]])


def largest_memory_mb() -> int:
    """Return the most memory that this process has held, in MB."""
    import resource  # Windows has none

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit // 10**6


def spread(figures: Sequence[float]) -> dict[str, float]:
    """Return the median and the largest figure."""
    return {"median": statistics.median(figures), "max": max(figures)}


def show(rows: Iterable[Mapping[str, Any]], as_json: bool = False) -> None:
    """Print rows as they come: under the names of their columns, or as a line of JSON each."""
    head: list[str] = []
    for row in rows:
        if as_json:
            print(json.dumps(row), flush=True)
            continue
        texts = {name: _text(value) for name, value in row.items()}
        if list(texts) != head:
            head = list(texts)
            print("  ".join(name.rjust(len(texts[name])) for name in head))
        print("  ".join(text.rjust(len(name)) for name, text in texts.items()), flush=True)


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def progress(text: str) -> None:
    """Write a line about the work in progress to stderr."""
    print(text, file=sys.stderr, flush=True)
