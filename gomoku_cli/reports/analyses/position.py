"""The analysis of a position: as JSON, and on the terminal as a table of moves and a board of two halves a cell.

The board is that of paper Y, Fig. 6: of each empty cell the left half shows the prior of the net, the right half the
share of the search's visits, from white (0) to red (1).
"""

from typing import Any

from rich.table import Table
from rich.text import Text

from core.notation import cell_name
from core.position import Position
from core.rules import NO_CELL, Cell, Colour, Rules, Variant, colour_name
from gomoku_cli.console import STDOUT
from gomoku_cli.printable import counted
from gomoku_cli.reports.board_text import GRID, PAPER, board_text, board_width, show_board, stone_text
from gomoku_cli.reports.plots import abridged
from gomoku_cli.reports.terminal import cell_text, print_facts, show_table, table
from gomoku_cli.reports.texts import Json, move_time
from gomoku_cli.study.values import percent, proof_text
from search.analysis import Analysis

_HALVES = 2
"""Columns of a cell."""
_TENTHS = ".123456789*"
"""A probability without colours: in tenths, rounded."""


def analysis_json(player: str, position: Position, analysis: Analysis) -> dict[str, Any]:
    """Return an analysis as the JSON of `gomoku analyze`; values are for the side to move."""
    priors, shares = _priors(analysis), _shares(analysis)
    return {
        "player": player,
        "board_size": position.rules.size,
        "connect": position.rules.connect,
        "variant": position.rules.variant,
        "position": [position.name_of(cell) for cell in position.moves],
        "to_move": colour_name(position.side_to_move),
        "forbidden": [position.name_of(cell) for cell in position.fouls()],
        "value": round(analysis.value, 4),
        "proof": analysis.moves[0].proof,
        "best": position.name_of(analysis.best_move),
        "variation": [position.name_of(cell) for cell in analysis.variation],
        "nodes": analysis.nodes,
        "seconds": round(analysis.seconds, 6),
        "moves": [
            {
                "move": position.name_of(each.move),
                "prior": None if priors is None else round(priors[number], 6),
                "visits": each.visits,
                "share": None if shares is None else round(shares[number], 6),
                "value": None if each.value is None else round(each.value, 4),
                "proof": each.proof,
                "line": [position.name_of(cell) for cell in each.line],
            }
            for number, each in enumerate(analysis.moves)
        ],
    }


def _priors(analysis: Analysis) -> list[float] | None:
    """Return the priors of the moves; None if no net has evaluated the position, as before a win that tactics found."""
    priors = [each.prior or 0.0 for each in analysis.moves]
    return priors if any(priors) else None


def _shares(analysis: Analysis) -> list[float] | None:
    """Return the distribution of the search over the moves; None if only the net has chosen.

    The best move of a search without visits, and a proof without them, has all of it.
    """
    moves = analysis.moves
    visits = [each.visits for each in moves if each.visits is not None]
    if total := sum(visits):
        return [count / total for count in visits]
    return [1.0, *[0.0] * (len(moves) - 1)] if moves[0].proof or not visits else None


def stones_of(result: Json) -> dict[Cell, Colour]:
    """Return the stones of the position, the oldest first."""
    rules = Rules(result["board_size"], result["connect"], result["variant"])
    position = Position.from_moves(rules, result["position"])
    return {cell: position.stones[cell] for cell in position.moves}


def halves_of(result: Json) -> dict[str, tuple[float | None, float | None]]:
    """Return the prior and the share of each empty cell by its name, also of cells that are no moves of the search."""
    size = result["board_size"]
    first = result["moves"][0]
    empty = tuple(None if first[key] is None else 0.0 for key in ("prior", "share"))
    halves: dict[str, tuple[float | None, float | None]] = {
        cell_name(cell, size): (empty[0], empty[1]) for cell in range(size * size)
    }
    halves |= {move["move"]: (move["prior"], move["share"]) for move in result["moves"]}
    return {name: pair for name, pair in halves.items() if name not in result["position"]}


def analysis_title(result: Json) -> str:
    """Return the player, the position, and rules other than freestyle."""
    title = f"{abridged(result['player'], 60)}: {result['to_move']} to move, move {len(result['position']) + 1}"
    return title if result["variant"] == Variant.FREESTYLE else f"{title}, {result['variant']}"


def effort(result: Json) -> str:
    """Return the time of the search and the positions searched."""
    return f"{move_time(result['seconds'])}, {counted(result['nodes'], 'position')} searched"


def halves_note(result: Json) -> str:
    """Return the meaning of the two halves of a cell."""
    first = result["moves"][0]
    if first["prior"] is None and first["visits"] is None:
        return "right half: its best move; it has no prior and no visits"
    if first["prior"] is None:
        return "right half: visits; there is no prior" + (
            ", the move is proven without the net" if result["nodes"] == 0 else ""
        )
    if first["share"] is None:
        return "left half: prior; there was no search"
    return "left half: prior of the net, right half: visits of the search"


def best_line(result: Json) -> str:
    """Return the value and the principal variation."""
    return f"{value_text(result)}; {' '.join(result['variation'])}"


def value_text(result: Json) -> str:
    """Return the value in words: `value +0.216 for black, 61 % to win`, or a proven result."""
    value = result["value"]
    return f"value {value:+.3f} for {result['to_move']}, {proof_text(result['proof']) or f'{percent(value)} to win'}"


_COLUMNS = ("move", "prior", "visits", "share", "value", "result", "then")
_LINES = 8
"""Moves of the table, unless their number is said."""
_THEN = 6
"""Moves of a line in it, after the first one."""


def _row(move: Json) -> tuple[str, ...]:
    """Return the cells of `_COLUMNS`; nothing for a number that the search does not have."""
    return (
        move["move"],
        _percent(move["prior"]),
        "" if move["visits"] is None or move["share"] is None else f"{move['visits']:,}",
        "" if move["visits"] is None else _percent(move["share"]),
        "" if move["value"] is None else f"{move['value']:+.3f}",
        proof_text(move["proof"]),
        " ".join(move["line"][1 : _THEN + 1]),
    )


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f} %"


def show_analysis(result: Json, *, lines: int | None, colours: bool, ascii_only: bool) -> None:
    """Print the best moves, `lines` of them, the board, the value, the principal variation and the time."""
    # A column of which the search has no number is left out.
    columns = zip(*map(_row, result["moves"][: lines or _LINES]), strict=True)
    named = [(name, column) for name, column in zip(_COLUMNS, columns, strict=True) if any(column)]
    rows = list(zip(*(column for _, column in named), strict=True))
    moves = table([name for name, _ in named], rows, ascii_only=ascii_only)
    if named[-1][0] == "then":
        moves.columns[-1].justify, moves.columns[-1].no_wrap = "left", False
    board = _board(result, colours)
    STDOUT.print(cell_text(analysis_title(result)))
    beside = board_width(result["board_size"], _HALVES) + 2 + STDOUT.measure(moves).maximum <= STDOUT.width
    if beside:
        grid = Table.grid(padding=(0, 2))
        grid.add_row(board, moves)
        STDOUT.print(grid)
    else:
        show_table(moves)
        show_board(board)
    shades = "white 0, red 1" if colours else "in tenths: . is 0, * is 1"
    forbidden = (("forbidden", f"{' '.join(result['forbidden'])} (x), to Black"),) if result["forbidden"] else ()
    print_facts(
        (
            ("value", value_text(result).removeprefix("value ")),
            ("line", " ".join(result["variation"])),
            *forbidden,
            ("took", effort(result)),
            ("cells", f"{halves_note(result)}; {shades}"),
        )
    )


def _board(result: Json, colours: bool) -> Text:
    """Return the board with two halves a cell."""
    size = result["board_size"]
    stones, halves = stones_of(result), halves_of(result)

    def cell_of(cell: Cell) -> Text:
        if cell in stones:
            return stone_text(stones[cell], colours)
        if (name := cell_name(cell, size)) in result["forbidden"]:
            return Text("x".rjust(_HALVES), PAPER if colours else "")
        text = Text()
        for probability in halves[name]:
            if colours:
                text.append(" ", f"underline {GRID} on {_shade(probability or 0.0)}")
            else:
                text.append(" " if probability is None else _TENTHS[round(10 * probability)])
        return text

    return board_text(size, _HALVES, cell_of, next(reversed(stones), NO_CELL), colours=colours)


def _shade(probability: float) -> str:
    """Return the colour of a probability, from white for 0 to red for 1."""
    rest = round(255 * (1 - probability))
    return f"#ff{rest:02x}{rest:02x}"
