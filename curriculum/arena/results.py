"""What matches come to: games as they were played, and what they say of the two players."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.notation import cell_name, parse_cell
from core.position import Position
from core.records.record import Ending, GameRecord
from core.rules import BLACK, WHITE, Cell, Colour, Rules, colour_name
from curriculum.arena.fixtures import Fixture
from curriculum.arena.statistics import elo


@dataclass(slots=True)
class Tally:
    """Results from the first player's side."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    @property
    def games(self) -> int:
        """All of them."""
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        """Wins and half the draws, over the games; 0.5 where none was played."""
        return (self.wins + 0.5 * self.draws) / self.games if self.games else 0.5

    def add(self, winner: Colour | None, colour: Colour) -> None:
        """Counts a game in which the first player had `colour`."""
        if winner is None:
            self.draws += 1
        elif winner == colour:
            self.wins += 1
        else:
            self.losses += 1

    def to_json(self) -> dict[str, int]:
        """The three counts."""
        return {"wins": self.wins, "draws": self.draws, "losses": self.losses}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedGame:
    """A game of a match that is over."""

    fixture: Fixture
    moves: tuple[Cell, ...]
    """The opening's among them."""
    winner: Colour | None
    """None for a draw."""
    ending: Ending = Ending.BOARD
    why: str = ""
    """Why the loser forfeited the game."""
    date: str = ""
    """ISO 8601."""
    values: tuple[float | None, ...] = ()
    """One a move: what the mover expected, -1 to 1 for its side; None for the opening and for who has no opinion."""
    simulations: tuple[int, ...] = ()
    """One a move: simulations, playouts or nodes; 0 for the opening."""
    seconds: tuple[float, ...] = ()
    """One a move: how long it was thought about; 0 for the opening. Of moves that were chosen together, the mean."""

    def thinking(self, colour: Colour) -> tuple[float, ...]:
        """The times of one side's own moves."""
        first = len(self.fixture.opening)
        return tuple(
            time for ply, time in enumerate(self.seconds) if ply >= first and (ply % 2 == 0) == (colour == BLACK)
        )

    def record(self, rules: Rules, names: Sequence[str]) -> GameRecord:
        """The game with the players' names, values and visits as its comments."""
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
            date=self.date[:10],
            times_ms=tuple(round(1000 * time) for time in self.seconds),
            ending=self.ending,
        )

    def to_json(self, rules: Rules, names: Sequence[str]) -> dict[str, Any]:
        """One line of a match's `games.jsonl`."""
        return {
            "game": self.fixture.number,
            "black": names[self.fixture.black],
            "white": names[self.fixture.white],
            "winner": None if self.winner is None else colour_name(self.winner),
            "ending": self.ending.name.lower(),
            "why": self.why,
            "plies": len(self.moves),
            "opening": len(self.fixture.opening),
            "moves": " ".join(cell_name(move, rules.size) for move in self.moves),
            "values": self.values,
            "simulations": self.simulations,
            "seconds": self.seconds,
            "date": self.date,
        }

    @classmethod
    def from_json(cls, line: Mapping[str, Any], fixture: Fixture, rules: Rules, names: Sequence[str]) -> "PlayedGame":
        """The game of `fixture` that `to_json` wrote. Raises `ValueError`, `KeyError` or `TypeError`."""
        moves = tuple(parse_cell(name, rules.size) for name in line["moves"].split())
        outcome = Position.from_moves(rules, moves).outcome()
        winner, ending = line["winner"], Ending[line["ending"].upper()]
        game = cls(
            fixture=fixture,
            moves=moves,
            winner=None if winner is None else {colour_name(side): side for side in (BLACK, WHITE)}[winner],
            ending=ending,
            why=line["why"],
            date=line["date"],
            values=tuple(line["values"]),
            simulations=tuple(line["simulations"]),
            seconds=tuple(line["seconds"]),
        )
        if (line["black"], line["white"]) != (names[fixture.black], names[fixture.white]):
            raise ValueError("other players met in it")
        if moves[: len(fixture.opening)] != fixture.opening:
            raise ValueError("it started from another opening")
        if (outcome is None) == (ending is Ending.BOARD) or (outcome and outcome.winner != game.winner):
            raise ValueError("its board does not show its result")
        if any(len(told) != len(moves) for told in (game.values, game.simulations, game.seconds)):
            raise ValueError("it does not tell of each move")
        return game


@dataclass(frozen=True, slots=True)
class Forfeit:
    """A game that a player lost by what it did rather than on the board."""

    game: int
    player: str
    why: str


@dataclass(slots=True)
class MatchResult:
    """What a match came to, from the first player's side."""

    player: str
    opponent: str
    first: int = 0
    """Which of all players the first one is, as fixtures number them."""
    as_black: Tally = field(default_factory=Tally)
    as_white: Tally = field(default_factory=Tally)
    games: list[PlayedGame] = field(default_factory=list)
    """The games in the order in which they ended."""
    seconds: float = 0.0

    def add(self, game: PlayedGame) -> None:
        """Counts a game."""
        self.games.append(game)
        colour = self.colour_in(game)
        (self.as_black if colour == BLACK else self.as_white).add(game.winner, colour)

    def colour_in(self, game: PlayedGame) -> Colour:
        """The first player's colour."""
        return BLACK if game.fixture.black == self.first else WHITE

    @property
    def total(self) -> Tally:
        """Both colours together."""
        black, white = self.as_black, self.as_white
        return Tally(black.wins + white.wins, black.draws + white.draws, black.losses + white.losses)

    @property
    def pairs(self) -> elo.PairCounts:
        """How many pairs of games brought the first player 0, ½, 1, 1½ and 2 points; unfinished pairs are left out."""
        return elo.pair_counts((game.fixture.pair, self.score_in(game)) for game in self.games)

    def score_in(self, game: PlayedGame) -> float:
        """The first player's points."""
        if game.winner is None:
            return 0.5
        return 1.0 if game.winner == self.colour_in(game) else 0.0

    @property
    def distinct_games(self) -> int:
        """Games that differ in a move from all others."""
        return len({game.moves for game in self.games})

    @property
    def forfeits(self) -> list[Forfeit]:
        """Games lost on time or by a player's fault."""
        names = (self.player, self.opponent)
        return [
            Forfeit(game.fixture.number, names[self.score_in(game) == 1.0], game.why)
            for game in self.games
            if game.ending is not Ending.BOARD
        ]

    def thinking(self) -> tuple[list[float], list[float]]:
        """The times in seconds of the first player's moves, and of the opponent's."""
        mine: list[float] = []
        theirs: list[float] = []
        for game in self.games:
            colour = self.colour_in(game)
            mine += game.thinking(colour)
            theirs += game.thinking(-colour)
        return mine, theirs

    def to_json(self) -> dict[str, Any]:
        """The result as `gomoku evaluate --json` prints it. What is not bounded is null."""
        total, estimate = self.total, elo.estimate(self.pairs)
        times = self.thinking()
        return {
            "player": self.player,
            "opponent": self.opponent,
            **total.to_json(),
            "score": total.score,
            "games": total.games,
            "distinct_games": self.distinct_games,
            "as_black": self.as_black.to_json(),
            "as_white": self.as_white.to_json(),
            "pairs": list(self.pairs),
            "score_interval": [estimate.score_low, estimate.score_high],
            "elo": _finite(estimate.elo),
            "elo_interval": [_finite(estimate.low), _finite(estimate.high)],
            "los": estimate.los,
            "mean_plies": round(sum(len(game.moves) for game in self.games) / max(1, total.games), 2),
            "mean_move_seconds": [round(sum(side) / max(1, len(side)), 6) for side in times],
            "longest_move_seconds": [round(max(side, default=0.0), 6) for side in times],
            "forfeits": [
                {"game": forfeit.game, "player": forfeit.player, "why": forfeit.why} for forfeit in self.forfeits
            ],
            "seconds": round(self.seconds, 3),
        }


def _finite(number: float) -> float | None:
    return round(number, 2) if math.isfinite(number) else None
