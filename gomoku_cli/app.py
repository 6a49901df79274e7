"""The `gomoku` command: its subcommands, and the report of errors."""

import difflib
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from gomoku_cli import __version__
from gomoku_cli.commands import help
from gomoku_cli.commands.table import commands
from gomoku_cli.exit_codes import ExitCode, for_error
from gomoku_cli.notices import notices_to, print_notice
from gomoku_cli.printable import error_message, shown

_OTHER_WORDS = {
    "rule": ("--variant",),
    "rules": ("--variant",),
    "color": ("--colour",),
    "side": ("--colour",),
    "time": ("--seconds",),
    "nodes": ("--simulations",),
    "playouts": ("--simulations",),
    "opponent": ("--against", "--model"),
    "engine": ("--player", "--model"),
    "difficulty": ("--level",),
    "out": ("--output",),
}
"""Options by words that people try for them; a command has some of these options."""


class _Gomoku(help.Group):
    """The command `gomoku`."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings | {"commands": commands()})


app = typer.Typer(
    name="gomoku",
    help="Train, measure and play a Gomoku AI from the terminal.",
    epilog="Every command names players the same way: [b]default[/b] and [b]paper[/b] (the built-in models), "
    "[b]level:1[/b] (a beginner) to [b]level:9[/b], a model file, a run folder (its best model), [b]random[/b], "
    "[b]mentor[/b], [b]mentor:1[/b] to [b]mentor:5[/b], [b]mentor:paper[/b], [b]pure-mcts:1000[/b], "
    "[b]engine:COMMAND[/b] (a program that speaks the Gomocup protocol).",
    cls=_Gomoku,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)


@app.callback(invoke_without_command=True)
def _top(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    if version:
        typer.echo(f"gomoku {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def _meant_options(typed: str, context: typer.Context) -> str:
    """Return the options that a mistaken one may mean: by another word, by a word of their names, or by letters."""
    options = [name for param in context.command.params for name in (*param.opts, *param.secondary_opts)]
    options = [name for name in options if name.startswith("--")]
    word = typed.lstrip("-")
    meant = (
        [name for name in _OTHER_WORDS.get(word, ()) if name in options]
        or [name for name in options if word in name.split("-")]
        or difflib.get_close_matches(typed, options, n=2, cutoff=0.7)
    )
    if meant:
        return f"did you mean {' or '.join(meant)}?"
    behind = "those of a command stand after its name, and " if isinstance(context.command, help.Group) else ""
    return f"{behind}{context.command_path} --help lists all"


def _error_line(error: BaseException) -> str:
    """Return one line with the command and its error."""
    if isinstance(error, typer.exceptions.TyperException):
        # Words of pydantic, by which typer checks values.
        error.message = error.message.removeprefix("Value error, ").replace("Input should", "it must")
        error.message = error.message.partition(", unable to parse")[0]
        text = error.format_message()
        wrong: Any = error
        if hasattr(error, "possibilities"):  # an option that the command does not have
            text = f"there is no option {wrong.option_name}; {_meant_options(wrong.option_name, wrong.ctx)}"
        elif "extra argument" in text and wrong.ctx.info_name == "play":
            text += "; --load opens a game"
    else:
        text = error_message(error)
    context = getattr(error, "ctx", None)
    return f"{context.command_path if context is not None else 'gomoku'}: {shown(' '.join(text.split()))}"


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line `arguments` (None: this process's) and return the exit code.

    A user's mistake is one line on stderr; only a defect of the program raises an exception.
    """
    try:
        with notices_to(print_notice):
            return app(args=arguments, prog_name="gomoku", standalone_mode=False) or ExitCode.DONE
    except (Exception, typer.Abort) as error:
        code = for_error(error)
        if code is None:
            raise
        print(_error_line(error), file=sys.stderr)
        return code
