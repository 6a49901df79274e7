"""Matches between two players or many: games played, counted, and kept in a folder as they end."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from core.rules import Cell, Rules
from curriculum.arena.fixtures import Fixture, fixtures
from curriculum.arena.folder import MatchFolder
from curriculum.arena.play import play_games
from curriculum.arena.results import MatchResult, PlayedGame, Tally
from curriculum.arena.statistics import ratings
from curriculum.reporting import Conduct, Task
from search.players import Player


@dataclass(frozen=True, slots=True)
class Standing:
    """A player's place in a tournament."""

    rating: ratings.Rating
    tally: Tally
    """All its games."""

    def to_json(self) -> dict[str, Any]:
        """As `gomoku tournament --json` prints it."""
        return {
            "player": self.rating.name,
            "elo": round(self.rating.elo, 2),
            "elo_interval": [round(self.rating.low, 2), round(self.rating.high, 2)],
            "games": self.tally.games,
            **self.tally.to_json(),
            "score": self.tally.score,
        }


class Tournament:
    """The results of every two players who met."""

    def __init__(self, names: Sequence[str], games: Sequence[Fixture]) -> None:
        self.names = tuple(names)
        met = sorted({(min(game.black, game.white), max(game.black, game.white)) for game in games})
        self.matches = {(first, second): MatchResult(names[first], names[second], first=first) for first, second in met}
        """From the side of the first of two players, by their numbers."""
        self.games = 0

    def add(self, game: PlayedGame) -> None:
        """Counts a game."""
        black, white = game.fixture.black, game.fixture.white
        self.matches[min(black, white), max(black, white)].add(game)
        self.games += 1

    def standings(self) -> list[Standing]:
        """All players, the best first, with Bradley-Terry ratings whose mean is 0; their names must differ."""
        tallies = {name: Tally() for name in self.names}
        for match in self.matches.values():
            total = match.total
            for name, wins, losses in (
                (match.player, total.wins, total.losses),
                (match.opponent, total.losses, total.wins),
            ):
                tallies[name].wins += wins
                tallies[name].draws += total.draws
                tallies[name].losses += losses
        results = [(match.player, match.opponent, match.pairs) for match in self.matches.values()]
        return [Standing(rating, tallies[rating.name]) for rating in ratings.rate(self.names, results)]

    def sort(self) -> None:
        """Puts the games of each match in the order of their fixtures."""
        for match in self.matches.values():
            match.games.sort(key=lambda game: game.fixture.number)


def play_tournament(
    players: Sequence[Player],
    games: Sequence[Fixture],
    *,
    rules: Rules,
    conduct: Conduct,
    names: Sequence[str] | None = None,
    folder: MatchFolder | None = None,
    enough: Callable[[Tournament], bool] = lambda tournament: False,
    side_by_side: int | None = None,
    on_threads: int | None = None,
    task: str = "games",
) -> Tournament:
    """Plays the games, or those that `folder` does not hold yet, and counts them.

    `names`: what the players are called, if not by their own names. `enough` ends it early; see `play_games` for when
    it is asked, and for how many go at once. Raises `Interrupted` when the conduct says stop.
    """
    tournament = Tournament(names or [player.name for player in players], games)
    for game in folder.played if folder else ():
        tournament.add(game)
    known = {game.fixture.number for match in tournament.matches.values() for game in match.games}
    with conduct.reporter.task(task, len(games), "games") as progress:
        telling = _Telling(progress, tournament)

        def finished(game: PlayedGame) -> None:
            if folder:
                folder.add(game)
            tournament.add(game)
            telling.moved(0)

        play_games(
            players,
            games,
            rules=rules,
            conduct=conduct,
            finished=finished,
            moved=telling.moved,
            enough=lambda: enough(tournament),
            played=known,
            side_by_side=side_by_side,
            on_threads=on_threads,
        )
    tournament.sort()
    return tournament


class _Telling:
    """Tells a task how far the games are and how they stand."""

    def __init__(self, progress: Task, tournament: Tournament) -> None:
        self._progress = progress
        self._tournament = tournament
        self._moves = 0
        self.moved(0)

    def moved(self, moves: int) -> None:
        """So many moves were made."""
        self._moves += moves
        matches = [*self._tournament.matches.values()]
        figures: dict[str, float | str] = {"moves": self._moves} if self._moves else {}
        if len(matches) == 1 and self._tournament.games:
            figures["score"] = f"{matches[0].total.score:.2f}"
        self._progress.update(self._tournament.games, **figures)


def play_match(
    player: Player,
    opponent: Player,
    *,
    rules: Rules,
    openings: Sequence[Sequence[Cell]],
    games: int,
    seed: int,
    conduct: Conduct,
    paired: bool = True,
    task: str = "games",
) -> MatchResult:
    """A match of `games` games; the first player has Black in the even ones and White in the odd ones.

    See `curriculum.arena.fixtures.fixtures` for `paired`. The players draw from streams of the seed, so that equal
    settings give equal games. Raises `Interrupted` when the conduct says stop.
    """
    start = time.perf_counter()
    schedule = fixtures(2, games, openings=openings, seed=seed, paired=paired)
    tournament = play_tournament((player, opponent), schedule, rules=rules, conduct=conduct, task=task)
    result = tournament.matches[0, 1]
    result.seconds = time.perf_counter() - start
    return result
