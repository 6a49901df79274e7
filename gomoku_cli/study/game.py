"""A game with the analyses of its positions, as SGF files keep them.

An analysis is kept as compact JSON with the player and the limit of its search, so that a later review knows whether
it may take it. Beside it stand SGF's value for Black and a comment that people can read.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.arguments import check_kind
from core.files.json_text import parse_json, value_at, values_at
from core.input_limits import MAX_PLAYER_LENGTH
from core.notation import parse_cell
from core.position import Position
from core.records.record import Annotation, GameRecord
from core.records.tree import ANALYSIS, VALUE, GameTree, Node, value_text
from core.rules import BLACK, Cell, colour_name
from gomoku_cli.printable import counted
from gomoku_cli.study.values import percent
from search.analysis import Analysis, MoveAnalysis
from search.limit import Limit

_MAX_MOVES = 40
"""Moves of an analysis that are kept: the best ones."""
_MIN_PRIOR = 0.001
"""Smallest prior of a move without visits that is kept."""
_MARK = "Analysis: "
"""Beginning of the line of a comment that this module writes."""
_FIELDS = ("move", "value", "prior", "visits", "proof", "line")
"""Parts of a kept move, in order; files of before have no line."""
_INF = math.inf
_OF_MOVES = {"value": (float, -1, 1), "prior": (float, 0, 1), "visits": (int, 0, _INF), "proof": (int, -_INF, _INF)}
_LIMITS = {"depth": (int, -_INF, _INF), "nodes": (int, -_INF, _INF), "seconds": (float, -_INF, _INF)}
"""The numbers of a kept move and of a limit: their types and their bounds."""
_OWN_LINE = re.compile(rf"(?:^|\n){_MARK}(?:black|white) to move, [^\n]*; best [^\n]*, [\d,]+ positions?(?=\n|$)")
"""A whole line of this module (`_comment`); people and other programs may begin theirs with the same word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptAnalysis:
    """An analysis and its origin."""

    analysis: Analysis
    player: str
    """The player that searched, as the command line spells it."""
    limit: Limit | None
    """The limit of the search; None, which is kept for an infinite time too, for a search that was ended by hand."""


@dataclass(frozen=True, slots=True)
class StudiedGame:
    """A game with an analysis, or None, of each position from the empty board on: one more than it has moves."""

    record: GameRecord
    analyses: tuple[KeptAnalysis | None, ...] = ()
    """[moves + 1]; shorter ones are filled up with None."""

    def __post_init__(self) -> None:
        missing = len(self.record.moves) + 1 - len(self.analyses)
        if missing < 0:
            raise ValueError(f"{len(self.analyses)} analyses, but the game has {len(self.record.moves) + 1} positions")
        object.__setattr__(self, "analyses", (*self.analyses, *[None] * missing))

    @classmethod
    def from_record(cls, record: GameRecord) -> "StudiedGame":
        """Return the game with the analyses that its record keeps. One that cannot be read is left out."""
        kept = zip(record.analyses, record.positions(), strict=False)
        return cls(record, tuple(_parsed(text, position) if text else None for text, position in kept))

    def to_record(self) -> GameRecord:
        """Return the record with the analyses as text, the values for Black, and a comment a position."""
        kept = {ply: each for ply, each in enumerate(self.analyses) if each is not None}
        return StudiedTree(GameTree.of(self.record), kept).write().record() if kept else self.record

    def annotations(self) -> tuple[Annotation | None, ...]:
        """Return each analysis as a node of SGF holds it."""
        analysed = zip(self.analyses, self.record.positions(), strict=True)
        return tuple(_annotation(kept, position) if kept else None for kept, position in analysed)

    def with_analysis(self, ply: int, kept: KeptAnalysis | None) -> "StudiedGame":
        """Return the game with an analysis of the position after `ply` moves. Raises `IndexError`."""
        if not 0 <= ply < len(self.analyses):
            raise IndexError(f"the game has the positions 0 to {len(self.analyses) - 1}, not {ply}")
        return StudiedGame(self.record, (*self.analyses[:ply], kept, *self.analyses[ply + 1 :]))

    def position(self, ply: int | None = None) -> Position:
        """Return the position after `ply` moves, by default after all."""
        return Position.from_moves(self.record.rules, self.record.moves[:ply])


@dataclass(frozen=True, slots=True)
class StudiedTree:
    """A game as a tree with the analyses of its positions, as it passes between processes and files."""

    tree: GameTree
    analyses: Mapping[int, KeptAnalysis]
    """By the places of their nodes in `tree.nodes()`."""

    @classmethod
    def of(cls, tree: GameTree, analyses: Mapping[Node, KeptAnalysis]) -> "StudiedTree":
        """Return a tree with analyses of some of its nodes; those of others are left out."""
        return cls(tree, {place: analyses[node] for place, node in enumerate(tree.nodes()) if node in analyses})

    @classmethod
    def read(cls, tree: GameTree) -> "StudiedTree":
        """Return a tree with the analyses that its nodes keep. One that cannot be read is left out."""
        found = {}
        for node, position in tree.positions():
            text = node.text(ANALYSIS)
            if text and (kept := _parsed(text, position)) is not None:
                found[node] = kept
        return cls.of(tree, found)

    def by_node(self) -> dict[Node, KeptAnalysis]:
        """Return the analyses by their nodes."""
        return {node: self.analyses[place] for place, node in enumerate(self.tree.nodes()) if place in self.analyses}

    def write(self) -> GameTree:
        """Write the analyses into the nodes of the tree, with the values for Black and the comments for people.

        A value and an analysis of another program stay, and so do the words of a comment, without a line of ours.
        """
        kept = self.by_node()
        for node, position in self.tree.positions() if kept else ():
            if node in kept:
                _write(kept[node], node, position)
        return self.tree


def _write(kept: KeptAnalysis, node: Node, position: Position) -> None:
    annotation, known = _annotation(kept, position), _parsed(node.text(ANALYSIS), position)
    if known is None and node.text(ANALYSIS):
        return
    node.set_text(ANALYSIS, annotation.analysis)
    if node.text(VALUE) in ("", "" if known is None else value_text(black_value(known.analysis, position))):
        node.set_text(VALUE, value_text(annotation.value))
    node.comment = without_analysis(node.comment) or annotation.comment


def without_analysis(comment: str) -> str:
    """Return a comment without the line of this program's analysis, which once stood below people's words, too."""
    return _OWN_LINE.sub("", comment).strip("\n")


def record_game(
    position: Position,
    *,
    black: str = "",
    white: str = "",
    analyses: Sequence[Analysis | None] = (),
    analyst: str = "",
    limit: Limit | None = None,
) -> GameRecord:
    """Return the record of a game, with the result that its board shows.

    `analyses`: one a position, from the empty board on, or fewer; `analyst` and `limit` are their player and its limit.
    `gomoku play`, `gomoku analyze` and other readers of SGF show them. Raises `ValueError` for too many.

    >>> position = gomoku.Position.from_moves(gomoku.Rules(3, 3), ["a1", "a2", "b1", "b2", "c1"])
    >>> record = gomoku.record_game(position, black="Ann", white="Bob")
    >>> record.winner == gomoku.BLACK
    True
    """
    check_kind("position", position, Position, "a Position")
    check_kind("limit", limit, Limit | None, "a Limit, such as Limit(nodes=200)")
    if not all(isinstance(each, Analysis | None) for each in analyses):
        raise TypeError("analyses are those of Analysis, as wait() returns them")
    record = GameRecord(position.rules, tuple(position.moves), black=black, white=white)
    kept = [None if each is None else KeptAnalysis(analysis=each, player=analyst, limit=limit) for each in analyses]
    return StudiedGame(record, tuple(kept)).to_record()


def analyses_of(record: GameRecord) -> tuple[Analysis | None, ...]:
    """Return the analyses that a record keeps, one a position from the empty board on; None where there is none.

    >>> won = gomoku.Position.from_moves(gomoku.Rules(3, 3), ["a1", "a2", "b1", "b2", "c1"])
    >>> first = gomoku.open_engine("mentor:1").analysis(gomoku.Position(won.rules)).wait()
    >>> record = gomoku.record_game(won, analyses=[first], analyst="mentor:1")
    >>> [each is not None and each.best_move == first.best_move for each in gomoku.analyses_of(record)]
    [True, False, False, False, False, False]
    """
    check_kind("record", record, GameRecord, "a Record, such as record_game(position)")
    return tuple(None if kept is None else kept.analysis for kept in StudiedGame.from_record(record).analyses)


def black_value(analysis: Analysis, position: Position) -> float:
    """Return the value of an analysis for Black, -1 to 1."""
    return analysis.value * position.side_to_move * BLACK


def _annotation(kept: KeptAnalysis, position: Position) -> Annotation:
    text = _text(kept, position)
    again = _parsed(text, position) or kept  # its numbers are rounded, and so are those for people
    comment = _comment(again, position) if position.ply else ""
    return Annotation(text, black_value(again.analysis, position), comment)


def _comment(kept: KeptAnalysis, position: Position) -> str:
    """Return one line about the position, as in `Analysis: white to move, 62 % to win; best i10 (i10 f7 g6); ...`."""
    analysis, side = kept.analysis, position.side_to_move
    line = _line_text(analysis.variation, position)
    proof = analysis.moves[0].proof
    if proof:
        chance = f"{colour_name(side if proof > 0 else -side)} wins in {abs(proof)}"
    else:
        chance = f"{percent(analysis.value)} to win"
    effort = f"{kept.player}, {counted(analysis.nodes, 'position')}"
    return f"{_MARK}{colour_name(side)} to move, {chance}; best line {line}; {effort}"


def _text(kept: KeptAnalysis, position: Position) -> str:
    """Return an analysis as JSON on one line."""
    analysis, limit = kept.analysis, kept.limit
    shown = [
        each
        for number, each in enumerate(analysis.moves[:_MAX_MOVES])
        if each.visits != 0 or number == 0 or each.proof or (each.prior or 0.0) >= _MIN_PRIOR
    ]
    result: dict[str, Any] = {
        "player": kept.player,
        "value": round(analysis.value, 4),
        "nodes": analysis.nodes,
        "seconds": round(analysis.seconds, 6),
        "line": _line_text(analysis.variation, position),
        "moves": [
            [
                position.name_of(each.move),
                None if each.value is None else round(each.value, 4),
                None if each.prior is None else round(each.prior, 4),
                each.visits,
                each.proof,
                _line_text(each.line, position),
            ]
            for each in shown
        ],
    }
    if limit is not None and limit.seconds != math.inf:
        result["limit"] = {name: number for name in _LIMITS if (number := getattr(limit, name)) is not None}
    return json.dumps(result, separators=(",", ":"))


def _line_text(line: Sequence[Cell], position: Position) -> str:
    return " ".join(map(position.name_of, line))


def _parsed(text: str, position: Position) -> KeptAnalysis | None:
    """Return the analysis of a text that `_text` has made; None for any other text, since files come from anyone."""
    try:
        found = parse_json(text)
        if position.is_game_over() or not isinstance(found, dict):
            return None
        moves = tuple(_parsed_move(move, position) for move in values_at(found, "moves", list))
        line, player = _parsed_line(value_at(found, "line", str), position), value_at(found, "player", str)
        if not moves or line[:1] != (moves[0].move,) or len(player) > MAX_PLAYER_LENGTH:
            return None
        return KeptAnalysis(
            analysis=Analysis(
                moves=moves,
                value=value_at(found, "value", float, low=-1, high=1),
                variation=line,
                nodes=value_at(found, "nodes", int, low=0),
                seconds=value_at(found, "seconds", float, low=0),
            ),
            player=player,
            limit=Limit(**_numbers(value_at(found, "limit", dict), _LIMITS)) if "limit" in found else None,
        )
    except ValueError:
        return None


def _parsed_move(fields: list[Any], position: Position) -> MoveAnalysis:
    named = {
        key: field for key, field in zip(_FIELDS, fields, strict=len(fields) != len(_FIELDS) - 1) if field is not None
    }
    cell = parse_cell(value_at(named, "move", str), position.rules.size)
    if not position.is_legal(cell):
        raise ValueError("the move cannot be played")
    line = _parsed_line(value_at(named, "line", str), position) if "line" in named else ()
    if line and line[0] != cell:
        raise ValueError("the line begins with another move")
    return MoveAnalysis(cell, **_numbers(named, _OF_MOVES), line=line)


def _numbers(found: Mapping[str, Any], kinds: Mapping[str, tuple[type[Any], float, float]]) -> dict[str, Any]:
    """Return the numbers among the values, within their bounds."""
    present = ((key, *of) for key, of in kinds.items() if key in found)
    return {key: value_at(found, key, kind, low=low, high=high) for key, kind, low, high in present}


def _parsed_line(text: str, position: Position) -> tuple[Cell, ...]:
    line = position.copy()
    for name in text.split():
        line.push(name)
    return tuple(line.moves[position.ply :])
