"""`gomoku engine`: an engine for managers that use the Gomocup protocol."""

from typing import Annotated

import typer

from core.input_limits import MAX_SIMULATIONS
from core.rules import Variant
from curriculum.arena import player_names
from gomoku_cli import __version__, match_options, options
from gomoku_cli.expansion import expand_options


@expand_options
def command(
    *,
    model: options.Plays = player_names.DEFAULT,
    simulations: Annotated[
        int | None, typer.Option("--simulations", "-n", min=0, max=MAX_SIMULATIONS, show_default="as the time allows")
    ] = None,
    seconds: Annotated[float | None, typer.Option(metavar="S", show_default="as much as the manager allows")] = None,
    variant: Annotated[Variant, typer.Option(case_sensitive=False)] = Variant.FREESTYLE,
    seed: options.Seed = 0,
    threads: Annotated[int | None, typer.Option(min=1, show_default="all cores")] = None,
    tactics: options.Tactics = True,
    book: match_options.BookFile = None,
    runtime: options.RuntimeOptions,
) -> None:
    r"""Play by the Gomocup (Piskvork) protocol on stdin and stdout, for managers, boards and tournaments.

    For a manager that starts programs without options, put the command line
    into a script; Piskvork requires that its name begins with pbrain-.

    By default the built-in model plays. --model mentor is the classical engine;
    mentor:1 to mentor:4 are weaker. On boards that a model does not play, the mentor
    plays. Run gomoku warmup once before the first game.

    Args:
        simulations: New simulations a move, for players with a net.
        seconds: Maximum seconds a move.
        variant: Rules until the manager sends INFO rule.
        threads: Maximum of threads.

    Examples:
        gomoku engine
        gomoku engine --model mentor
        gomoku engine --model runs/mine --simulations 2000
        gomoku engine --threads 1
        gomoku engine --variant renju
        printf 'START 15\nBEGIN\n' | gomoku engine
        printf '#!/bin/sh\nexec gomoku engine --model runs/mine\n' > pbrain-mine
        c-gomoku-cli -engine name=a cmd="gomoku engine" -engine name=b cmd=./pbrain-other
    """
    import math

    from gomoku_cli.gomocup.lines import LineReader
    from gomoku_cli.gomocup.process import Answers, end_on_signals, protocol_pipes, serve
    from gomoku_cli.gomocup.scheduling import wake_up_early

    options.check_seconds(seconds, "--seconds")
    if model.startswith(f"{player_names.ENGINE}:"):
        raise typer.BadParameter(f"{model} is an engine itself", param_hint="--model")
    end_on_signals()
    wake_up_early()
    with protocol_pipes() as (source, sink):
        answers = Answers(sink)
        lines = LineReader(source, leave=answers.leave)

        from gomoku_cli.gomocup.clock import DEFAULT_MOVE_S, Clock
        from gomoku_cli.gomocup.commands import Engine
        from gomoku_cli.gomocup.players import EnginePlayers
        from gomoku_cli.notices import notices_to

        runtime.apply()
        options.SearchOptions(simulations=simulations, tactics=tactics).check_effect(
            (model,), match_options.MatchOptions(book=book)
        )
        players = EnginePlayers(model, simulations=simulations, tactics=tactics, threads=threads, book=book)
        # A search with a number of simulations has no other limit unless the manager sets one.
        default_s = seconds or (DEFAULT_MOVE_S if simulations is None else math.inf)
        engine = Engine(
            players,
            about=f'name="gomoku", version="{__version__}", author="the gomoku developers"',
            clock=Clock(default_s=default_s, max_s=seconds or math.inf),
            variant=variant,
            seed=seed,
            hurry=lambda: simulations is None and lines.over,
            ahead=lines.ahead,
            tell=answers.write,
        )
        with notices_to(players.notes.append):
            serve(engine, lines, answers)
        answers.leave()  # an ordinary exit of Python may outlast the patience of a manager
