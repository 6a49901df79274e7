"""Options of commands: dataclasses of which Typer sees one parameter a field, and the files and packages they need."""

import functools
import inspect
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, get_type_hints

import typer

_HEAD = 1000
"""Bytes at the beginning of a file that tell its kind."""
_P = ParamSpec("_P")
_R = TypeVar("_R")


def expand_options(command: Callable[_P, _R]) -> Callable[..., _R]:
    """Return the command with every dataclass among its parameters replaced by the fields of that dataclass.

    Typer reads the fields as options: their `Annotated` types, defaults and order. The command itself receives the
    dataclasses. The docstring of a field is the help of its option (`help_of_field`), and a class may name a heading of
    its options there, `PANEL`. Raises `ValueError` if two fields have
    the same name.
    """
    groups: dict[str, type[Any]] = {}
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        group = parameter.annotation
        if isinstance(group, type) and is_dataclass(group):
            groups[parameter.name] = group
            parameters += _parameters(group)
        else:
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))

    @functools.wraps(command)
    def expanded(**values: Any) -> _R:
        made = {
            name: group(**{field.name: values.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
        }
        return command(**values, **made)  # type: ignore[call-arg]

    expanded.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    expanded.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return expanded


def _parameters(group: type[Any]) -> list[inspect.Parameter]:
    """Return a keyword-only parameter for each field of a dataclass, below its heading `PANEL` in the help."""
    types = get_type_hints(group, include_extras=True)
    for field in fields(group):
        for option in types[field.name].__metadata__:
            option.rich_help_panel = option.rich_help_panel or getattr(group, "PANEL", None)
            option.field = group, field.name
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=types[field.name],
        )
        for field in fields(group)
    ]


def help_of_field(option: Any) -> str | None:
    """Return the docstring of the field that an option stands for; None for an option of its own."""
    from core.docstrings import field_docstrings

    group, name = getattr(option, "field", (None, ""))
    return None if group is None else field_docstrings(group).get(name)


@contextmanager
def refusing(option: str) -> Iterator[None]:
    """Make a usage error about an option of a `ValueError` in this context."""
    try:
        yield
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=option) from error


def require(package: str, user: str, *, extra: str) -> None:
    """Raise a usage error if a package of an extra is missing that `user` needs: an option, or a kind of work."""
    try:
        import_module(package)
    except ImportError as error:
        raise typer.BadParameter(f"{user} needs {package}: {how_to_install(extra)}") from error


def how_to_install(extra: str) -> str:
    """Return the way to install an extra."""
    return f"install the extra {extra}, as in pip install '.[{extra}]' in the folder of gomoku"


def check_new(path: Path, option: str, *, force: bool) -> None:
    """Raise a usage error for an output that could not be written, or that exists, unless `force`."""
    from core.files.atomic import is_written_into

    check_output(path, option)
    if path.is_file() and not force and not is_written_into(path):
        raise typer.BadParameter(f"{path} exists; --force overwrites it", param_hint=option)


def check_remade(path: Path, option: str, report: bytes, remedy: str = "name another file") -> None:
    """Raise a usage error for a report that could not be written, or that would replace a file of another kind.

    `report`: a pattern for the beginning of reports, which are made anew, as an empty file is filled.
    """
    from core.files.atomic import is_written_into

    check_output(path, option)
    if path.is_file() and not is_written_into(path):
        with path.open("rb") as file:
            head = file.read(_HEAD)
        if head and not re.search(report, head):
            raise typer.BadParameter(f"{path} exists and is no report; {remedy}", param_hint=option)


def check_suffix(path: Path, suffixes: Sequence[str], option: str | None, problem: str = "must end in") -> None:
    """Raise a usage error for a file whose name has another ending."""
    if path.suffix.lower() not in suffixes:
        raise typer.BadParameter(f"{path} {problem} {' or '.join(suffixes)}", param_hint=option)


def check_folder(path: Path, option: str) -> None:
    """Raise a usage error if files could not be written into a folder, which is made then, before the work."""
    place = next(filter(Path.exists, (path, *path.parents)), path)
    if not place.is_dir():
        raise typer.BadParameter(f"{place} is no folder", param_hint=option)
    if not os.access(place, os.W_OK):
        raise typer.BadParameter(f"nothing can be written to {place}", param_hint=option)


def check_output(path: Path, option: str) -> None:
    """Raise a usage error if a file could not be written, before the work that would be lost."""
    from core.files.atomic import is_written_into

    if str(path) == "-":
        raise typer.BadParameter("- is not a file: name one", param_hint=option)
    if not path.parent.is_dir():
        raise typer.BadParameter(f"there is no folder {path.parent}", param_hint=option)
    if path.is_dir():
        raise typer.BadParameter(f"{path} is a folder", param_hint=option)
    # A new file takes the place of an old one, which only its own mode protects.
    is_protected = path.exists() and not os.access(path, os.W_OK)
    place = path if is_protected or is_written_into(path) else path.parent
    if not os.access(place, os.W_OK):
        raise typer.BadParameter(f"nothing can be written to {place}", param_hint=option)
