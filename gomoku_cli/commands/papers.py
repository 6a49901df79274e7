"""`gomoku papers`: the claims of the papers, measured again."""

import json
from enum import StrEnum
from typing import Annotated

import typer

from gomoku_cli import options
from gomoku_cli.commands import help
from gomoku_cli.expansion import expand_options

NAME = "papers"
EXAMPLES = ("gomoku papers check", "gomoku papers check Y --seed 7 --json")

app = typer.Typer(cls=help.Group, help="Check claims of the three papers.", rich_markup_mode="rich")


class _Paper(StrEnum):
    A = "A"
    Y = "Y"
    S = "S"


@app.callback(invoke_without_command=True)
def command(context: typer.Context) -> None:
    """Check claims of the three papers."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command("check", cls=help.Command, epilog="[b]Examples[/b]\n  " + "\n  ".join(EXAMPLES))
@expand_options
def check(
    paper: Annotated[
        _Paper | None, typer.Argument(metavar="PAPER", case_sensitive=False, help="A, Y or S; all without.")
    ] = None,
    *,
    seed: Annotated[int, typer.Option("--seed", min=0, metavar="N", help="Seed of the games.")] = 2,
    runtime: options.RuntimeOptions,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Measure the claims again that need no training: numbers of parameters, and matches of built-in models.

    Each figure stands beside the paper's and that of our page. Exit code 4 if one differs from our page by more than
    chance explains in 99 of 100 cases. What takes a training is in docs/papers, with its commands.
    """
    from curriculum.arena.bars import Bar
    from curriculum.papers.claims import load_claims, measure
    from gomoku_cli.compilation import reporting_compilation
    from gomoku_cli.console import STDOUT
    from gomoku_cli.interruption import interruptible
    from gomoku_cli.matches import require
    from gomoku_cli.reports.terminal import table

    runtime.apply()
    with interruptible(quiet=quiet) as context, reporting_compilation(context.reporter):
        found = [measure(claim, seed, context) for claim in load_claims(paper)]
        if as_json:
            typer.echo(json.dumps({"seed": seed, "claims": [each.to_json() for each in found]}))
        else:
            rows = [
                (each.claim.paper, each.claim.text, each.claim.stated, each.claim.here, each.now, _VERDICT[each.agrees])
                for each in found
            ]
            STDOUT.print(table(("", "claim", "the paper", "here", "now", ""), rows, left=2))
    require([Bar(each.claim.text, each.claim.here, each.now, each.agrees) for each in found if not each.agrees])


_VERDICT = {True: "agrees", False: "DIFFERS"}
