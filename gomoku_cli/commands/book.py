"""`gomoku book`: opening books, made from games and shown."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from core.book import Book
from core.input_limits import MAX_SIMULATIONS
from core.records.formats import is_game_file, open_games
from core.records.record import Ending, RecordError
from core.rules import Rules
from curriculum.reporting import Context
from gomoku_cli import options
from gomoku_cli.commands import help
from gomoku_cli.commands.pictures.games import open_each
from gomoku_cli.exit_codes import ExitCode
from gomoku_cli.expansion import check_output, expand_options
from gomoku_cli.printable import counted, echo, echo_json
from search.tree.settings import Policy

_AT_ONCE = 64
"""Positions of a batch, whose values are saved together."""


@help.group
def app() -> None:
    """Make and show opening books.

    Examples:
        gomoku book build book.sqlite games/ match.sgf
        gomoku book build book.sqlite games/ --player default --min-games 3
        gomoku book show book.sqlite h8 i9
        gomoku evaluate default mentor --book book.sqlite
    """


_Path = Annotated[Path, typer.Argument(metavar="BOOK", help="The file of the book.")]


@help.subcommand(app, "build")
@expand_options
def build(
    book: _Path,
    sources: Annotated[list[Path] | None, typer.Argument(metavar="[GAMES...]")] = None,
    *,
    plies: Annotated[int, typer.Option(min=1)] = 20,
    player: Annotated[str | None, typer.Option(**options.PLAYER, show_default="no values")] = None,
    simulations: Annotated[int, typer.Option("--simulations", "-n", min=1, max=MAX_SIMULATIONS)] = 400,
    min_games: Annotated[int, typer.Option(min=1)] = 2,
    rules: options.RulesOptions,
    runtime: options.RuntimeOptions,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Add games to an opening book, which is made if there is none, and give its moves values.

    The rules of a new book are those of the options, else those of the first game; games of other rules and games
    without a result are left out. A game counts once, so the same command goes on where it was stopped.

    Args:
        sources: Files of games, .sgf or .psq, and folders.
        plies: First moves of a game to take.
        player: A player that gives the moves their values, such as default.
        simulations: Simulations a value, of a model.
        min_games: Give values to moves of so many games.

    Examples:
        gomoku book build book.sqlite games/ match.sgf
        gomoku book build book.sqlite games/ --player default --min-games 3
        gomoku evaluate default mentor --book book.sqlite
    """
    from gomoku_cli.interruption import interruptible

    runtime.apply()
    with interruptible(quiet=quiet) as context:
        files = list(game_files(sources or ()))
        with _opened(book, files, rules) as opened:
            if rules.given and any(getattr(opened.rules, name) != value for name, value in rules.given.items()):
                raise typer.BadParameter(f"{book} is a book for {opened.rules}", param_hint="--board-size, --variant")
            new, read, left_out, is_complete = _add(opened, files, plies, context)
            if left_out and not opened.games:
                raise typer.BadParameter(f"none of {counted(read, 'game')} fits: {_text(left_out)}", param_hint="GAMES")
            if player is not None:
                search = options.SearchOptions(simulations=simulations, policy=Policy.DETERMINISTIC)
                _evaluate(opened, player, search, min_games, context)
            games, moves = opened.games, len(opened)
            report = {"book": str(book), "games": games, "new": new, "read": read, "moves": moves}
            report["left_out"] = left_out.total()
    if as_json:
        echo_json(report)
    else:
        echo(f"{book}: {counted(games, 'game')}, {new:,} of them new of {read:,} read; {counted(moves, 'move')}")
        if left_out:
            echo(f"left out: {_text(left_out)}")
    if not is_complete:
        raise typer.Exit(ExitCode.BAD_DATA)


@help.subcommand(app, "show")
def show(
    book: _Path,
    moves: Annotated[list[str] | None, typer.Argument(metavar="[MOVES]")] = None,
    *,
    as_json: options.Json = False,
) -> None:
    """Show the moves of a book in a position: games, results for the side to move, and values.

    Args:
        moves: The moves of the position, such as h8 i9.

    Examples:
        gomoku book show book.sqlite h8 i9
    """
    from gomoku_cli.commands.pictures.subjects import played
    from gomoku_cli.reports.terminal import print_table

    with Book(book) as opened:
        position = played(" ".join(moves or ()), opened.rules)
        found = opened.moves(position)
    if as_json:
        rows = [
            {"move": position.name_of(each.move), "games": each.games, "wins": each.wins, "draws": each.draws}
            | {"losses": each.losses, "value": each.value}
            for each in found
        ]
        echo_json({"book": str(book), "rules": str(opened.rules), "moves": rows})
        return
    if not found:
        echo("the book has no move here")
        return
    cells = [
        (
            *(position.name_of(each.move), f"{each.games:,}", f"{each.wins:,}", f"{each.draws:,}"),
            *(f"{each.losses:,}", f"{100 * each.points / each.games:.0f} %"),
            "" if each.value is None else f"{each.value:+.2f}",
        )
        for each in found
    ]
    print_table(("move", "games", "won", "drawn", "lost", "points", "value"), cells)


@contextmanager
def _opened(path: Path, files: list[Path], rules: options.RulesOptions) -> Iterator[Book]:
    """Open a book to add games, which is made if there is none, and removed after an error that leaves it empty."""
    check_output(path, "BOOK")
    is_new = not path.exists()
    book = Book.create(path, _rules(files, rules)) if is_new else Book(path, writable=True)
    with book:
        try:
            yield book
        except BaseException:
            if is_new and not book.games:
                path.unlink()
            raise


def game_files(sources: Sequence[Path]) -> list[Path]:
    """Return the files of games, those of a folder in its order. Raises a usage error for a folder without any."""
    found: list[Path] = []
    for source in sources:
        inside = (
            sorted(path for path in source.rglob("*") if is_game_file(path) and path.is_file())
            if source.is_dir()
            else [source]
        )
        if not inside:
            raise typer.BadParameter(f"there is no file of games under {source}", param_hint="GAMES")
        found += inside
    return found


def _rules(files: list[Path], rules: options.RulesOptions) -> Rules:
    """Return the rules of a new book. Raises a usage error without any games."""
    if rules.given:
        return rules.resolve(())
    if not files:
        raise typer.BadParameter("a new book needs games, or --board-size", param_hint="GAMES")
    problem = None
    for path in files:
        try:
            games = open_games(path).games
        except RecordError as error:
            problem = error
            continue  # reported when its games are added
        for record in games:
            if record.ending is not Ending.UNKNOWN:
                return record.rules
    raise problem or typer.BadParameter("no game has a result, so none is for a book", param_hint="GAMES")


def _add(book: Book, files: list[Path], plies: int, context: Context) -> tuple[int, int, Counter[str], bool]:
    """Add the games of files, each file whole or not at all; return the numbers of new games and of those read.

    The next are the numbers of games that were left out, by their reasons (`Book.why_not`).

    The last is False after a file that could not be read, which is reported. Raises the errors of `open_each`.
    """
    new, read, left_out, done = 0, 0, Counter[str](), 0
    with context.reporter.task("games", len(files), "files") as task:
        for done, file in enumerate(open_each(files), start=1):
            context.check()
            new += book.add(filter(book.takes, file.games), plies)
            read += len(file.games)
            left_out.update(filter(None, map(book.why_not, file.games)))
            task.update(done)
    return new, read, left_out, done == len(files)


def _text(left_out: Counter[str]) -> str:
    return ", ".join(f"{count:,} {reason}" for reason, count in left_out.items())


def _evaluate(book: Book, spec: str, search: options.SearchOptions, min_games: int, context: Context) -> None:
    """Search the positions after the moves without a value, and save their values batch by batch."""
    from curriculum.arena.players import parse_player, resolve_rules

    resolve_rules([spec], size=book.rules.size, connect=book.rules.connect, variant=book.rules.variant)
    player = parse_player(spec, rules=book.rules, settings=search.player_settings())
    left = book.without_value(min_games)
    with context.reporter.task("values", len(left), "moves") as task:
        for first in range(0, len(left), _AT_ONCE):
            context.check()
            batch = left[first : first + _AT_ONCE]
            ended = {number: outcome for number, (_, _, each) in enumerate(batch) if (outcome := each.outcome())}
            going = [number for number in range(len(batch)) if number not in ended]
            decisions = player.choose_batch([batch[number][2] for number in going], seeds=going) if going else ()
            values = {
                number: -decision.value
                for number, decision in zip(going, decisions, strict=True)
                if decision.value is not None
            }
            if going and not values:
                raise typer.BadParameter(f"{spec} gives no values", param_hint="--player")
            values |= {number: 0.0 if outcome.winner is None else 1.0 for number, outcome in ended.items()}
            book.set_values([(*batch[number][:2], value) for number, value in sorted(values.items())])
            task.update(first + len(batch))
