"""Draw the picture of the board for the documents: `python -m benchmarks.draw_board docs/board.svg`.

The mentor's second level plays black against the built-in model; then the game is shown with the analysis of the
position, its candidates and its graph. Textual exports the screen as SVG. The picture leaves out the font, which comes
from another site, and so gives every character outside ASCII a position of its own.
"""

import argparse
import asyncio
import html
import re
from contextlib import closing
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

_TERMINAL, _PLIES = (108, 36), 12
_COLUMN = 12.2
"""Width of a character in the export."""
_TEXT = re.compile(r'<text class="([^"]*)" x="([\d.]+)" y="([\d.]+)" textLength="([\d.]+)"[^>]*>([^<]*)</text>')
_LEFT_OUT = re.compile(
    r'\s*@font-face \{.*?\}|<text [^>]*>\n</text>|\s*<clipPath id="[^"]*-line-\d+">.*?</clipPath>', re.DOTALL
)


async def screenshot() -> str:
    """Return the screen after some plies as SVG."""
    black = PlayerChoice(spec=f"{player_names.MENTOR}:2", policy=Policy.DETERMINISTIC)
    white = PlayerChoice(spec=player_names.DEFAULT, policy=Policy.DETERMINISTIC)
    with closing(EngineProcess(RuntimeChoice())) as engine:
        app = GomokuApp(engine, BoardSetup(rules=Rules(), seats=Seats(black, white)))
        async with app.run_test(size=_TERMINAL) as pilot:
            while app.game.ply < _PLIES and not app.game.is_game_over():
                await pilot.pause(0.02)
            if app.game.is_game_over():
                raise SystemExit(f"the game is over after {app.game.ply} plies, before {_PLIES}")
            played = app.game
            played.seats = Seats(None, white)
            game = Game.from_saved(played.to_save())
            app.control.new_game(game)
            await pilot.press("a", "c", "g")
            while (found := app.control.analysis) is None or (found.nodes < 4000 and found.moves[0].proof is None):
                await pilot.pause(0.05)
            return app.export_screenshot(title="gomoku play", simplify=True)


def simplified(picture: str) -> str:
    """Return the SVG without fonts of another site, with places for characters outside ASCII, and with short names."""
    picture = _LEFT_OUT.sub("", picture)
    picture = picture.replace("font-variant-east-asian: full-width", "white-space: pre")
    return re.sub(r"terminal-\d+-", "t-", _TEXT.sub(_text, picture)) + "\n"


def _text(match: re.Match[str]) -> str:
    """Return a text in which each character has its place, unless all are ASCII."""
    style, x, y, width, escaped = match.groups()
    text = html.unescape(escaped).replace("\xa0", " ")
    if text.isascii():
        return f'<text class="{style}" x="{x}" y="{y}" textLength="{width}">{escaped}</text>'
    places = " ".join(f"{float(x) + number * _COLUMN:g}" for number in range(len(text)))
    return f'<text class="{style}" x="{places}" y="{y}">{html.escape(text, quote=False)}</text>'


def main() -> None:
    """Write the picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    arguments = parser.parse_args()
    arguments.file.write_text(simplified(asyncio.run(screenshot())), encoding="utf-8")


if __name__ == "__main__":
    main()
