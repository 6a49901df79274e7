"""`gomoku engine`: plays under a manager of the Gomocup world."""

from typing import Annotated

import typer

from curriculum.arena import player_names
from gomoku_cli import options
from nets.config import Backend, Precision

NAME = "engine"
EXAMPLES = (
    "gomoku engine",
    "gomoku engine --model default",
    "gomoku engine --model runs/mine --simulations 2000",
    "printf 'START 15\\nBEGIN\\n' | gomoku engine",
    "printf '#!/bin/sh\\nexec gomoku engine --model runs/mine\\n' > pbrain-mine",
    'c-gomoku-cli -engine name=a cmd="gomoku engine" -engine name=b cmd=./pbrain-other',
)


def command(
    model: options.Plays = player_names.MENTOR,
    simulations: Annotated[
        int | None,
        typer.Option(
            "--simulations",
            "-n",
            min=0,
            max=options.MAX_SIMULATIONS,
            metavar="N",
            help="New simulations a move, for players with a net.",
            show_default="as the time allows",
        ),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            "--seconds", metavar="S", help="Most seconds a move.", show_default="as much as the manager allows"
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", min=0, metavar="N", help="Of the moves of players that draw them.")
    ] = 0,
    backend: options.BackendChoice = Backend.AUTO,
    precision: options.PrecisionChoice = Precision.AUTO,
) -> None:
    """Play by the Gomocup (Piskvork) protocol on stdin and stdout, for managers, boards and tournaments.

    A manager that starts programs without options is given a script with the line; Piskvork names it pbrain-.

    The mentor plays, who is stronger than the built-in model at half a second a move and more; --model default is
    that model, and mentor:1 to mentor:4 are weaker. On boards that a model does not play the mentor plays. Run gomoku
    warmup once before the first game.
    """
    import math

    from gomoku_cli.gomocup.lines import LineReader
    from gomoku_cli.gomocup.process import Answers, end_on_signals, protocol_pipes, serve

    options.check_seconds(seconds, "--seconds")
    if model.startswith(f"{player_names.ENGINE}:"):
        raise typer.BadParameter(f"{model} is an engine itself", param_hint="--model")
    end_on_signals()
    with protocol_pipes() as (asked, answered):
        answers = Answers(answered)
        lines = LineReader(asked, leave=answers.leave)

        from gomoku_cli import __version__
        from gomoku_cli.gomocup.clock import UNSAID_S, Clock
        from gomoku_cli.gomocup.engine import Engine
        from gomoku_cli.gomocup.seats import ModelSeats
        from gomoku_cli.runtime import choose_runtime, notices_to

        choose_runtime(backend, precision)
        seats = ModelSeats(model, simulations=simulations)
        # A number of simulations is made to its end unless the manager says how long a move may take.
        unsaid_s = seconds or (UNSAID_S if simulations is None else math.inf)
        engine = Engine(
            seats,
            about=f'name="gomoku", version="{__version__}", author="the gomoku developers"',
            clock=Clock(unsaid_s=unsaid_s, max_s=seconds or math.inf),
            seed=seed,
            hurry=lambda: simulations is None and lines.over,
        )
        with notices_to(seats.notes.append):
            serve(engine, lines, answers)
        answers.leave()  # an ordinary exit of Python may take longer than a manager waits
