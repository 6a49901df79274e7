"""A game as a picture: the number of each move on its stone, and the values that its record holds."""

import re

from rich.text import Text

from core.position import Position
from core.records.record import Ending, GameRecord, contradiction, won_text
from core.rules import Cell
from gomoku_cli.console import STDOUT
from gomoku_cli.printable import counted
from gomoku_cli.reports.board_text import PAPER, STONE_STYLES, WIN_STYLE, board_text, board_width, show_board
from gomoku_cli.reports.plots import abridged
from gomoku_cli.reports.terminal import cell_text, print_facts

_VALUE = re.compile(r"value ([+-]?[0-9]\.[0-9]{1,6})(?![0-9.])( for black)?")
"""The beginning of a comment: of a self-play game, whose values are Black's, or of a match, with those of the mover."""
_MAX_NAME = 36
_BARS = "▁▂▃▄▅▆▇█"
_ASCII_BARS = "01234567"


def black_values(record: GameRecord) -> dict[int, float]:
    """Return the value for Black, -1 to 1, that the comment of a move has, by the number of the move, from 1.

    It is the view of the side that made the move, before it. Comments without a value are left out. If none has one,
    the values are those of the analyses that the record keeps.
    """
    values = {}
    for number, comment in enumerate(record.comments, start=1):
        match = _VALUE.match(comment)
        if match is not None and abs(value := float(match[1])) <= 1:
            values[number] = value if match[2] or number % 2 else -value
    kept = zip(range(1, len(record.moves) + 1), record.values, strict=False)
    return values or {number: value for number, value in kept if value is not None}


def game_title(record: GameRecord) -> str:
    """Return two lines: the players, and the rules with the result."""
    return f"{players_text(record)}\n{record.rules}: {result_text(record)}"


def players_text(record: GameRecord) -> str:
    """Return `Ann against Bob`, or `black against white` for a record without names."""
    return f"{abridged(record.black, _MAX_NAME) or 'black'} against {abridged(record.white, _MAX_NAME) or 'white'}"


def result_text(record: GameRecord) -> str:
    """Return `black won in 31 moves`, `drawn after 225 moves` or `30 moves, without a result`.

    A remark follows where the board contradicts the record.
    """
    moves = counted(len(record.moves) - record.set_up, "move")
    if record.winner is not None:
        text = f"{won_text(record)} in {moves}"
    else:
        text = f"{moves}, without a result" if record.ending is Ending.UNKNOWN else f"drawn after {moves}"
    against = contradiction(record)
    return f"{text}, but {against}" if against else text


def show_game(record: GameRecord, *, colours: bool, ascii_only: bool) -> None:
    """Print the board with the number of each move, the winning line, and the values."""
    position = Position.from_moves(record.rules, record.moves)
    width = max(2, len(str(position.ply)))
    is_cut = width > 2 and board_width(record.rules.size, width) > STDOUT.width
    for line in game_title(record).split("\n"):
        STDOUT.print(cell_text(line))
    show_board(_board(position, record.set_up, 2 if is_cut else width, colours))
    numbers = f"black has the {'even' if record.set_up % 2 else 'odd'} numbers"
    facts = [("moves", f"{numbers}; of 100 and more the last two digits" if is_cut else numbers)]
    if winning := position.winning_line():
        facts.append(("line", " ".join(map(position.name_of, winning))))
    if fouls := position.fouls():
        facts.append(("forbidden", f"{' '.join(map(position.name_of, fouls))} (x), to Black"))
    bars = _ASCII_BARS if ascii_only or STDOUT.options.ascii_only else _BARS
    views = views_of(record)
    if any(values for _, values in views):
        facts.append(("values", f"for black, from {bars[0]} for -1 to {bars[-1]} for +1, before the moves of"))
        for side, (_, values) in zip(("black", "white"), views, strict=True):
            levels = (min(len(bars) - 1, int((value + 1) / 2 * len(bars))) for value in values)
            facts.append((side, "".join(bars[level] for level in levels)))
    print_facts(facts)


def views_of(record: GameRecord) -> tuple[tuple[list[int], list[float]], tuple[list[int], list[float]]]:
    """Return the numbers of the moves with a value, and these values for Black: of Black's moves, and of White's."""
    values = black_values(record)
    black, white = ([number for number in values if number % 2 == odd] for odd in (1, 0))
    return (black, [values[number] for number in black]), (white, [values[number] for number in white])


def _board(position: Position, set_up: int, width: int, colours: bool) -> Text:
    """Return the board with the number of each move, its last digits if they do not fit into `width`.

    Stones that were set up are X and O.
    """
    numbers = {
        cell: str(ply + 1 - set_up) if ply >= set_up else "XO"[ply % 2] for ply, cell in enumerate(position.moves)
    }
    winning, fouls = set(position.winning_line()), set(position.fouls())

    def cell_of(cell: Cell) -> Text:
        if cell in fouls:
            return Text(f"{'x':>{width}}", PAPER if colours else "")
        if cell not in numbers:
            return Text(f"{'.':>{width}}" if not colours else " " * width, PAPER if colours else "")
        style = WIN_STYLE if cell in winning else STONE_STYLES[position.stones[cell]]
        return Text(f"{numbers[cell]:>{width}}"[-width:], style if colours else "bold")

    return board_text(position.rules.size, width, cell_of, position.last_moves[0], colours=colours)
