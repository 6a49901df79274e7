"""Draw the picture of the board for the documents: `python -m benchmarks.draw_board docs/board.svg`.

The mentor's second level plays black against the built-in model; then the game is shown with the analysis of the
position, its candidates and its graph. Textual exports the screen as SVG. The picture leaves out the font, which comes
from another site, and so gives every character outside ASCII a position of its own.
"""

import argparse
import asyncio
import html
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from core.rules import Rules
from curriculum.arena import player_names
from gomoku_cli.tui.app import GomokuApp
from gomoku_cli.tui.engine.client import EngineProcess
from gomoku_cli.tui.engine.messages import PlayerChoice
from gomoku_cli.tui.game import Game, Seats
from gomoku_cli.tui.setup import BoardSetup
from nets.config import RuntimeChoice
from search.tree.settings import Policy

_TERMINAL = (108, 36)
_COLUMN = 12.2
"""Width of a character in the export."""
_RECTANGLE = re.compile(
    r'<rect fill="([^"]*)" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)" shape-rendering="crispEdges"/>'
)
_TEXT = re.compile(r'<text class="([^"]*)" x="([\d.]+)" y="([\d.]+)"[^>]*clip-path[^>]*>([^<]*)</text>')
_LEFT_OUT = re.compile(r'\s*@font-face \{.*?\}|\s*<clipPath id="[^"]*-line-\d+">.*?</clipPath>', re.DOTALL)


async def screenshot(plies: int) -> str:
    """Return the screen after this many plies as SVG."""
    black = PlayerChoice(spec=f"{player_names.MENTOR}:2", policy=Policy.DETERMINISTIC)
    white = PlayerChoice(spec=player_names.DEFAULT, policy=Policy.DETERMINISTIC)
    engine = EngineProcess(RuntimeChoice())
    app = GomokuApp(engine, BoardSetup(rules=Rules(), seats=Seats(black, white)))
    try:
        async with app.run_test(size=_TERMINAL) as pilot:
            while app.game.ply < plies and not app.game.is_game_over():
                await pilot.pause(0.02)
            if app.game.is_game_over():
                raise SystemExit(f"the game is over after {app.game.ply} plies: give fewer with --plies")
            played = app.game
            played.seats = Seats(None, white)
            game = Game.from_saved(played.to_save())
            app.control.new_game(game)
            await pilot.press("a", "c", "g")
            while (found := app.control.analysis) is None or (found.nodes < 4000 and found.moves[0].proof is None):
                await pilot.pause(0.05)
            return app.export_screenshot(title="gomoku play")
    finally:
        engine.close()


def simplified(picture: str) -> str:
    """Return the SVG without fonts of another site, with neighbours of one style joined and short names."""
    picture = _LEFT_OUT.sub("", picture)
    picture = picture.replace("font-variant-east-asian: full-width", "white-space: pre")
    picture = _join(_RECTANGLE, _rectangle, picture)
    picture = _join(_TEXT, _text, picture)
    return re.sub(r"terminal-\d+-", "t-", picture).replace("t-r", "r") + "\n"


def _join(pattern: re.Pattern[str], draw: Callable[[Sequence[tuple[str, ...]]], str], picture: str) -> str:
    """Replace the matches by one element for each run of neighbours with the same style and row."""
    found = list(pattern.finditer(picture))
    runs: list[list[tuple[str, ...]]] = []
    for match in found:
        groups = match.groups()
        style, x, y = groups[:3]
        if runs and (style, y) == (runs[-1][-1][0], runs[-1][-1][2]) and abs(_end(runs[-1][-1]) - float(x)) < 0.5:
            runs[-1].append(groups)
        else:
            runs.append([groups])
    return picture[: found[0].start()] + "".join(map(draw, runs)) + picture[found[-1].end() :]


def _end(groups: tuple[str, ...]) -> float:
    """Return the right edge of a rectangle or of a text."""
    return float(groups[1]) + (float(groups[3]) if len(groups) == 5 else len(html.unescape(groups[3])) * _COLUMN)


def _rectangle(run: Sequence[tuple[str, ...]]) -> str:
    fill, x, y, _, height = run[0]
    return f'<rect fill="{fill}" x="{x}" y="{y}" width="{_end(run[-1]) - float(x):g}" height="{height}"/>'


def _text(run: Sequence[tuple[str, ...]]) -> str:
    """Draw a text without the spaces around it. Characters outside ASCII get a position each."""
    style, x, y, _ = run[0]
    text = html.unescape("".join(groups[3] for groups in run)).replace("\xa0", " ")
    start = float(x) + (len(text) - len(text.lstrip())) * _COLUMN
    text = text.strip()
    if not text:
        return ""
    if text.isascii():
        place = f'x="{start:g}" y="{y}" textLength="{len(text) * _COLUMN:g}"'
        text = text.replace("  ", "\xa0\xa0")  # SVG joins neighbouring spaces
    else:
        place = f'x="{" ".join(f"{start + number * _COLUMN:g}" for number in range(len(text)))}" y="{y}"'
    return f'<text class="{style}" {place}>{html.escape(text, quote=False)}</text>\n'


def main() -> None:
    """Write the picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--plies", type=int, default=12)
    arguments = parser.parse_args()
    arguments.file.write_text(simplified(asyncio.run(screenshot(arguments.plies))), encoding="utf-8")


if __name__ == "__main__":
    main()
