"""Pictures of the screen, compared with stored ones.

`python -m tests.support.screenshots` draws all stored pictures anew; look at what changed before you commit them.
"""

import asyncio
import re
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

from core.notation import parse_cell
from core.rules import Rules
from gomoku_cli.tui.engine.messages import PlayerChoice
from gomoku_cli.tui.game import Game, Seats
from gomoku_cli.tui.setup import BoardSetup
from tests.support.scripted_players import AnalysingPlayer
from tests.support.tui import BoardDriver, board_app

FOLDER = Path(__file__).parents[1] / "gomoku_cli" / "tui" / "snapshots"
_MOVES = "h8 i9 h9 h7 g8 i8 i10 j11 g10 f11"
_ID = re.compile(r"terminal-\d+")
_FONTS = re.compile(r"\s*@font-face \{.*?\}", re.DOTALL)


@dataclass(frozen=True)
class Picture:
    """A stored picture: the terminal, the look, and the keys pressed before it is taken."""

    name: str
    terminal: tuple[int, int]
    keys: tuple[str, ...] = ()
    ascii_only: bool = False
    theme: str | None = None
    environment: dict[str, str] = field(default_factory=dict)


PICTURES = (
    Picture("80x24", (80, 24)),
    Picture("80x24-analysis", (80, 24), ("a", "c")),
    Picture("80x24-numbers", (80, 24), ("m", "a", "a")),
    Picture("80x24-folded", (80, 24), ("p",)),
    Picture("80x24-help", (80, 24), ("question_mark",)),
    Picture("80x24-new-game", (80, 24), ("n", "y")),
    Picture("64x34", (64, 34)),
    Picture("120x40", (120, 40)),
    Picture("120x40-analysis", (120, 40), ("a", "c", "g")),
    Picture("120x40-variation", (120, 40), ("v", "m")),
    Picture("120x40-branches", (120, 40), ("comma", "comma", "slash", "c", "3", "enter", "c")),
    Picture("120x40-comment", (120, 40), ("e", "w", "h", "y")),
    Picture("200x60", (200, 60), ("a", "c", "g", "m")),
    Picture("80x24-ascii", (80, 24), ("a", "c", "g"), ascii_only=True),
    Picture("120x40-ascii", (120, 40), ("v",), ascii_only=True),
    Picture("80x24-no-colour", (80, 24), ("a", "c"), environment={"NO_COLOR": "1"}),
    Picture("120x40-no-colour", (120, 40), ("v", "m"), environment={"NO_COLOR": "1"}),
    Picture("120x40-light", (120, 40), ("a", "c", "g"), theme="textual-light"),
    Picture("120x40-dark", (120, 40), ("n", "y"), theme="textual-dark"),
    Picture("20x6", (20, 6)),
)


def _shown(picture: Picture) -> AbstractAsyncContextManager[BoardDriver]:
    player = AnalysingPlayer(15)
    game = Game(Rules(), Seats(None, PlayerChoice(spec="default")), [parse_cell(move, 15) for move in _MOVES.split()])
    for ply in range(game.ply):
        game.learn(ply, player.view_of(game.moves[:ply], 0.3 - 0.1 * (ply % 5)), "default")
    setup = BoardSetup(game=game, ascii_only=picture.ascii_only, theme=picture.theme)
    return board_app(player, setup=setup, terminal=picture.terminal)


async def draw(picture: Picture) -> str:
    """Return a picture of the screen as SVG, without random names and fonts."""
    with mock.patch.dict("os.environ", picture.environment):
        async with _shown(picture) as ui:
            await ui.press(*picture.keys)
            await ui.pilot.pause()
            if ui.app.control.wants_analysis:
                await ui.until(lambda: ui.app.control.analysis is not None and "..." not in ui.status)
                await ui.pilot.pause()
            svg = ui.app.export_screenshot(title="gomoku", simplify=True)
    lines = (line.rstrip() for line in _FONTS.sub("", _ID.sub("terminal", svg)).splitlines())
    return "\n".join(line for line in lines if line) + "\n"


def main() -> None:
    """Draw all stored pictures."""
    FOLDER.mkdir(exist_ok=True)
    for picture in PICTURES:
        (FOLDER / f"{picture.name}.svg").write_text(asyncio.run(draw(picture)), encoding="utf-8")


if __name__ == "__main__":
    main()
