"""The figures of `gomoku picture`: a game with move numbers on the stones, and below it the values over the moves.

As GIF it is the game move by move.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.position import Position
from core.records.record import GameRecord
from gomoku_cli.reports import board_figure
from gomoku_cli.reports.board_figure import EDGE, LAST
from gomoku_cli.reports.game import game_title, views_of
from gomoku_cli.reports.plots import BLUE, GIF, GREY, count_on, drawn, legend_above, titled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WOOD, _CROSSINGS = "#f6e7cb", "#8a7350"
_VALUES_HEIGHT = 2.0
"""Of the panel of values, in inches."""
_GIF_DPI, _FRAME_MS, _LAST_FRAME_MS, _GIF_COLOURS = 80, 700, 4000, 48


def draw_game(record: GameRecord, path: Path) -> None:
    """Draw a game: its stones with their numbers, the last move, the winning line, and the values if there are any."""
    if path.suffix.lower() == GIF:
        _animate(record, path)
        return
    views = views_of(record)
    has_values = any(values for _, values in views)
    below = _VALUES_HEIGHT if has_values else 0.0
    with drawn(path, game_title(record), width=EDGE + 0.6, height=EDGE + 0.9 + below) as figure:
        if not has_values:
            _board(figure.subplots(), record)
            return
        board, graph = figure.subplots(2, 1, height_ratios=(EDGE + 0.4, below))
        _board(board, record)
        graph.axhline(0, color=GREY, linestyle="--", linewidth=1)
        for (numbers, values), side, fill in zip(views, ("black", "white"), ("#1b1f24", "white"), strict=True):
            graph.plot(
                numbers,
                values,
                "o-",
                color="#1b1f24" if side == "black" else GREY,
                markerfacecolor=fill,
                markersize=4,
                linewidth=1,
                label=f"before {side}'s moves",
            )
        graph.set(title="Value for black", xlabel="move", ylim=(-1.08, 1.08), xlim=(0, len(record.moves) + 1))
        count_on(graph.xaxis)
        legend_above(graph)


def _animate(record: GameRecord, path: Path) -> None:
    """Write an animation: a stone more in each frame, a ring around it, and the winning line at the end."""
    from matplotlib.backends import backend_agg
    from PIL import Image

    from core.files.atomic import atomic_path

    size, frames = record.rules.size, []
    with titled(game_title(record), width=EDGE + 0.6, height=EDGE + 0.9, dpi=_GIF_DPI) as figure:
        canvas: Any = backend_agg.FigureCanvasAgg(figure)
        axes = figure.subplots()
        _empty_board(axes, size)
        canvas.draw()
        position = Position(record.rules)
        for ply, cell in enumerate([None, *record.moves], start=-1):
            if cell is not None:
                position.push(cell, recorded=True)
                board_figure.draw_stones(axes, {cell: position.stones[cell]}, size)
                axes.draw_artist(axes.patches[-1])
                if ply >= record.set_up:
                    board_figure.number_stone(axes, ply, cell, size, set_up=record.set_up)
                    axes.draw_artist(axes.texts[-1])
            if position.ply < record.set_up:
                continue
            # Only the new stone is drawn, on what stands already; the rings are not kept.
            kept = canvas.copy_from_bbox(figure.bbox)
            winning = position.winning_line()
            for ringed in winning or position.moves[record.set_up :][-1:]:
                board_figure.ring_stone(axes, ringed, size, BLUE if winning else LAST)
                axes.draw_artist(axes.patches[-1])
            frame = Image.frombytes("RGBA", canvas.get_width_height(), bytes(canvas.buffer_rgba()))
            frames.append(frame.convert("RGB").quantize(_GIF_COLOURS))
            canvas.restore_region(kept)
    durations = [*[_FRAME_MS] * (len(frames) - 1), _LAST_FRAME_MS]
    with atomic_path(path) as temporary:
        frames[0].save(temporary, GIF[1:], save_all=True, append_images=frames[1:], duration=durations, loop=0)


def _empty_board(axes: "Axes", size: int) -> None:
    board_figure.set_board(axes, size)
    axes.set_facecolor(_WOOD)
    for line in range(size):
        axes.plot([0, size - 1], [line, line], color=_CROSSINGS, linewidth=0.7, zorder=1)
        axes.plot([line, line], [0, size - 1], color=_CROSSINGS, linewidth=0.7, zorder=1)


def _board(axes: "Axes", record: GameRecord) -> None:
    position = Position.from_moves(record.rules, record.moves)
    size = record.rules.size
    _empty_board(axes, size)
    board_figure.draw_stones(axes, {cell: position.stones[cell] for cell in position.moves}, size)
    winning = position.winning_line()
    for cell in winning:
        board_figure.ring_stone(axes, cell, size, BLUE)
    if position.ply > record.set_up and not winning:
        board_figure.ring_stone(axes, position.moves[-1], size, LAST)
    board_figure.number_stones(axes, position.moves, size, set_up=record.set_up)
    board_figure.mark_forbidden(axes, position.fouls(), size)
