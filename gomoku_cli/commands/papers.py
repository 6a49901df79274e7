"""`gomoku papers`: the claims of the papers, measured again."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from gomoku_cli import options
from gomoku_cli.commands import help
from gomoku_cli.expansion import expand_options
from gomoku_cli.printable import print_result

if TYPE_CHECKING:
    from curriculum.papers.claims import Measured


@help.group
def app() -> None:
    """Check claims of the three papers.

    Examples:
        gomoku papers check
        gomoku papers check Y --seed 7 --json
    """


@help.subcommand(app, "check")
@expand_options
def check(
    paper: Annotated[Literal["A", "Y", "S"] | None, typer.Argument(metavar="PAPER", case_sensitive=False)] = None,
    *,
    seed: options.Seed = 2,
    runtime: options.RuntimeOptions,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Measure the claims again that need no training: numbers of parameters, and matches of built-in models.

    Each figure stands beside the paper's and that of our page. Exit code 4 if one differs from our page by more than
    chance explains in 99 of 100 cases. What takes a training is in docs/papers, with its commands.

    Args:
        paper: A, Y or S; all without.

    Examples:
        gomoku papers check
        gomoku papers check Y --seed 7 --json
    """
    from curriculum.arena.bars import Bar
    from curriculum.papers.claims import load_claims, measure
    from gomoku_cli.interruption import interruptible
    from gomoku_cli.matches import require
    from gomoku_cli.reports.terminal import print_table

    runtime.apply()
    with interruptible(quiet=quiet) as context:
        found: list[Measured] = []
        try:
            for claim in load_claims(paper):
                found.append(measure(claim, seed, context))
        finally:  # after Ctrl-C, the claims that are measured
            result = {"seed": seed, "claims": [each.to_json() for each in found]}
            columns = ("", "claim", "the paper", "here", "now", "")
            print_result(result, lambda: print_table(columns, map(_row, found), left=2), as_json=as_json)
    require([Bar(each.claim.text, each.claim.here, each.now, each.agrees) for each in found if not each.agrees])


def _row(found: "Measured") -> tuple[str, ...]:
    claim = found.claim
    return claim.paper, claim.text, claim.stated, claim.here, found.now, "agrees" if found.agrees else "DIFFERS"
