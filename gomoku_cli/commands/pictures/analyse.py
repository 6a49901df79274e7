"""`gomoku analyse`: a position as a player sees it."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gomoku_cli import options
from gomoku_cli.commands.pictures.games import GameNumber, read_game
from gomoku_cli.expansion import expand_options

if TYPE_CHECKING:
    from core.position import Position
    from core.records.record import GameRecord
    from core.rules import Rules

NAME = "analyse"
EXAMPLES = (
    'gomoku analyse --moves "h8 i9 g7 i7"',
    'gomoku analyse runs/mine --moves "h8 i9" --simulations 2000 --figure position.svg',
    "gomoku analyse mentor --game match.sgf --game-number 3 --move-number 20 --seconds 1",
    "gomoku analyse pure-mcts:5000 --board-size 9 --json",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _PositionOptions:
    """The position; without these options the empty board."""

    moves: Annotated[
        str | None,
        typer.Option("--moves", metavar="MOVES", help="Moves from the empty board, black first, as in 'h8 i9 g7'."),
    ] = None
    game: Annotated[
        Path | None, typer.Option("--game", metavar="FILE", help="A position of a game in this .sgf or .psq file.")
    ] = None
    game_number: GameNumber = 1
    move_number: Annotated[
        int | None,
        typer.Option(
            "--move-number",
            min=0,
            metavar="N",
            help="The position of the game after N moves.",
            show_default="the last one that is not over",
        ),
    ] = None

    def record(self) -> "GameRecord | None":
        """Return the game of the position; None without one. Raises a usage error, and `RecordError`."""
        if self.game is None:
            if self.move_number is not None:
                raise typer.BadParameter("it numbers the moves of --game", param_hint="--move-number")
            if self.game_number != 1:
                raise typer.BadParameter("it numbers the games of --game", param_hint="--game-number")
            return None
        if self.moves is not None:
            raise typer.BadParameter("the position comes from one of them", param_hint="--moves, --game")
        return read_game(self.game, self.game_number, "--game")[0]

    def position(self, rules: "Rules", record: "GameRecord | None") -> "Position":
        """Return the position. Raises a usage error for moves that cannot be played, and for a game that is over."""
        from core.position import Position

        if record is None:
            return _played(self.moves or "", rules)
        count = len(record.moves) if self.move_number is None else self.move_number
        if count > len(record.moves):
            raise typer.BadParameter(f"the game has {len(record.moves)} moves, not {count}", param_hint="--move-number")
        position = Position.from_moves(rules, record.moves[:count])
        if position.is_game_over():
            if self.move_number is not None:
                raise typer.BadParameter(f"the game is over after {count} moves", param_hint="--move-number")
            position.pop()
        return position


def _played(moves: str, rules: "Rules") -> "Position":
    """Return the position after moves such as `h8 i9`, with blanks or commas between them. Raises a usage error."""
    from core.position import Position

    position = Position(rules)
    for move in moves.replace(",", " ").split():
        try:
            position.push(move)
        except ValueError as error:
            raise typer.BadParameter(f"move {position.ply + 1}: {error}", param_hint="--moves") from error
    if position.is_game_over():
        raise typer.BadParameter(f"the game is over after {position.ply} moves", param_hint="--moves")
    return position


@expand_options
def command(
    player: options.Player = "default",
    *,
    at: _PositionOptions,
    simulations: options.Simulations = None,
    seconds: options.Seconds = None,
    tactics: options.Tactics = True,
    rules: options.RulesOptions,
    top: Annotated[int, typer.Option("--top", min=1, metavar="N", help="Moves in the table.")] = 8,
    figure: Annotated[
        Path | None,
        typer.Option("--figure", metavar="FILE", help="Draw the board, as .png or .svg; needs matplotlib."),
    ] = None,
    runtime: options.RuntimeOptions,
    no_color: options.NoColor = False,
    ascii_only: options.Ascii = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Show a position as a player sees it: its best moves, their values, and the expected line.

    On the board the left half of an empty cell shows the prior of the net, the right half the visits of the search,
    from white (0) to red (1). Values are for the side to move, from -1 to 1.
    """
    from curriculum.arena.players import parse_player
    from gomoku_cli.compilation import reporting_compilation
    from gomoku_cli.interruption import conducting
    from gomoku_cli.reports.analysis import analysis_json, show_analysis
    from gomoku_cli.reports.board_text import has_colours
    from gomoku_cli.reports.plots import check_plot
    from search.limits import Limit
    from search.players import Analyses

    if figure is not None:
        check_plot(figure, "--figure")
    runtime.apply()
    search = options.SearchOptions(simulations=simulations, seconds=seconds, tactics=tactics)
    settings = search.player_settings()
    record = at.record()
    if record is not None:
        if rules.board_size is not None or rules.connect is not None:
            raise typer.BadParameter("the game has its own rules", param_hint="--board-size, --connect")
        rules = options.RulesOptions(board_size=record.rules.size, connect=record.rules.connect)
    position = at.position(rules.resolve((player,)), record)
    search.check_effect((player,))
    with conducting(quiet=quiet) as conduct, reporting_compilation(conduct.reporter):
        analyst = parse_player(player, rules=position.rules, settings=settings)
        if not isinstance(analyst, Analyses):
            raise typer.BadParameter(
                f"{player} tells no more than its move: models, mentor and pure-mcts:N analyse", param_hint="PLAYER"
            )
        # Compile, load and prepare everything, so that the time of the analysis is that of its search.
        analyst.analyse(position, Limit(nodes=2), stop=conduct.stop)
        analysis = analyst.analyse(position, stop=conduct.stop)
        conduct.check()
    result = analysis_json(player, position, analysis)
    try:
        if as_json:
            typer.echo(json.dumps(result))
        else:
            show_analysis(result, top=top, colours=not no_color and has_colours(), ascii_only=ascii_only)
    finally:  # a full stdout must not cost the file
        if figure is not None:
            from gomoku_cli.reports.analysis_figure import draw_analysis

            draw_analysis(result, figure)
