"""The game on the screen: its tree, its seats, undo and redo, and the analyses of its positions.

Needs neither numpy nor a compiled kernel, so that the board takes moves before these are imported.
"""

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import date
from itertools import pairwise
from typing import Any, NamedTuple

from core.files.json_text import parse_json
from core.opening_rules import FREE, Choice, Opening
from core.records.record import OWN_NOTE, Ending, GameRecord, won_text
from core.records.tree import GameTree, Node
from core.rules import BLACK, EMPTY, WHITE, Cell, Colour, Rules, colour_name
from curriculum.arena import player_names
from gomoku_cli.study.clocks import TimeControl
from gomoku_cli.study.game import KeptAnalysis, StudiedGame, StudiedTree
from gomoku_cli.study.played import PlayedGame
from gomoku_cli.study.values import win_probability
from gomoku_cli.tui.engine.messages import Moved, PlayerChoice
from search.analysis import Analysis
from search.tree.settings import Policy


def has_net(spec: str) -> bool:
    """Return True if a player's name can only be a model's."""
    without = (player_names.MENTOR, player_names.RANDOM, player_names.PURE_MCTS, player_names.ENGINE, "level")
    return spec.partition(":")[0] not in without


class Seats(NamedTuple):
    """The players of both colours; None is a human."""

    black: PlayerChoice | None
    white: PlayerChoice | None

    def of(self, colour: Colour) -> PlayerChoice | None:
        """Return the player of a colour."""
        return self.black if colour == BLACK else self.white

    def swapped(self) -> "Seats":
        """Return the same players with the other colours."""
        return Seats(black=self.white, white=self.black)

    @property
    def human(self) -> Colour:
        """The colour of the only human, `EMPTY` for none or two."""
        if (self.black is None) == (self.white is None):
            return EMPTY
        return BLACK if self.black is None else WHITE

    def name_of(self, colour: Colour) -> str:
        """Return the name of a player: `you`, `human`, or the engine's."""
        choice = self.of(colour)
        if choice is not None:
            return choice.spec
        return "you" if self.human == colour else "human"


class Game(PlayedGame):
    """One game. Moves that were taken back stay in its tree."""

    def __init__(
        self,
        rules: Rules,
        seats: Seats,
        moves: Iterable[Cell] = (),
        *,
        tree: GameTree | None = None,
        analyses: Mapping[Node, KeptAnalysis] | None = None,
        recorded: GameRecord | None = None,
        remark: str = "",
        opening: Opening = FREE,
        clock: TimeControl | None = None,
    ) -> None:
        """`clock`: of a new game."""
        if tree is None:
            tree = GameTree.of(GameRecord(rules, tuple(moves), ending=Ending.UNKNOWN))
        if clock is not None:
            clock.write(tree)
        super().__init__(tree, is_own=recorded is None)
        self.seats = seats
        """The players by colour; until the colours are chosen, the side that begins has Black."""
        self.opening = opening
        """The opening rule and the choices so far."""
        self._analyses = dict(analyses or {})
        """Of positions of the whole tree."""
        self._costs: dict[Node, Moved] = {}
        self.recorded = recorded
        """The record of another program, which names no players of ours."""
        self.remark = remark
        """A remark on this record."""

    @property
    def is_for_review(self) -> bool:
        """True if the game opens in a review: it is over, or a record of another program."""
        return bool(self.moves) and (self.is_game_over() or self.recorded is not None)

    @property
    def _has_engine(self) -> bool:
        return self.seats != Seats(None, None)

    @property
    def own_record(self) -> GameRecord | None:
        """The record of another program while the game is still the one that it holds; else None."""
        return self.recorded if self.recorded is not None and self.line == list(self.recorded.moves) else None

    def player_name(self, colour: Colour) -> str:
        """Return the name of a player: that of the record, also in variations; `you`, `human`, or the engine's."""
        record = self.own_record or (None if self._has_engine else self.recorded)
        if record is None:
            return self.seats.name_of(colour)
        return record.black if colour == BLACK else record.white

    @property
    def state_text(self) -> str:
        """The side to move, or the result at the end of the game, in words."""
        record = self.own_record
        if record is not None and self.is_at_end and (result := won_text(record)):
            return result.capitalize()
        if self.is_opening:
            return f"{self.opening_player} to {'choose' if self.choices else f'place {self.opening.stones - self.ply}'}"
        if not self.is_game_over():
            return f"{colour_name(self.side_to_move).capitalize()} to move"
        return "A draw" if self.winner is None else f"{colour_name(self.winner).capitalize()} has won"

    @property
    def opening_player(self) -> str:
        """The player whose turn it is in an opening, by the order in which they began."""
        return f"{('First', 'Second')[self.opening.actor(self.ply)]} player"

    @property
    def is_opening(self) -> bool:
        """True while stones are placed and colours are chosen by an opening rule."""
        return not self.opening.is_over(self.ply)

    @property
    def choices(self) -> tuple[Choice, ...]:
        """The choices of the side whose turn it is; none where it places a stone or moves."""
        return self.opening.options(self.ply)

    @property
    def actor(self) -> Colour:
        """The colour of the player whose turn it is, who may place a stone for the other one in an opening."""
        return self.opening.colour_of(self.opening.actor(self.ply)) if self.is_opening else self.side_to_move

    @property
    def player_to_move(self) -> PlayerChoice | None:
        """The engine whose turn it is; None for a human, and after the end."""
        return None if self.is_game_over() else self.seats.of(self.actor)

    @property
    def is_humans_turn(self) -> bool:
        """True if the game goes on and a human is to move."""
        return not self.is_game_over() and self.seats.of(self.actor) is None

    def choose(self, choice: Choice) -> None:
        """Take a choice of the opening rule, which fixes the colours or lets the other side place two stones."""
        self.opening = self.opening.after(choice)
        if self.opening.black == 1:
            self.seats = self.seats.swapped()

    @property
    def has_human_move(self) -> bool:
        """True if a move of a human is on the board."""
        return any(self.seats.of(self.stones[cell]) is None for cell in self.moves[self._first_ply :])

    @property
    def has_human_part(self) -> bool:
        """True if a human has moved, placed stones of the opening or chosen."""
        if not self.opening.stones:
            return self.has_human_move
        first, second = (self.seats.of(self.opening.colour_of(side)) is None for side in (0, 1))
        return (first and self.ply > 0) or (second and bool(self.opening.choices))

    @property
    def _first_ply(self) -> int:
        """The ply before which no move is taken back: what others have placed or chosen stands."""
        if self.opening.is_chosen or self.opening.options(max(self.ply, len(self.tree.main_line()))):
            return max(self.opening.stones, self.tree.set_up)
        return 3 if self.opening.choices else 0

    @property
    def stands(self) -> bool:
        """True if no other stone may follow here: the colours were chosen for the one that the opening has."""
        return self.ply < min(self._first_ply, self.opening.stones)

    def play(self, cell: Cell, *, first: bool = True) -> None:
        """Play a move. In place of moves that were taken back it becomes the main one, unless they ended the game.

        `first`: False makes it a variation. Raises `core.position.IllegalMoveError`.
        """
        self.opening.check(self, cell)
        first = first and self.recorded is None and not (self.node.children and self._is_decided(self.node))
        super().play(cell, first=first)

    @property
    def may_promote(self) -> bool:
        """False on the main line, and for what would take the place of one that decided the game or its colours."""
        branch = self.node.branch()
        if branch is None or branch.parent is None or len(branch.path()) <= self._first_ply:
            return False
        return not (branch.parent.is_main() and self._is_decided(self.tree))

    def promote(self) -> bool:
        """See `Walk.promote`; return False where `may_promote` is False."""
        return self.may_promote and super().promote()

    def undo(self) -> bool:
        """Go back to the last turn of a human, one move where there is no human; return False if there is none."""
        first = self._first_ply
        if self.ply <= first or (self.seats.human != EMPTY and not self.has_human_move):
            return False
        self.pop()
        while self.ply > first and self.seats.human not in (EMPTY, self.actor):
            self.pop()
        return True

    def redo(self) -> bool:
        """Play the moves that were taken back, on to the next turn of a human; return False if there are none."""
        if self.is_at_end:
            return False
        self.go_to(self.ply + 1)
        while not self.is_at_end and self.seats.human not in (EMPTY, self.actor):
            self.go_to(self.ply + 1)
        return True

    @property
    def analyst(self) -> PlayerChoice:
        """The player that analyses this game: a net of its own, else the strongest that fits the board."""
        for choice in (self.seats.white, self.seats.black):
            if choice is not None and has_net(choice.spec):
                return PlayerChoice(spec=choice.spec, policy=Policy.DETERMINISTIC, tactics=choice.tactics)
        # The built-in model plays its number in a row on every board.
        spec = player_names.DEFAULT if self.rules.connect == Rules().connect else player_names.MENTOR
        return PlayerChoice(spec=spec, policy=Policy.DETERMINISTIC)

    def analysis_at(self, ply: int) -> Analysis | None:
        """Return the analysis of the position after `ply` moves of the line; None without one."""
        kept = self._analyses.get(self.node_at(ply))
        return None if kept is None else kept.analysis

    def speaker_at(self, ply: int) -> str:
        """Return the player of this analysis; nothing without one."""
        kept = self._analyses.get(self.node_at(ply))
        return "" if kept is None else kept.player

    def cost_at(self, ply: int) -> Moved | None:
        """Return the answer with the work of the move after `ply` others; None for a human's."""
        return self._costs.get(self.nodes[ply]) if ply < len(self.nodes) else None

    def charge(self, answer: Moved) -> None:
        """Keep the work of the last move."""
        self._costs[self.node] = answer

    def learn(self, ply: int, analysis: Analysis, speaker: str, *, instead: bool = False) -> None:
        """Keep the analysis of the position after `ply` moves, unless a longer one is known.

        `instead`: also in place of a longer one of another player.
        """
        known = self.analysis_at(ply)
        if known is not None and known.nodes > analysis.nodes and not (instead and self.speaker_at(ply) != speaker):
            return
        self._analyses[self.node_at(ply)] = KeptAnalysis(analysis=analysis, player=speaker, limit=None)

    @property
    def can_delete(self) -> bool:
        """True if there is a last move, and not a stone or a move of an opening rule."""
        return self.ply > self._first_ply

    def studied(self) -> StudiedGame:
        """Return the whole line with its analyses."""
        kept = (self._analyses.get(self.node_at(ply)) for ply in range(len(self.nodes) + 1))
        return StudiedGame(
            GameRecord(self.rules, tuple(self.line), set_up=self.tree.set_up, opening=self.opening),
            tuple(each if each is not None and each.analysis.moves else None for each in kept),
        )

    def to_save(self, *, anywhere: bool = False) -> StudiedTree:
        """Return the game as it is saved; the record of another program keeps its header.

        `anywhere`: models are named by their whole path, so that the game goes on from any folder.
        """
        if self.recorded is None:
            winner, ending = self.result
            settings = [seat and (seat.absolute() if anywhere else seat)._asdict() for seat in self.seats]
            self.tree.set_header(
                GameRecord(
                    self.rules,
                    (),
                    winner,
                    black=self.seats.name_of(BLACK),
                    white=self.seats.name_of(WHITE),
                    note=OWN_NOTE + json.dumps(settings),
                    date=self.tree.text("DT") or date.today().isoformat(),
                    ending=ending,
                    source=self.tree.text("SO"),
                    opening=self.opening,
                )
            )
        return StudiedTree.of(self.tree, {node: kept for node, kept in self._analyses.items() if kept.analysis.moves})

    @classmethod
    def from_saved(cls, game: StudiedTree, remark: str = "", *, is_own: bool = True) -> "Game":
        """Return a saved game; the players of a record of another program are humans.

        `remark`: on this record. `is_own`: from this user's folder. In any other record a program (`engine:COMMAND`)
        becomes a human: the record may be a stranger's, and opening it must run nothing.
        """
        record = game.tree.record()
        return cls(
            record.rules,
            _seats_of(record.note, with_programs=is_own),
            tree=game.tree,
            analyses=game.by_node(),
            recorded=None if record.note.startswith(OWN_NOTE) else record,
            remark=remark,
            opening=record.opening,
        )

    def rematch(self) -> "Game":
        """Return a new game of the same players with the other colours."""
        return Game(self.rules, self.seats.swapped(), opening=Opening(self.opening.rule), clock=self.control)

    def value_for_black(self, ply: int) -> float | None:
        """Return the expected result for black after `ply` moves, -1 to 1; None without an analysis of it."""
        if ply == self.ply and self.is_game_over():
            return float(self.winner or 0)
        analysis = self.analysis_at(ply)
        if analysis is None:
            return None
        return analysis.value if ply % 2 == 0 else -analysis.value

    def curve(self, *, by_analyst: bool) -> list[float | None]:
        """Return black's win probability after each ply of the whole game; None before and after all known ones.

        `by_analyst`: the curve of the analyst, who has seen all positions alike. Else it is that of one player
        before the moves of one side, of which most are known: several players, or the short search for a move and the
        long one of a pane in turn, would be a saw. Between two known positions lies a straight line. The last value
        holds for one move more, since the player took that move for the best. The end is sure.
        """
        plies = range(len(self.nodes) + 1)
        groups: dict[tuple[str, int], dict[int, float]] = {}
        for ply in plies:
            if (analysis := self.analysis_at(ply)) is not None:
                value = analysis.value * (1 if ply % 2 == 0 else -1)
                key = (self.speaker_at(ply), 0 if by_analyst else ply % 2)
                groups.setdefault(key, {})[ply] = win_probability(value)
        known = (
            groups.get((self.analyst.spec, 0), {})
            if by_analyst
            else max(groups.values(), key=lambda group: (len(group), max(group)), default={})
        )
        if (end := self.at(plies[-1]).outcome()) is not None:
            known[plies[-1]] = win_probability(float(end.winner or 0))
        found: list[float | None] = [None] * len(plies)
        for first, last in pairwise(sorted(known)):
            for ply in range(first, last):
                share = (ply - first) / (last - first)
                found[ply] = (1 - share) * known[first] + share * known[last]
        if known:
            last = max(known)
            found[last : last + 2] = [known[last]] * len(found[last : last + 2])
        return found

    def result_text(self) -> str:
        """Return the result of the finished game in words, with the name of the player who has won."""
        # Nobody of the record has won a variation.
        is_theirs = self.own_record is not None or self.recorded is None or self._has_engine
        name = self.player_name(self.winner) if self.winner is not None and is_theirs else ""
        nameless = {"you": "you have won", "human": "the game is over", "": "the game is over"}
        return self.ending_text(nameless.get(name, f"{name} has won"))

    def values_of(self, colour: Colour) -> list[float]:
        """Return the values of the engine with these stones before its own moves, -1 to 1, oldest first."""
        choice, first = self.seats.of(colour), 0 if colour == BLACK else 1
        kept = (self._analyses.get(self.node_at(ply)) for ply in range(first, self.ply, 2))
        return [each.analysis.value for each in kept if each and choice and each.player == choice.spec]


def _seats_of(note: str, *, with_programs: bool) -> Seats:
    """Return the players of a record's note; humans where it names none, and for programs that are not wanted."""

    def player(kept: dict[str, Any] | None) -> PlayerChoice | None:
        if kept is None:
            return None
        choice = PlayerChoice(**{**kept, "policy": Policy(kept["policy"])}).relative()
        return None if choice.is_program and not with_programs else choice

    if note.startswith(OWN_NOTE):
        with suppress(AttributeError, ValueError, TypeError, KeyError):
            black, white = map(player, parse_json(note.removeprefix(OWN_NOTE)))
            return Seats(black, white)
    return Seats(None, None)
