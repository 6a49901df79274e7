"""`gomoku openings`: balanced openings of games."""

import re
import shlex
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from core.input_limits import MAX_SIMULATIONS
from curriculum.arena import player_names
from gomoku_cli import options
from gomoku_cli.expansion import check_new, expand_options
from gomoku_cli.printable import echo, echo_json, printable
from search.tree.settings import Policy

if TYPE_CHECKING:
    from core.rules import Rules
    from curriculum.arena.balanced_openings import BalancedOpening

NAME = "openings"

_SIMULATIONS = 1600
"""Simulations an opening of a player with a net, where no other number is given."""
_STONES = re.compile(r"([0-9]{1,3})(?:-([0-9]{1,3}))?")


_Notation = Literal["cells", "offsets"]
_NOTES = {
    "cells": "column letter from the left, row from the bottom",
    "offsets": "columns to the right of the centre, rows below it",
}


def _evaluator(spec: str | None, rules: options.RulesOptions) -> tuple[str, "Rules"]:
    """Return the evaluating player and the rules: without a spec the built-in model, or the mentor on other boards."""
    from curriculum.arena.players import PlayerSpecError

    if spec is not None:
        return spec, rules.resolve((spec,))
    try:
        return player_names.DEFAULT, rules.resolve((player_names.DEFAULT,))
    except PlayerSpecError:
        return player_names.MENTOR, rules.resolve((player_names.MENTOR,))


def _stone_range(stones: str, rules: "Rules") -> tuple[int, int]:
    """Return the smallest and the largest number of stones in `--stones`. Raises a usage error."""
    match = _STONES.fullmatch(stones)
    smallest, largest = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
    if not 1 <= smallest <= largest:
        raise typer.BadParameter(f"{stones!r} is no range such as 2-8", param_hint="--stones")
    if smallest > rules.cells // 2:
        raise typer.BadParameter(f"{smallest} are more than half of the {rules.cells} cells", param_hint="--stones")
    return smallest, largest


def _text(found: Sequence["BalancedOpening"], rules: "Rules", arguments: Mapping[str, object], *flags: str) -> str:
    """Return the text of the file: a header with the command line, and one opening a line."""
    from core.records.openings import format_offsets, format_opening

    notation = str(arguments["notation"])
    words = (*(f"--{name}={value}" for name, value in arguments.items() if value is not None), *flags)
    lines = [
        f"# balanced openings, one a line, black first; {_NOTES[notation]}",
        f"# {printable(shlex.join(('gomoku', NAME, *words)))}",  # a line, whatever the player's file is called
    ]
    write = format_opening if notation == "cells" else format_offsets
    lines += [write(opening.moves, rules.size) for opening in found]
    return "\n".join(lines) + "\n"


def _print_json(
    output: Path, found: Sequence["BalancedOpening"], rules: "Rules", arguments: Mapping[str, object], seconds: float
) -> None:
    from core.notation import cell_name

    openings = [
        {"moves": [cell_name(cell, rules.size) for cell in opening.moves], "value": round(opening.value, 4)}
        for opening in found
    ]
    settings = {
        name.replace("-", "_"): arguments[name] for name in ("player", "simulations", "max-value", "games", "seed")
    }
    report = {"file": str(output), "rules": asdict(rules), **settings, "openings": openings}
    echo_json({**report, "seconds": round(seconds, 3)})


@expand_options
def command(
    *,
    output: Annotated[Path, typer.Option("--output", "-o", dir_okay=False)],
    count: Annotated[int, typer.Option(min=1)] = 50,
    stones: Annotated[str, typer.Option(metavar="N-N")] = "2-8",
    player: Annotated[
        str | None,
        typer.Option(
            **options.PLAYER,
            help=f"The player that evaluates the openings: {player_names.HELP}.",
            show_default="default, or mentor on a board that it does not play",
        ),
    ] = None,
    simulations: Annotated[
        int | None,
        typer.Option("--simulations", "-n", min=1, max=MAX_SIMULATIONS, show_default=str(_SIMULATIONS)),
    ] = None,
    tactics: options.Tactics = True,
    max_value: Annotated[float, typer.Option(min=0, max=0.5, metavar="X")] = 0.15,
    games: Annotated[int, typer.Option(min=0, max=100)] = 0,
    rules: options.RulesOptions,
    seed: options.Seed = 42,
    notation: Annotated[_Notation, typer.Option()] = "cells",
    force: Annotated[bool, typer.Option("--force", "-f")] = False,
    runtime: options.RuntimeOptions,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Make balanced openings, which are worth as much to Black as to White.

    A search evaluates random stones near each other. An opening is kept if nothing is decided yet and its value is near
    0. No two are the same turned or mirrored. The same seed gives the same file.

    Args:
        output: Save the openings here.
        count: Number of openings.
        stones: Stones of an opening: the smallest and the largest number.
        simulations: Simulations an opening, for players with a net. A first, short search takes a sixteenth of them.
        max_value: Largest distance of an opening's value from 0; 1 is a won game and -1 a lost one.
        games: Play so many games from each opening that is even by its value, with an eighth of the simulations a
            move, and keep it if their mean result is even too.
        notation: Notation of cells: h8 i9, or offsets from the centre: 0,0 1,-1.
        force: Overwrite the file if it exists.

    Examples:
        gomoku openings --output openings.txt
        gomoku openings --count 200 --stones 4-6 --max-value 0.1 --output even.txt
        gomoku openings --variant renju --games 4 --output renju.txt
        gomoku openings --board-size 19 --player mentor --output openings19.txt
    """
    from core.files.atomic import KeptElsewhereError, atomic_write_text, is_written_into, write_or_keep
    from curriculum.arena.balanced_openings import NoBalancedOpeningsError, balanced_openings, stages
    from curriculum.arena.players import settings_of
    from gomoku_cli.console import duration
    from gomoku_cli.interruption import interruptible

    check_new(output, "--output", force=force)
    runtime.apply()
    spec, common_rules = _evaluator(player, rules)
    options.SearchOptions(simulations=simulations, tactics=tactics).check_effect((spec,))
    if simulations is None and "simulations" in settings_of(spec):
        simulations = _SIMULATIONS
    search = options.SearchOptions(simulations=simulations, policy=Policy.DETERMINISTIC, tactics=tactics)
    stone_range = _stone_range(stones, common_rules)
    arguments = {
        "count": count,
        "stones": stones,
        "player": spec,
        "simulations": simulations,
        "max-value": max_value,
        "games": games,
        "board-size": common_rules.size,
        "connect": common_rules.connect,
        "variant": common_rules.variant,
        "seed": seed,
        "notation": notation,
    }
    flags = () if tactics else ("--no-tactics",)
    found: list[BalancedOpening] = []
    start = time.perf_counter()
    with interruptible(quiet=quiet) as context:
        batches = balanced_openings(
            common_rules,
            stages(spec, rules=common_rules, settings=search.player_settings(), games=games, stones=stone_range[1]),
            stones=stone_range,
            max_value=max_value,
            seed=seed,
            context=context,
        )
        try:
            with context.reporter.task("openings", count, "openings") as progress:
                while len(found) < count:
                    found += next(batches)[: count - len(found)]
                    progress.update(len(found))
        except NoBalancedOpeningsError as error:
            raise typer.BadParameter(f"{len(found)} of {count} openings found: {error}") from error
        finally:  # the found openings are valid without the missing ones
            if found:
                text = _text(found, common_rules, arguments, *flags)
                try:
                    write_or_keep(output, lambda place: atomic_write_text(place, text))
                except OSError as error:
                    if not isinstance(error, KeptElsewhereError):
                        typer.echo(text, nl=False, err=as_json)  # the work of a long search
                    raise
                seconds = time.perf_counter() - start
                if as_json:
                    _print_json(output, found, common_rules, arguments, seconds)
                else:
                    line = f"{output}: {len(found)} of {count} openings, evaluated by {spec}; {duration(seconds)}"
                    echo(line, err=is_written_into(output))  # /dev/stdout holds openings alone
