"""Results of matches: played games, tallies, and the statistics of two players."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from core.files.json_text import value_at, values_at
from core.input_limits import MAX_SECONDS
from core.notation import cell_name, parse_cell
from core.opening_rules import Opening
from core.position import Position
from core.records.record import Ending, GameRecord
from core.rules import BLACK, WHITE, Cell, Colour, Rules, colour_name
from curriculum.arena.fixtures import Fixture
from curriculum.arena.statistics import elo

_MAX_VALUE = 1.001
"""The largest expected result, and some room for rounding."""


@dataclass(slots=True)
class Tally:
    """Counts of results, from the first player's side."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    @property
    def games(self) -> int:
        """Number of games."""
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        """Wins plus half the draws, divided by the games; 0.5 without games."""
        return (self.wins + 0.5 * self.draws) / self.games if self.games else 0.5

    def add(self, winner: Colour | None, colour: Colour) -> None:
        """Count a game in which the first player had `colour`."""
        if winner is None:
            self.draws += 1
        elif winner == colour:
            self.wins += 1
        else:
            self.losses += 1

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(self.wins + other.wins, self.draws + other.draws, self.losses + other.losses)

    def reversed(self) -> "Tally":
        """Return the counts from the other player's side."""
        return Tally(self.losses, self.draws, self.wins)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedGame:
    """A finished game of a match."""

    fixture: Fixture
    moves: tuple[Cell, ...]
    """All moves, including those of the opening."""
    winner: Colour | None
    """None for a draw."""
    ending: Ending = Ending.BOARD
    why: str = ""
    """Reason of a forfeit."""
    date: str = ""
    """ISO 8601."""
    values: tuple[float | None, ...] = ()
    """One a move: the mover's expected result, -1 to 1 for its side; None in the opening and without an evaluation."""
    simulations: tuple[int, ...] = ()
    """One a move: simulations, playouts or nodes; 0 in the opening."""
    seconds: tuple[float, ...] = ()
    """One a move: thinking time; 0 in the opening. Moves of one batch share their mean."""

    def thinking(self, colour: Colour) -> tuple[float, ...]:
        """Return the thinking times of one side's own moves, in seconds."""
        first = len(self.fixture.opening)
        return tuple(
            time for ply, time in enumerate(self.seconds) if ply >= first and (ply % 2 == 0) == (colour == BLACK)
        )

    def record(self, rules: Rules, names: Sequence[str]) -> GameRecord:
        """Return the game as a record whose comments hold values and visit counts."""
        comments = []
        for value, count in zip(self.values, self.simulations, strict=True):
            parts = [f"value {value:+.3f}"] if value is not None else []
            parts += [f"visits {count}"] if count else []
            comments.append(", ".join(parts))
        return GameRecord(
            rules,
            self.moves,
            self.winner,
            black=names[self.fixture.black],
            white=names[self.fixture.white],
            comments=tuple(comments) if any(comments) else (),
            note=f"game {self.fixture.number}" + (f"; {self.why}" if self.why else ""),
            opening=self.fixture.rule,
            date=self.date[:10],
            times_ms=tuple(round(1000 * time) for time in self.seconds),
            ending=self.ending,
        )

    def to_json(self, rules: Rules, names: Sequence[str]) -> dict[str, Any]:
        """Return the game as a line of `games.jsonl`."""
        return {
            "game": self.fixture.number,
            "black": names[self.fixture.black],
            "white": names[self.fixture.white],
            "winner": None if self.winner is None else colour_name(self.winner),
            "ending": self.ending.name.lower(),
            "why": self.why,
            "plies": len(self.moves),
            "opening": len(self.fixture.opening),
            **({} if self.fixture.rule.stones == 0 else {"opening_rule": str(self.fixture.rule)}),
            "moves": " ".join(cell_name(move, rules.size) for move in self.moves),
            "values": self.values,
            "simulations": self.simulations,
            "seconds": self.seconds,
            "date": self.date,
        }

    @classmethod
    def from_json(
        cls, line: Mapping[str, Any], fixture: Fixture, rules: Rules, names: Sequence[str] | None
    ) -> "PlayedGame":
        """Return the game of `fixture` from a line of `to_json`; without `names` its players may have any.

        Keys that `to_json` does not write are ignored. Raises `ValueError` with the key of the mistake.
        """
        moves = tuple(parse_cell(name, rules.size) for name in value_at(line, "moves", str).split())
        if fixture.rule.stones:
            opening = Opening.parse(value_at(line, "opening_rule", str))
            if opening.rule is not fixture.rule.rule:
                raise ValueError("its opening rule is another one")
            fixture = fixture.chosen(opening, moves[: value_at(line, "opening", int, low=0)])
        if names and (line.get("black"), line.get("white")) != (names[fixture.black], names[fixture.white]):
            raise ValueError("its players are others")
        outcome = Position.from_moves(rules, moves).outcome()
        winner = None if line.get("winner", "") is None else value_at(line, "winner", str)
        colours = {None: None, colour_name(BLACK): BLACK, colour_name(WHITE): WHITE}
        endings = {ending.name.lower(): ending for ending in Ending}
        if winner not in colours or value_at(line, "ending", str) not in endings:
            raise ValueError("it has no such winner or ending")
        game = cls(
            fixture=fixture,
            moves=moves,
            winner=colours[winner],
            ending=endings[line["ending"]],
            why=value_at(line, "why", str),
            date=value_at(line, "date", str),
            values=tuple(
                None
                if value is None
                else value_at({"values": value}, "values", float, low=-_MAX_VALUE, high=_MAX_VALUE)
                for value in value_at(line, "values", list)
            ),
            simulations=tuple(values_at(line, "simulations", int, low=0)),
            seconds=tuple(values_at(line, "seconds", float, low=0, high=MAX_SECONDS)),
        )
        if moves[: len(fixture.opening)] != fixture.opening:
            raise ValueError("its opening is another one")
        if (outcome is None) == (game.ending is Ending.BOARD) or (outcome and outcome.winner != game.winner):
            raise ValueError("its result is not that of its board")
        if any(len(column) != len(moves) for column in (game.values, game.simulations, game.seconds)):
            raise ValueError("its values, simulations or seconds are not one a move")
        return game


@dataclass(frozen=True, slots=True)
class Forfeit:
    """A game lost by a fault or on time instead of on the board."""

    game: int
    player: str
    why: str


@dataclass(slots=True)
class MatchResult:
    """The result of a match, from the first player's side.

    >>> match = gomoku.play_match(gomoku.open_player("mentor:1"), gomoku.open_player("random"), games=2)
    >>> isinstance(match, gomoku.MatchResult), match.total.score, match.estimate.results
    (True, 1.0, 1)
    """

    player: str
    opponent: str
    first: int = 0
    """Number of the first player in the fixtures."""
    paired: bool = True
    """True if each opening is played with both colours; the statistics then count pairs instead of single games."""
    as_black: Tally = field(default_factory=Tally)
    as_white: Tally = field(default_factory=Tally)
    games: list[PlayedGame] = field(default_factory=list)
    """The games in the order of their ends."""
    seconds: float = 0.0

    def add(self, game: PlayedGame) -> None:
        """Count a game."""
        self.games.append(game)
        colour = self.colour_in(game)
        (self.as_black if colour == BLACK else self.as_white).add(game.winner, colour)

    def colour_in(self, game: PlayedGame) -> Colour:
        """Return the first player's colour."""
        return BLACK if game.fixture.black == self.first else WHITE

    @property
    def total(self) -> Tally:
        """Tally of both colours."""
        return self.as_black + self.as_white

    @property
    def pairs(self) -> elo.PairCounts:
        """Counts of the finished pairs of games by the first player's points: 0, ½, 1, 1½ and 2."""
        return elo.pair_counts((game.fixture.pair, self.score_in(game)) for game in self.games)

    @property
    def estimate(self) -> elo.EloEstimate:
        """Elo difference of the players: from pairs of games, from single games in an unpaired match."""
        total = self.total
        return elo.estimate(self.pairs if self.paired else elo.game_counts(total.wins, total.draws, total.losses))

    def score_in(self, game: PlayedGame) -> float:
        """Return the first player's points: 0, 0.5 or 1."""
        if game.winner is None:
            return 0.5
        return 1.0 if game.winner == self.colour_in(game) else 0.0

    @property
    def distinct_games(self) -> int:
        """Number of different games."""
        return len({game.moves for game in self.games})

    @property
    def forfeits(self) -> list[Forfeit]:
        """Games lost on time or by a fault."""
        names = (self.player, self.opponent)
        return [
            Forfeit(game.fixture.number, names[self.score_in(game) == 1.0], game.why)
            for game in self.games
            if game.ending is not Ending.BOARD
        ]

    def thinking(self) -> tuple[list[float], list[float]]:
        """Return the thinking times of the first player's moves and of the opponent's, in seconds."""
        mine: list[float] = []
        theirs: list[float] = []
        for game in self.games:
            colour = self.colour_in(game)
            mine += game.thinking(colour)
            theirs += game.thinking(-colour)
        return mine, theirs

    def to_json(self) -> dict[str, Any]:
        """Return the result as `gomoku evaluate --json` prints it.

        Infinite numbers are null. Without a finished pair (in an unpaired match: without a game), so are all Elo
        figures. `pairs` of an unpaired match is null.
        """
        total, estimate = self.total, self.estimate
        known = estimate.results > 0
        times = self.thinking()
        return {
            "player": self.player,
            "opponent": self.opponent,
            **asdict(total),
            "score": total.score,
            "games": total.games,
            "distinct_games": self.distinct_games,
            "as_black": asdict(self.as_black),
            "as_white": asdict(self.as_white),
            "pairs": list(self.pairs) if self.paired else None,
            "score_interval": [estimate.score_low, estimate.score_high],
            "elo": _finite(estimate.elo) if known else None,
            "elo_interval": [_finite(estimate.low), _finite(estimate.high)],
            "los": estimate.los if known else None,
            "mean_plies": round(sum(len(game.moves) for game in self.games) / max(1, total.games), 2),
            "mean_move_seconds": [round(sum(side) / max(1, len(side)), 6) for side in times],
            "longest_move_seconds": [round(max(side, default=0.0), 6) for side in times],
            "forfeits": [asdict(forfeit) for forfeit in self.forfeits],
            "seconds": round(self.seconds, 3),
        }


def _finite(number: float) -> float | None:
    return round(number, 2) if math.isfinite(number) else None
