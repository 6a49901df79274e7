"""`gomoku openings`: balanced openings to start games from."""

import json
import re
import shlex
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curriculum.arena import player_names
from gomoku_cli import options
from nets.config import Backend, Precision
from search.tree.settings import MAX_SIMULATIONS, Policy

if TYPE_CHECKING:
    from core.rules import Rules
    from curriculum.arena.balanced_openings import BalancedOpening
    from search.players import Player

NAME = "openings"
EXAMPLES = (
    "gomoku openings --output openings.txt",
    "gomoku openings --count 200 --stones 4-6 --max-value 0.1 --output even.txt",
    "gomoku openings --board-size 19 --judge mentor --output openings19.txt",
)

_FIRST_LOOK = 16
"""How much shorter the first look of a judge with a net is than the second."""
_STONES = re.compile(r"([0-9]{1,3})(?:-([0-9]{1,3}))?")


class _Notation(StrEnum):
    CELLS = "cells"
    OFFSETS = "offsets"


_NOTES = {
    _Notation.CELLS: "column letter from the left, row from the bottom",
    _Notation.OFFSETS: "columns to the right of the centre, rows below it",
}


def _judge(spec: str | None, board_size: int | None, connect: int | None) -> tuple[str, "Rules"]:
    """Who judges, and on which board: where nobody is named the built-in model, or the mentor if it plays another."""
    from curriculum.arena.players import PlayerSpecError
    from gomoku_cli.seats import common_rules

    if spec is not None:
        return spec, common_rules((spec,), board_size, connect)
    try:
        return player_names.DEFAULT, common_rules((player_names.DEFAULT,), board_size, connect)
    except PlayerSpecError:
        return player_names.MENTOR, common_rules((player_names.MENTOR,), board_size, connect)


def _looks(spec: str, rules: "Rules", simulations: int) -> list["Player"]:
    """The judge as many times as it is asked: with a net for a short look first, and then for a long one."""
    from curriculum.arena.players import model_path, parse_player
    from gomoku_cli.seats import player_settings

    counts = [max(1, simulations // _FIRST_LOOK), simulations] if model_path(spec) is not None else [simulations]
    settings = [player_settings(count, None, Policy.DETERMINISTIC, 0) for count in counts]
    return [parse_player(spec, rules=rules, settings=each) for each in settings]


def _range(stones: str, rules: "Rules") -> tuple[int, int]:
    """The fewest and the most stones that `--stones` asks for."""
    match = _STONES.fullmatch(stones)
    fewest, most = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
    if not 1 <= fewest <= most:
        raise typer.BadParameter(f"{stones!r} is no range such as 2-8", param_hint="--stones")
    if fewest > rules.cells // 2:
        raise typer.BadParameter(f"{fewest} are more than half of the {rules.cells} cells", param_hint="--stones")
    return fewest, most


def _text(found: Sequence["BalancedOpening"], rules: "Rules", made_by: Mapping[str, object]) -> str:
    """The file: a header that says how it was made, and an opening a line."""
    from core.records.openings import format_offsets, format_opening

    notation = _Notation(str(made_by["notation"]))
    command_line = shlex.join(("gomoku", NAME, *(f"--{name}={value}" for name, value in made_by.items())))
    lines = [f"# balanced openings, one a line, black first; {_NOTES[notation]}", f"# {command_line}"]
    write = format_opening if notation is _Notation.CELLS else format_offsets
    lines += [write(opening.moves, rules.size) for opening in found]
    return "\n".join(lines) + "\n"


def _report(
    output: Path, found: Sequence["BalancedOpening"], rules: "Rules", made_by: Mapping[str, object], seconds: float
) -> None:
    """Prints what was made as JSON."""
    from core.notation import cell_name

    openings = [
        {"moves": [cell_name(cell, rules.size) for cell in opening.moves], "value": round(opening.value, 4)}
        for opening in found
    ]
    settings = {name: made_by[name] for name in ("judge", "simulations", "max-value", "seed")}
    report = {"file": str(output), "rules": asdict(rules), **settings, "openings": openings}
    typer.echo(json.dumps({**report, "seconds": round(seconds, 3)}))


def command(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Save the openings here.", dir_okay=False)
    ],
    count: Annotated[int, typer.Option("--count", min=1, metavar="N", help="How many.")] = 50,
    stones: Annotated[
        str, typer.Option("--stones", metavar="N-N", help="How many stones an opening has: the fewest and the most.")
    ] = "2-8",
    judge: Annotated[
        str | None,
        typer.Option(
            "--judge",
            metavar="PLAYER",
            help=f"Who says what an opening is worth: {player_names.HELP}.",
            show_default="default, or mentor on a board that it does not play",
        ),
    ] = None,
    simulations: Annotated[
        int,
        typer.Option(
            "--simulations",
            "-n",
            min=1,
            max=MAX_SIMULATIONS,
            metavar="N",
            help=f"Simulations an opening, for judges with a net. A first look takes 1 in {_FIRST_LOOK} of them.",
        ),
    ] = 1600,
    max_value: Annotated[
        float,
        typer.Option(
            "--max-value",
            min=0,
            max=0.5,
            metavar="X",
            help="How far from 0 the value of an opening may be; 1 is a won game and -1 a lost one.",
        ),
    ] = 0.15,
    board_size: options.BoardSize = None,
    connect: options.Connect = None,
    seed: Annotated[int, typer.Option("--seed", min=0, metavar="N", help="Where every random stream grows from.")] = 42,
    notation: Annotated[
        _Notation,
        typer.Option("--notation", help="How cells are written: h8 i9, or counted from the centre: 0,0, 1,-1."),
    ] = _Notation.CELLS,
    force: Annotated[bool, typer.Option("--force", "-f", help="Overwrite the file if it exists.")] = False,
    backend: options.BackendChoice = Backend.AUTO,
    precision: options.PrecisionChoice = Precision.AUTO,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Make openings that are worth as much to Black as to White, for matches to start from.

    Random stones near each other are judged by a search, and kept where nothing is decided yet and the value is near 0.
    No two are the same turned or mirrored. The same seed gives the same file.
    """
    from core.files import atomic_write_text
    from curriculum.arena.balanced_openings import NoBalancedOpeningsError, balanced_openings
    from gomoku_cli.compilation import telling_of_compilation
    from gomoku_cli.console import duration
    from gomoku_cli.interruption import conducting
    from gomoku_cli.runtime import choose_runtime

    if output.exists() and not force:
        raise typer.BadParameter(f"{output} exists; --force overwrites it", param_hint="--output")
    choose_runtime(backend, precision)
    spec, rules = _judge(judge, board_size, connect)
    stone_counts = _range(stones, rules)
    made_by = {
        "count": count,
        "stones": stones,
        "judge": spec,
        "simulations": simulations,
        "max-value": max_value,
        "board-size": rules.size,
        "connect": rules.connect,
        "seed": seed,
        "notation": notation.value,
    }
    found: list[BalancedOpening] = []
    start = time.perf_counter()
    with conducting(quiet=quiet) as conduct, telling_of_compilation(conduct.reporter):
        endless = balanced_openings(
            rules,
            _looks(spec, rules, simulations),
            stones=stone_counts,
            max_value=max_value,
            seed=seed,
            conduct=conduct,
        )
        try:
            with conduct.reporter.task("openings", count, "openings") as progress:
                while len(found) < count:
                    found += next(endless)[: count - len(found)]
                    progress.update(len(found))
        except NoBalancedOpeningsError as error:
            raise typer.BadParameter(f"{len(found)} of {count} openings found: {error}") from error
        finally:  # what was found is no worse for there not being more
            if found:
                atomic_write_text(output, _text(found, rules, made_by))
                seconds = time.perf_counter() - start
                if as_json:
                    _report(output, found, rules, made_by, seconds)
                else:
                    typer.echo(f"{output}: {len(found)} of {count} openings, judged by {spec}; {duration(seconds)}")
