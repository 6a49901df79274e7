"""`gomoku help`: the help of a command; and the classes that write it."""

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from gomoku_cli.expansion import help_of_field

_Function = TypeVar("_Function", bound=Callable[..., Any])

_VALUES = {bool: "", int: "N", Path: "FILE"}
"""Words of the help for the values of options by their types, where an option has none of its own; flags take none."""


class _NamedValues:
    """A command whose help has a word for the value of each option, and the docstrings of fields."""

    _explains = False

    def get_params(self, ctx: typer.Context) -> list[object]:
        """Return the parameters with the words of `_VALUES`; for the help and for completion they are explained."""
        params: list[object] = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            if (described := getattr(param, "type_descriptor", None)) is None:
                continue  # a typer before 0.29.1, as on a server without an installation: its help has fewer words
            if isinstance(param, TyperOption) and param.metavar is None:
                param.metavar = _VALUES.get(described.annotation)
            if isinstance(param, TyperOption | TyperArgument) and self._explains | ctx.resilient_parsing:
                param.help = param.help or help_of_field(described.parameter_info)
        return params

    def get_help(self, ctx: typer.Context) -> str:
        """Return the help, which reads the sources of options."""
        self._explains = True
        text: str = super().get_help(ctx)  # type: ignore[misc]
        return text


class Command(_NamedValues, TyperCommand):  # type: ignore[misc]
    """A subcommand of `gomoku`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse an empty path, which would be the current folder, as of a variable of the shell that is not set."""
        given: dict[str, Any] = {} if ctx.resilient_parsing else self.make_parser(ctx).parse_args(list(args))[0]
        rest: list[str] = super().parse_args(ctx, args)
        param: Any
        for param in self.params:
            value, typed = ctx.params.get(param.name), given.get(param.name)
            if (isinstance(value, Path) and typed == "") or (
                isinstance(value, list | tuple) and Path() in value and "" in (typed or ())
            ):
                raise typer.BadParameter("it is empty: is a variable of the shell not set?", ctx, param)
        return rest


def documented(function: Callable[..., object]) -> tuple[str, str]:
    """Return the help of a command and its end, the examples, from the docstring of its function.

    Its parameters get their help from there, the part `Args:`.
    """
    text, _, lines = (inspect.getdoc(function) or "").partition("\n\nExamples:\n")
    text, _, arguments = text.partition("\n\nArgs:\n")
    words = dict(re.findall(r"^    (\w+): (.*(?:\n {5}.*)*)", arguments, re.MULTILINE))
    for parameter in inspect.signature(function).parameters.values():
        for option in getattr(parameter.annotation, "__metadata__", ()) if parameter.name in words else ():
            option.help = " ".join(words[parameter.name].split())
    # The lines of a paragraph are those of the source, and no terminal has its width.
    return re.sub(r"(?<=\S)\n(?=\S)", " ", text), "\n  ".join(
        ("[b]Examples[/b]", *inspect.cleandoc(lines).splitlines())
    )


def group(function: Callable[[], None]) -> typer.Typer:
    """Return a command with subcommands, whose help is the docstring of `function`; without one it shows that."""
    app = typer.Typer(cls=Group, rich_markup_mode="rich")
    text, epilog = documented(function)

    @app.callback(invoke_without_command=True, help=text, epilog=epilog)
    def command(context: typer.Context) -> None:
        if context.invoked_subcommand is None:
            typer.echo(context.get_help())

    return app


def subcommand(app: typer.Typer, name: str | None) -> Callable[[_Function], _Function]:
    """Return a decorator that adds a command to a group."""

    def decorate(function: _Function) -> _Function:
        text, epilog = documented(function)
        return app.command(name, cls=Command, help=text, epilog=epilog)(function)

    return decorate


class Group(_NamedValues, TyperGroup):  # type: ignore[misc]
    """A command with subcommands."""


def command(
    context: typer.Context,
    name: Annotated[str | None, typer.Argument(metavar="COMMAND")] = None,
) -> None:
    """Show the help of a command, or the list of all.

    Args:
        name: A command of gomoku.

    Examples:
        gomoku help
        gomoku help train
    """
    parent = context.parent
    assert parent is not None
    group = parent.command
    assert isinstance(group, TyperGroup)
    if name is None:
        typer.echo(parent.get_help())
        return
    found = group.get_command(parent, name)
    if found is None:
        group.resolve_command(parent, [name])  # raises the error with the nearest names
        return
    with found.make_context(name, [], parent=parent, resilient_parsing=True) as inner:
        typer.echo(inner.get_help())
