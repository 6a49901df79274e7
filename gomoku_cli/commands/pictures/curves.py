"""`gomoku curves`: the training curves of runs."""

from pathlib import Path
from typing import Annotated

import typer

from gomoku_cli import options
from gomoku_cli.expansion import refusing
from gomoku_cli.printable import print_result


def command(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN")],
    figure: options.Figure = None,
    as_json: options.Json = False,
) -> None:
    """Show the training curves of a run, or of several runs joined one after the other.

    Over the training steps: the losses of policy and value, and the entropy of the policy. Over the rounds of
    self-play: length and time of a game, Black's share of the wins, and the gates. A run may be in progress.

    Args:
        runs: Folders of runs, or of chains, in the order of training.

    Examples:
        gomoku curves runs/mine
        gomoku curves runs/mine --figure curves.svg
        gomoku curves runs/small runs/large --figure joined.png
    """
    from gomoku_cli.reports.curves import curves_of, show_curves
    from gomoku_cli.reports.plots import check_plot
    from gomoku_cli.reports.training.overview import runs_at

    check_plot(figure)
    curves = [curves_of(run) for run in runs_at(runs)]
    if figure is not None:
        from gomoku_cli.reports.curves_figure import draw_curves

        with refusing("RUN"):
            draw_curves(curves, figure)
    print_result({"runs": curves}, lambda: show_curves(curves), as_json=as_json)
