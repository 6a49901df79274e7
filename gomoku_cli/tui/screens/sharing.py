"""Copies of the game for other programs and people: text for the clipboard, and pictures in files."""

from copy import deepcopy
from itertools import count
from pathlib import Path

from core.notation import link_text
from core.records.sgf import to_sgf
from core.records.tree import ANALYSIS
from gomoku_cli.tui.game import Game

TEXTS = {"m": "moves", "l": "link", "t": "board", "s": "SGF"}
"""Copies by the keys of the question."""
PICTURES = {"p": "PNG", "v": "SVG", "g": "GIF"}


def text_of(game: Game, key: str) -> str:
    """Return the text of a key of `TEXTS`: of the shown position, as SGF of the game with its variations.

    The SGF has the values and comments of analyses, and not the analyses themselves, which are long.
    """
    if key == "s":
        tree = deepcopy(game.to_save()).write()
        for node in tree.nodes():
            node.set_text(ANALYSIS, "")
        return to_sgf(tree)
    if key == "l":
        return link_text(game.moves, game.rules.size)
    return str(game) if key == "t" else " ".join(map(game.name_of, game.moves))


def picture_path(key: str) -> Path:
    """Return a path in the current folder for a picture of a key of `PICTURES`: the first that is free."""
    paths = (Path.cwd() / f"gomoku-{number}.{PICTURES[key].lower()}" for number in count(1))
    return next(path for path in paths if not path.exists())
