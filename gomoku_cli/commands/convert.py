"""`gomoku convert`: game records from one format into another."""

from pathlib import Path
from typing import Annotated

import typer

from gomoku_cli.commands.pictures.games import NO_GAMES, open_each
from gomoku_cli.exit_codes import ExitCode
from gomoku_cli.expansion import check_new, check_suffix
from gomoku_cli.notices import print_notice
from gomoku_cli.printable import counted, echo


def _is_same(source: Path, target: Path) -> bool:
    try:
        return source.samefile(target)
    except OSError:  # one of them is missing, or a loop of links: reading or writing it says so
        return source == target


def command(
    sources: Annotated[list[Path], typer.Argument(metavar="IN", default_factory=list, show_default=False)],
    target: Annotated[Path, typer.Argument(metavar="OUT")],
    *,
    force: Annotated[bool, typer.Option("--force", "-f")] = False,
) -> None:
    """Write the games of one or more files into one. The ending of OUT selects SGF or Piskvork's format.

    From SGF to SGF everything is kept, also variations and properties of other programs, and of a library of RenLib its
    moves, comments and texts on the board. A note names what .psq does
    not keep of a file, such as comments, notes and dates. A file that cannot be read is reported, and the others are
    converted.

    Args:
        sources: Files of games: .sgf, .psq, or RenLib's .lib and .pos.
        target: The file to write, .sgf or .psq.
        force: Overwrite the file if it exists.

    Examples:
        gomoku convert games.sgf games.psq
        gomoku convert 1x0-16.psq 0x1-23.psq match.sgf
        gomoku convert openings.lib openings.sgf
    """
    from core.records.formats import READ_SUFFIXES, SUFFIXES, write_games
    from core.records.losses import converted

    if not sources:  # so a single name is OUT to the parser of commands, which would miss IN
        raise typer.BadParameter(f"it takes files to read and the one to write, and got {target} alone")
    for path, suffixes in ((target, SUFFIXES), *((source, READ_SUFFIXES) for source in sources)):
        check_suffix(path, suffixes, None, NO_GAMES)
    if any(_is_same(source, target) for source in sources):
        raise typer.BadParameter(f"{target} is both input and output")
    check_new(target, "OUT", force=force)
    files = list(open_each(sources))
    found = [converted(file, target) for file in files]
    games = [game for games, _ in found for game in games]
    write_games(target, games)
    for file, (_, lost) in zip(files, found, strict=True):
        if lost:
            print_notice(f"{file.path}: not kept in {target.name}: {', '.join(lost)}")
    echo(f"{target}: {counted(len(games), 'game')}")
    if len(files) < len(sources):
        raise typer.Exit(ExitCode.BAD_DATA)
