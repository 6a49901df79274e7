"""Tournaments and matches: games are played, counted, and kept in a folder as they end."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from core.rules import Cell, Rules
from curriculum.arena.fixtures import Fixture, fixtures
from curriculum.arena.folder import MatchFolder
from curriculum.arena.opening_sets import evaluation_openings
from curriculum.arena.play import play_games
from curriculum.arena.results import MatchResult, PlayedGame, Tally
from curriculum.arena.statistics import ratings
from curriculum.reporting import Conduct, Task
from search.players import Player


@dataclass(frozen=True, slots=True)
class Standing:
    """Standing of a player in a tournament."""

    rating: ratings.Rating
    tally: Tally
    """Counts of all its games."""

    def to_json(self) -> dict[str, Any]:
        """Return the standing as `gomoku tournament --json` prints it."""
        return {
            "player": self.rating.name,
            "elo": round(self.rating.elo, 2),
            "elo_interval": [round(self.rating.low, 2), round(self.rating.high, 2)],
            "games": self.tally.games,
            **self.tally.to_json(),
            "score": self.tally.score,
        }


class Tournament:
    """Results of every two players who met."""

    def __init__(self, names: Sequence[str], games: Sequence[Fixture], *, paired: bool = True) -> None:
        """`paired`: see `MatchResult`."""
        self.names = tuple(names)
        met = sorted({(min(game.black, game.white), max(game.black, game.white)) for game in games})
        self.matches = {
            (first, second): MatchResult(names[first], names[second], first=first, paired=paired)
            for first, second in met
        }
        """Results by the indices of both players, from the side of the first."""
        self.games = 0
        """Number of finished games."""

    def add(self, game: PlayedGame) -> None:
        """Count a game."""
        black, white = game.fixture.black, game.fixture.white
        self.matches[min(black, white), max(black, white)].add(game)
        self.games += 1

    def standings(self) -> list[Standing]:
        """Return the standings, the best first, with Bradley-Terry ratings of mean 0; all names must differ."""
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
        """Sort the games of each match by their fixtures."""
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
    is_decided: Callable[[Tournament], bool] = lambda tournament: False,
    side_by_side: int | None = None,
    on_threads: int | None = None,
    task: str = "games",
    paired: bool = True,
) -> Tournament:
    """Play the games, except those that `folder` holds already, and return all results.

    `names` replaces the players' own names. `is_decided` ends the tournament early; see `play_games` for the times of
    its calls and for the number of games at once. Raises `Interrupted` if the conduct stops it.
    """
    tournament = Tournament(names or [player.name for player in players], games, paired=paired)
    for game in folder.played if folder else ():
        tournament.add(game)
    known = {game.fixture.number for match in tournament.matches.values() for game in match.games}
    with conduct.reporter.task(task, len(games), "games") as progress:
        report = _ProgressReport(progress, tournament)

        def finished(game: PlayedGame) -> None:
            if folder:
                folder.add(game)
            tournament.add(game)
            report.moved(0)

        play_games(
            players,
            games,
            rules=rules,
            conduct=conduct,
            finished=finished,
            moved=report.moved,
            is_decided=lambda: is_decided(tournament),
            played=known,
            side_by_side=side_by_side,
            on_threads=on_threads,
        )
    tournament.sort()
    return tournament


class _ProgressReport:
    """Reports the progress and the score of the games to a task."""

    def __init__(self, progress: Task, tournament: Tournament) -> None:
        self._progress = progress
        self._tournament = tournament
        self._moves = 0
        self.moved(0)

    def moved(self, moves: int) -> None:
        """Report new moves."""
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
    rules: Rules = Rules(),  # noqa: B008 - frozen
    openings: Sequence[Sequence[Cell]] | None = None,
    games: int = 100,
    seed: int = 42,
    conduct: Conduct = Conduct(),  # noqa: B008 - frozen
    paired: bool = True,
    task: str = "games",
) -> MatchResult:
    """Play a match of `games` games; the first player has Black in the even ones and White in the odd ones.

    Without `openings` they start from the shipped balanced ones, or from the empty board where there are none. See
    `curriculum.arena.fixtures.fixtures` for `paired`. The players draw from streams of the seed, so equal settings give
    equal games. Raises `Interrupted` if the conduct stops it.
    """
    start = time.perf_counter()
    openings = evaluation_openings(rules) if openings is None else openings
    schedule = fixtures(2, games, openings=openings, seed=seed, paired=paired)
    tournament = play_tournament((player, opponent), schedule, rules=rules, conduct=conduct, task=task, paired=paired)
    result = tournament.matches[0, 1]
    result.seconds = time.perf_counter() - start
    return result
