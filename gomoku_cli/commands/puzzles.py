"""`gomoku puzzles`: positions to solve on the board in the terminal."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from core.rules import Rules, Variant
from gomoku_cli import options
from gomoku_cli.expansion import expand_options
from gomoku_cli.printable import echo_json

if TYPE_CHECKING:
    from gomoku_cli.puzzles.rated import Progress, RatedPuzzle


@expand_options
def command(
    games: Annotated[list[Path] | None, typer.Argument(metavar="[GAMES...]")] = None,
    *,
    from_games: Annotated[bool, typer.Option("--from-games")] = False,
    file: Annotated[Path | None, typer.Option(metavar="SUITE")] = None,
    variant: Annotated[Variant, typer.Option(case_sensitive=False)] = Variant.FREESTYLE,
    kind: Annotated[str | None, typer.Option(metavar="KIND")] = None,
    level: Annotated[int | None, typer.Option(min=1, max=6)] = None,
    daily: Annotated[bool, typer.Option("--daily")] = False,
    listed: Annotated[bool, typer.Option("--list")] = False,
    look: options.LookOptions,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Solve positions on a board in the terminal, by mouse or keyboard: wins by fours and by threats, defences.

    All right moves are proven; a wrong one is refuted on the board. Your rating chooses the next puzzle.

    Args:
        games: Games for --from-games, .sgf or .psq, and folders of them.
        from_games: Puzzles from the mistakes in games; without GAMES in your saved games.
        file: Puzzles of a file: a line `kind | moves | answers | note` each.
        variant: The rule of the puzzles of a suite.
        kind: Only kinds that begin so, such as fours.
        level: Only puzzles of this level, 1 to 6.
        daily: Begin with the set of this day: a puzzle of each level.
        listed: List the puzzles by kind and level, and your rating; open no board.

    Examples:
        gomoku puzzles
        gomoku puzzles --daily
        gomoku puzzles --kind only-defence --level 4
        gomoku puzzles --from-games
        gomoku puzzles --from-games games/ match.sgf
        gomoku puzzles --file more.txt
        gomoku puzzles --list
    """
    if from_games and file is not None:
        raise typer.BadParameter("one of them gives the puzzles", param_hint="--from-games, --file")
    if games and not from_games:
        raise typer.BadParameter("games are for --from-games", param_hint="GAMES")
    from gomoku_cli.puzzles.rated import Progress, default_file

    found = _from_games(games or [], quiet=quiet) if from_games else _from_suites(file, variant)
    chosen = [each for each in found if each.puzzle.kind.startswith(kind or "") and level in (None, each.level)]
    if not found:
        raise typer.BadParameter("the games hold no mistake with a proven answer", param_hint="--from-games")
    if not chosen:
        raise typer.BadParameter(f"there is no such puzzle: {_known(found, kind or '')}", param_hint="--kind, --level")
    progress = Progress.read(default_file())
    if listed or as_json:
        _show(chosen, progress, as_json=as_json)
        return
    shown = look.settings()
    from gomoku_cli.puzzles.app import PuzzlesApp, PuzzleSetup

    PuzzlesApp(PuzzleSetup(puzzles=chosen, progress=progress, daily=daily, **shown)).run_to_end()


def _from_suites(file: Path | None, variant: Variant) -> "list[RatedPuzzle]":
    """Return the puzzles of a file, or the shipped ones. Raises `SuiteError`."""
    from core.files.atomic import read_bytes
    from core.input_limits import MAX_GAMES_BYTES
    from core.records.charsets import decoded
    from curriculum.arena.suite import load_suite, parse_suite
    from gomoku_cli.puzzles.rated import RatedPuzzle

    rules = Rules(variant=variant)
    if file is not None:
        text = decoded(read_bytes(file, MAX_GAMES_BYTES), str(file), as_sgf=False).text
        puzzles = parse_suite(text, str(file), rules=rules)
    else:
        puzzles = load_suite("tactics", rules)
    return [RatedPuzzle(puzzle, rules) for puzzle in puzzles]


def _from_games(sources: Sequence[Path], *, quiet: bool) -> "list[RatedPuzzle]":
    """Return the puzzles of games, of the player's saved ones by default. Raises `core.records.record.RecordError`."""
    from functools import cache

    from gomoku_cli.commands.book import game_files
    from gomoku_cli.commands.pictures.games import open_each
    from gomoku_cli.interruption import interruptible
    from gomoku_cli.puzzles.mistakes import MistakeFinder
    from gomoku_cli.study.saved import default_folder

    if not sources and not default_folder().is_dir():
        raise typer.BadParameter("there is no saved game yet", param_hint="--from-games")
    files = game_files(sources or [default_folder()])
    finder = cache(MistakeFinder)
    found: dict[str, RatedPuzzle] = {}
    with interruptible(quiet=quiet) as context, context.reporter.task("games", len(files), "files") as task:
        for number, file in enumerate(open_each(files)):
            for index, record in enumerate(file.games, start=1):
                mistakes = finder(record.rules).puzzles(record, file.path.name, context.stop)
                found |= {each.key: each for each in mistakes}
                task.update(number + index / len(file.games), puzzles=len(found))
    return list(found.values())


def _known(puzzles: "Sequence[RatedPuzzle]", kind: str) -> str:
    """Return which kinds there are, or the levels of the puzzles of a kind that there is."""
    levels = sorted({each.level for each in puzzles if each.puzzle.kind.startswith(kind)})
    if levels:
        return f"those of {kind or 'all kinds'} have the levels {', '.join(map(str, levels))}"
    return f"the kinds are {', '.join(dict.fromkeys(each.puzzle.kind for each in puzzles))}"


def _show(puzzles: "Sequence[RatedPuzzle]", progress: "Progress", *, as_json: bool) -> None:
    """Print the puzzles by kind and level, and the player's rating."""
    from datetime import date

    from gomoku_cli.puzzles.rated import LEVELS, counts, daily_set, level_of
    from gomoku_cli.reports.terminal import print_facts, print_table

    kinds, solved, day = counts(puzzles), progress.solved(), date.today().isoformat()
    today = daily_set(puzzles, day)
    facts: dict[str, Any] = {
        "puzzles": len(puzzles),
        "kinds": kinds,
        "rating": round(progress.rating),
        "level": level_of(progress.rating),
        "attempts": len(progress.results),
        "solved": sum(each.key in solved for each in puzzles),
        "daily": {"day": day, "puzzles": len(today), "solved": sum(each.key in progress.solved(day) for each in today)},
        "file": str(progress.path),
    }
    if as_json:
        echo_json(facts)
        return
    levels = [str(level) for level in range(1, LEVELS + 1)]
    rows = [[kind, *(str(count or "") for count in row), str(sum(row))] for kind, row in kinds.items()]
    sums = [sum(row[level] for row in kinds.values()) for level in range(LEVELS)]
    rows.append(["all", *map(str, sums), str(len(puzzles))])
    print_table(["level", *levels, "all"], rows)
    daily = f"{facts['daily']['solved']} of {len(today)} solved"
    rating = f"{facts['rating']} (level {facts['level']})"
    print_facts([("rating", rating), ("solved", f"{facts['solved']} of {len(puzzles)}"), ("today's set", daily)])
