"""`gomoku play`: the board in the terminal, to play and to study games."""

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from core.input_limits import MAX_PACE_S
from core.opening_rules import OpeningRule
from core.rules import Rules
from curriculum.arena import player_names
from gomoku_cli import match_options, options
from gomoku_cli.expansion import expand_options, refusing

if TYPE_CHECKING:
    from core.book import Book
    from gomoku_cli.tui.engine.messages import OpenedGame
    from gomoku_cli.tui.game import Seats

_BROWSER = "Browser"
_LAST_RESULTS = 10
_Side = Literal["black", "white"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _ServeOptions:
    """The board in a browser."""

    serve: Annotated[bool, typer.Option("--serve", rich_help_panel=_BROWSER)] = False
    """Offer the board to a browser; needs the extra serve."""
    host: Annotated[str, typer.Option(metavar="ADDRESS", rich_help_panel=_BROWSER)] = "localhost"
    """Address for --serve."""
    port: Annotated[int, typer.Option(min=1, max=65535, rich_help_panel=_BROWSER)] = 8000
    """Port for --serve."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _CourseOptions:
    """The course of a game."""

    clock: Annotated[str | None, typer.Option(metavar="TIME")] = None
    """Minutes for each side: 10, with seconds that a move adds 5+3, with byo-yomi 5/30 or 5/3x30."""
    take_back: Annotated[bool, typer.Option("--take-back/--no-take-back")] = True
    """Let moves be taken back during a game; without, the engine refuses."""
    pace: Annotated[float, typer.Option(min=0, max=MAX_PACE_S, metavar="S", show_default=False)] = 0.0
    """Seconds from move to move, where two engines play."""
    bell: Annotated[bool, typer.Option("--bell")] = False
    """Ring the terminal's bell when it is your turn, and at the end of a game."""


@expand_options
def command(
    *,
    model: options.Model = player_names.DEFAULT,
    level: Annotated[int | None, typer.Option(min=1, max=9)] = None,
    colour: Annotated[_Side | None, typer.Option(case_sensitive=False, show_default="black")] = None,
    two_players: Annotated[bool, typer.Option("--two-players")] = False,
    opponents: Annotated[tuple[str, str] | None, typer.Option(metavar="BLACK WHITE")] = None,
    resume: Annotated[bool, typer.Option("--resume")] = False,
    load: Annotated[Path | None, typer.Option()] = None,
    choose: Annotated[bool, typer.Option("--choose")] = False,
    search: options.SearchOptions,
    ponder: Annotated[bool, typer.Option("--ponder")] = False,
    rules: options.RulesOptions,
    opening: match_options.OpeningChoice = OpeningRule.FREE,
    book: Annotated[Path | None, typer.Option()] = None,
    course: _CourseOptions,
    rating: Annotated[bool, typer.Option("--rating")] = False,
    look: options.LookOptions,
    browser: _ServeOptions,
    runtime: options.RuntimeOptions,
) -> None:
    """Play on a board in the terminal, by mouse or keyboard, and study games there.

    Args:
        level: The opponent, from 1 (a beginner) to 9 (the best).
        colour: Your stones; black moves first.
        two_players: Two humans at one board, without an engine.
        opponents: Watch two players play each other.
        resume: Go on with the newest game that is not over.
        load: Open a game (.sgf, .psq, .lib, .pos): go on with one of this program, review others.
        choose: Open the dialog for a new game first.
        ponder: Let the model think during your turns; for players with a net.
        book: Opening book: engines play it, and its moves stand below the candidates.
        rating: Print your rating by games against levels; open no board.

    Examples:
        gomoku play
        gomoku play --colour white --simulations 800 --policy deterministic
        gomoku play --model runs/mine --seconds 3 --ponder
        gomoku play --level 3
        gomoku play --resume
        gomoku play --two-players
        gomoku play --opening swap2
        gomoku play --book openings.sqlite
        gomoku play --level 3 --clock 5+3
        gomoku play --opponents mentor:2 mentor:4 --pace 2
    """
    from gomoku_cli.study.clocks import TimeControl

    if rating:
        _show_rating()
        return
    names_model = model != player_names.DEFAULT
    goes_on = resume or load is not None
    names_players = level is not None or names_model or opponents is not None or two_players
    seated = "a game that goes on" if goes_on else "two humans" if two_players else " and ".join(opponents or ())
    no_effect = f"it has no effect on {seated}"
    for is_refused, why, options_of_it in (
        (resume and load is not None, "one of them names the game", "--resume, --load"),
        (goes_on and rules.given, "games have their own rules", "--board-size, --connect, --variant"),
        (goes_on and opening is not OpeningRule.FREE, "a game that goes on has its opening", "--opening"),
        (goes_on and names_players, "a game that goes on has its players", "--resume, --load"),
        (goes_on and course.clock is not None, "a game that goes on has its clocks", "--clock"),
        (seated and level is not None, no_effect, "--level"),
        (seated and names_model, no_effect, "--model"),
        (seated and colour is not None, no_effect, "--colour"),
        (seated and ponder and two_players, no_effect, "--ponder"),
        (level is not None and names_model, "one of them names the opponent", "--level, --model"),
        (two_players and opponents is not None, "two humans leave no seat for engines", "--two-players, --opponents"),
    ):
        if is_refused:
            raise typer.BadParameter(why, param_hint=options_of_it)
    search.check()
    if two_players or goes_on:
        search.check_effect((), of=seated)
    with refusing("--clock"):
        time_control = None if course.clock is None else TimeControl.parse(course.clock)
    opened = _opened(resume, load)
    if level is not None:
        model = player_names.LEVELS[level - 1]
    specs = () if two_players else opponents or (model,)
    common_rules = _checked_rules(specs, search, rules, ponder=ponder)
    opened_book = _opened_book(book, common_rules if opened is None else opened.game.tree.rules)
    from gomoku_cli.tui.terminal import is_served

    if browser.serve and not is_served():
        _serve(browser.host, browser.port)
        return
    shown = look.settings()
    from gomoku_cli.tui.engine.client import EngineProcess
    from nets.config import default_runtime

    runtime.apply()
    engine = EngineProcess(default_runtime())  # it imports its libraries while the screen imports its own
    from gomoku_cli.tui.app import run_board
    from gomoku_cli.tui.game import Game
    from gomoku_cli.tui.setup import BoardSetup, Course

    game = None
    if opened is not None:
        from gomoku_cli.study.saved import default_folder

        is_own = Path(opened.path).resolve().parent == default_folder().resolve()
        game = Game.from_saved(opened.game, opened.remark, is_own=is_own)
    setup = BoardSetup(
        game=game,
        path=None if opened is None else opened.path,
        known=None if opened is None else opened.known,
        reviews=game is not None and game.is_for_review,
        rules=common_rules,
        seats=_seats(specs, search, colour),
        opening=opening,
        clock=time_control,
        ponders=ponder,
        book=opened_book,
        course=Course(takes_back=course.take_back, pace_s=course.pace, bell=course.bell),
        asks_first=choose,
        **shown,
    )
    run_board(engine, setup)


def _show_rating() -> None:
    """Print the rating, the results against each level, and the last ones. Raises `OSError`."""
    from gomoku_cli.reports.terminal import print_facts, print_table
    from gomoku_cli.study.rating import LEVEL_RATINGS, RATINGS, Rating
    from gomoku_cli.study.saved import default_folder

    found = Rating.read(default_folder().with_name(RATINGS))
    words = {1.0: "won", 0.5: "drawn", 0.0: "lost"}
    rows = []
    for level, difficulty in LEVEL_RATINGS.items():
        scores = [each.score for each in found.results if each.opponent == level]
        if scores:
            rows.append([level, str(difficulty), *(str(scores.count(score)) for score in words)])
    if rows:
        print_table(["opponent", "its rating", *words.values()], rows)
        last = list(zip(found.results, found.history(), strict=True))[-_LAST_RESULTS:]
        dated = [[each.time[:10], each.opponent, words.get(each.score, ""), f"{after:.0f}"] for each, after in last]
        print_table(["day", "opponent", "result", "rating"], dated, left=3)
    print_facts([("rating", f"{found.rating:.0f}"), ("rated games", str(len(found.results)))])


def _serve(host: str, port: int) -> None:
    """Serve the board of this command line until a signal comes."""
    from gomoku_cli.printable import echo
    from gomoku_cli.serving.access import ServingError, is_loopback

    try:
        from gomoku_cli.serving.server import serve
    except ImportError as error:
        raise ServingError("--serve needs aiohttp and textual-serve: pip install '.[serve]'") from error
    if not host:
        raise typer.BadParameter("it names no address", param_hint="--host")
    if not is_loopback(host):
        echo(
            f"warning: other machines can reach {host}:{port}. Whoever has the address below plays as you, with your "
            "files; the way there is not encrypted",
            err=True,
        )
    raise SystemExit(serve(sys.argv[2:], host, port))  # behind a page --serve has no effect


def _opened(resume: bool, load: Path | None) -> "OpenedGame | None":
    """Return the game that the options name; None for a new one.

    Raises a usage error if no game can go on, `core.records.record.RecordError` for a file that holds no game.
    """
    if not resume and load is None:
        return None
    from gomoku_cli.study.saved import default_folder, newest_unfinished
    from gomoku_cli.tui.engine.files import opened

    if load is None:
        entry = newest_unfinished(default_folder())
        if entry is None:
            raise typer.BadParameter("there is no game to go on with", param_hint="--resume")
        load = entry.path
    return opened(load.absolute())


def _opened_book(path: Path | None, rules: Rules) -> "Book | None":
    """Return an opening book. Raises a usage error for one of other rules, `core.book.BookError` for a file of none."""
    if path is None:
        return None
    from core.book import Book

    book = Book(path)
    if book.rules != rules:
        raise typer.BadParameter(f"{path} is a book for {book.rules}, not {rules}", param_hint="--book")
    return book


def _checked_rules(
    specs: tuple[str, ...], search: options.SearchOptions, rules: options.RulesOptions, *, ponder: bool
) -> Rules:
    """Return the rules of the game. Raises a usage error for players or options that make no sense together.

    The built-in model is not looked at, since that would delay the board.
    """
    default = Rules()
    if any(spec != player_names.DEFAULT for spec in specs):
        from curriculum.arena.players import model_path, resolve_rules

        if ponder and not any(model_path(spec) is not None for spec in specs):
            raise typer.BadParameter(
                f"{' and '.join(specs)} cannot ponder: only players with a net can", param_hint="--ponder"
            )
        search.check_effect(specs)
        default = resolve_rules(specs)
    with refusing("--board-size, --connect"):
        return replace(default, **rules.given)


def _seats(specs: tuple[str, ...], search: options.SearchOptions, colour: _Side | None) -> "Seats":
    """Return the players of both colours."""
    from gomoku_cli.tui.engine.messages import PlayerChoice
    from gomoku_cli.tui.game import Seats

    engines = [PlayerChoice(spec=spec, **search.settings()) for spec in specs]
    if len(engines) != 1:
        return Seats(*engines) if engines else Seats(None, None)
    return Seats(engines[0], None) if colour == "white" else Seats(None, engines[0])
