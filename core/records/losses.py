"""Games on their way into another file, and what that does not keep of them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import fields
from pathlib import Path

from core.records.formats import GamesFile, games_text, is_psq, is_sgf, parse_games
from core.records.psq import unkept_lines
from core.records.record import OWN_NOTE, GameRecord, RecordError, names_rules
from core.records.sgf import to_sgf
from core.records.sgf_nodes import nodes, unescaped
from core.records.tree import GameTree

_STRUCTURE = ("FF", "GM", "CA", "SZ", "B", "W")
"""Properties that every SGF file writes in its own way."""


def converted(file: GamesFile, target: Path) -> tuple[Sequence[GameRecord | GameTree], list[str]]:
    """Return the games of a file for another file, and the names of what that does not keep.

    From SGF to SGF nothing is lost, unless they have too many nodes for trees.
    """
    if is_sgf(target):
        with suppress(RecordError):
            return list(file.trees()), _losses(file, target) if is_psq(file.path) else []
    return file.games, _losses(file, target)


def _losses(file: GamesFile, target: Path) -> list[str]:
    """Return the names of what is lost: variations, properties with another value, parts of a record."""
    lost: dict[str, None] = {}
    if not is_psq(file.path):
        if any(not node.is_main for node in nodes(file.content.text)):
            lost["variations"] = None
        kept = Counter(_values("".join(map(to_sgf, file.games))))
        for name, values in _values(file.content.text):
            if name not in _STRUCTURE and not kept[name, values] and not (name == "RU" and names_rules(values)):
                lost[name] = None
            kept[name, values] -= 1
    else:
        lost |= dict.fromkeys(unkept_lines(file.content.text))
    for game in file.games:
        (again,) = parse_games(target, games_text(target, [game]))
        lost |= {
            each.name.replace("times_ms", "times").replace("set_up", "set-up stones"): None
            for each in fields(game)
            if getattr(again, each.name) != getattr(game, each.name)
            and not (each.name == "note" and game.note.startswith(OWN_NOTE))
        }
    return list(lost)


def _values(text: str) -> Iterator[tuple[str, str]]:
    """Yield the properties of the main lines that have a value, each with its values as text."""
    for node in nodes(text):
        for each in node.properties if node.is_main else ():
            value = unescaped(text[each.value_start : each.end - 1])
            if value:
                yield each.name, value
