"""The looks of the cells: stones, and what the open panes put on them."""

from array import array
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from core.position import Position
from core.records.sgf import labels
from core.rules import BLACK, EMPTY, NO_CELL, Cell, Rules
from gomoku_cli.printable import printable
from gomoku_cli.tui.control import Control
from gomoku_cli.tui.widgets.painting import NOTHING, CellLook
from search.analysis import Analysis

MAX_NUMBERED = 9
"""Plies of a variation that are drawn."""
MAX_LABEL = 5
"""Characters of a label that are drawn: the room of the largest cells. A file may hold a megabyte of them."""
MIN_SHARE = 0.02
"""Prior or share of the visits from which a move is drawn on its cell."""
_FOUL = "x"
"""The mark of a cell that renju forbids to Black."""

Heat = Literal["", "colours", "numbers"]


@dataclass
class Panes:
    """The panes on the cells that are open."""

    heat: Heat = ""
    """Prior and visits of the search on the cells, if anything is shown of them."""
    variation: bool = False
    threats: bool = False
    numbers: bool = False


def looks(control: Control, panes: Panes, cursor: Cell, hint_glyph: str, *, has_colours: bool) -> dict[Cell, CellLook]:
    """Return the look of every cell that is not empty and plain; `cursor` chooses the shown variation."""
    game = control.game
    found = stone_looks(game, range(game.tree.set_up, game.ply if panes.numbers else 0), first=game.tree.set_up)
    analysis = control.analysis
    for cell in (
        _fouls(game.rules, bytes(game.stones)) if not game.is_game_over() and game.side_to_move == BLACK else ()
    ):
        found[cell] = CellLook(mark=_FOUL, mark_colour=BLACK)
    if panes.heat and analysis is not None:
        found |= _heat(analysis, panes.heat == "numbers" or not has_colours)
    if panes.threats and control.threats is not None:
        for cell, (mark, colour) in control.threats.marks.items():
            look = found.get(cell, NOTHING)
            found[cell] = look._replace(mark=look.mark + mark, mark_colour=colour)
    for cell, label in labels(game.node, game.rules.size).items():
        look, text = found.get(cell, NOTHING), printable(label[:MAX_LABEL])
        if look.stone == EMPTY:
            found[cell] = look._replace(label=text)
        elif not look.number:
            found[cell] = look._replace(number=text[:2])
    if panes.variation and analysis is not None and not game.is_game_over():
        _add_line(found, shown_variation(analysis, cursor), game.side_to_move)
    elif panes.threats and control.threats is not None:
        _add_line(found, control.threats.win, game.side_to_move)
    if control.hint != NO_CELL and found.get(control.hint, NOTHING).stone == EMPTY:
        found[control.hint] = found.get(control.hint, NOTHING)._replace(mark=hint_glyph, mark_colour=EMPTY, ghost=EMPTY)
    if control.pending != NO_CELL:
        found[control.pending] = CellLook(ghost=game.side_to_move)
    return found


def stone_looks(position: Position, numbered: range, *, first: int = 0) -> dict[Cell, CellLook]:
    """Return the looks of the stones: those of the plies `numbered` count from 1; `first`: the first one of a move."""
    winning = position.winning_line()
    return {
        cell: CellLook(
            stone=position.stones[cell],
            number=str(ply - numbered.start + 1) if ply in numbered else "",
            is_last=ply == position.ply - 1 >= first,
            is_winning=cell in winning,
        )
        for ply, cell in enumerate(position.moves)
    }


@lru_cache(maxsize=4)
def _fouls(rules: Rules, stones: bytes) -> tuple[Cell, ...]:
    """Return the cells that are forbidden to Black, to move; the board is painted more often than it changes."""
    board = array("b", stones)
    cells = range(rules.cells if rules.has_fouls else 0)
    return tuple(cell for cell in cells if board[cell] == EMPTY and rules.foul(board, cell, BLACK) is not None)


def shown_variation(analysis: Analysis, cursor: Cell) -> tuple[Cell, ...]:
    """Return the line of the candidate under the cursor, else the best one."""
    lines = (move.line for move in analysis.moves if move.move == cursor)
    # A move alone is no line: the search has hardly looked at it.
    return next((line for line in lines if len(line) > 1), analysis.variation)


def _heat(analysis: Analysis, as_numbers: bool) -> dict[Cell, CellLook]:
    max_prior = max((move.prior or 0.0 for move in analysis.moves), default=0.0)
    visits = sum(move.visits or 0 for move in analysis.moves)
    max_visits = max((move.visits or 0 for move in analysis.moves), default=0)
    found = {}
    for move in analysis.moves:
        prior, share = move.prior or 0.0, (move.visits or 0) / visits if visits else 0.0
        if max(prior, share) < MIN_SHARE:
            continue
        heat = (prior / max_prior if max_prior else 0.0, (move.visits or 0) / max_visits if max_visits else 0.0)
        texts = (_percent(prior), _percent(share)) if as_numbers else ("", "")
        found[move.move] = CellLook(heat=heat, heat_texts=texts)
    return found


def _percent(share: float) -> str:
    """Return a share in percent with at most two digits; `<` is less than one."""
    return "" if share == 0 else "<" if share < 0.005 else str(min(99, round(100 * share)))


def _add_line(found: dict[Cell, CellLook], line: tuple[Cell, ...], to_move: int) -> None:
    for ply, cell in enumerate(line[:MAX_NUMBERED]):
        if found.get(cell, NOTHING).stone == EMPTY:
            found[cell] = CellLook(ghost=to_move if ply % 2 == 0 else -to_move, ghost_text=str(ply + 1))
