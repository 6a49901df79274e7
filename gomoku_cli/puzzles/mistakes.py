"""Puzzles from games: wins by fours that were missed, and the only defences against them, all proven."""

from collections.abc import Callable, Iterator

from core.compiled import stones_of
from core.position import Position
from core.records.record import GameRecord
from core.rules import BLACK, WHITE, Cell, Rules
from curriculum.arena.suite import Puzzle
from curriculum.reporting import Interrupted
from gomoku_cli.puzzles.rated import RatedPuzzle
from gomoku_cli.study.forced import ForcedWins
from gomoku_cli.study.threats import Threats
from search.players import never
from search.solvers.vcf import VcfVerdict, find_vcf

_MAX_ANSWERS = 8
"""Right moves of a defence: with more, the mistake was no hard one to avoid."""
_HUMAN = "you"
"""The player's own name in the saved games of the board."""


class MistakeFinder:
    """Finds puzzles by the rules of one board."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._threats = Threats(rules)
        self._forced = ForcedWins(rules, self._threats)

    def puzzles(self, record: GameRecord, origin: str, stop: Callable[[], bool] = never) -> Iterator[RatedPuzzle]:
        """Yield a puzzle for each mistake with a proven right answer; if one side is `you`, for its mistakes alone.

        `origin`: the file, for the note. Raises `curriculum.reporting.Interrupted` if `stop()` is true before a move.
        """
        names = {BLACK: record.black, WHITE: record.white}
        own = [colour for colour, name in names.items() if name == _HUMAN] or list(names)
        position = Position(record.rules)
        for ply, move in enumerate(record.moves):
            if stop():
                raise Interrupted
            if ply >= record.given and position.side_to_move in own and (found := self._of(position, move)):
                kind, answers, text = found
                note = f"{text}; {origin}, move {ply + 1 - record.set_up}"
                yield RatedPuzzle(Puzzle(kind, tuple(position.moves), answers, note), self._rules)
            position.push(move, recorded=True)

    def _of(self, position: Position, move: Cell) -> tuple[str, tuple[Cell, ...], str] | None:
        """Return kind, right answers and the line that was missed or not seen; None for a move without a mistake."""
        stones, side = stones_of(position), position.side_to_move
        win, threat = (self._threats.win_by_fours(stones, colour) for colour in (side, -side))
        if not (win or threat) or self._wins(position, move):
            return None
        names = " ".join(position.name_of(cell) for cell in win or threat)
        if win:
            kind = "win-in-1" if len(win) == 1 else f"fours-{len(win) // 2}"
            right = [cell for cell in position.legal_moves() if self._wins(position, cell)]
            right.sort(key=lambda cell: cell != win[0])
            return (kind, tuple(right), f"missed {names}") if right else None
        if not self._loses(position, move):
            return None
        right = []
        for cell in position.legal_moves():
            if (loses := self._loses(position, cell)) is None or len(right) > _MAX_ANSWERS:
                return None
            if not loses:
                right.append(cell)
        kind = "block" if len(threat) == 1 else "only-defence"
        return (kind, tuple(right), f"wards off {names}") if right else None

    def _wins(self, position: Position, move: Cell) -> bool:
        played = position.copy()
        played.push(move, recorded=True)
        outcome = played.outcome()
        return outcome.winner == position.side_to_move if outcome else self._forced.defence(played).plies > 0

    def _loses(self, position: Position, move: Cell) -> bool | None:
        """Return True if a move loses by force; None if a win by fours against it is neither found nor ruled out."""
        played = position.copy()
        played.push(move, recorded=True)
        if played.is_game_over():
            return False
        if self._forced.attack(played).plies:
            return True
        return False if find_vcf(played).verdict is VcfVerdict.NONE else None
