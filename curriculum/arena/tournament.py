"""Tournaments and matches: games are played, counted, and kept in a folder as they end."""

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import takewhile
from typing import Any, SupportsIndex

from core.arguments import check_kind
from core.position import Position
from core.rules import Cell, Rules
from curriculum.arena.fixtures import Fixture, fixtures
from curriculum.arena.folder import MatchFolder
from curriculum.arena.opening_sets import evaluation_openings
from curriculum.arena.play import SIDE_BY_SIDE, MatchJob
from curriculum.arena.results import MatchResult, PlayedGame, Tally
from curriculum.arena.statistics import ratings
from curriculum.reporting import Context, Task
from curriculum.workers.games import PATIENCE_S, Stream
from search.players import Player, Recipe, as_recipe


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
            **asdict(self.tally),
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
        self.seconds = 0.0
        """Time of the games of a session, those included that a folder holds."""

    def add(self, game: PlayedGame) -> None:
        """Count a game."""
        black, white = game.fixture.black, game.fixture.white
        self.matches[min(black, white), max(black, white)].add(game)
        self.games += 1

    def standings(self) -> list[Standing]:
        """Return the standings, the best first, with Bradley-Terry ratings of mean 0; all names must differ."""
        tallies = {name: Tally() for name in self.names}
        for match in self.matches.values():
            tallies[match.player] += match.total
            tallies[match.opponent] += match.total.reversed()
        results = [(match.player, match.opponent, match.pairs) for match in self.matches.values()]
        return [Standing(rating, tallies[rating.name]) for rating in ratings.rate(self.names, results)]


def play_tournament(
    players: Sequence[Player | Recipe],
    games: Sequence[Fixture],
    *,
    rules: Rules,
    context: Context,
    names: Sequence[str] | None = None,
    folder: MatchFolder | None = None,
    finished: list[PlayedGame] | None = None,
    is_decided: Callable[[Tournament], bool] | None = None,
    side_by_side: int | None = None,
    on_threads: int | None = None,
    task: str = "games",
    paired: bool = True,
) -> Tournament:
    """Play the games, except those that `folder` holds already, and return all results.

    `names` replaces the players' own names. Each game goes to the end of `finished` as it ends. `side_by_side` (by
    default 64) is the `at_once` of `MatchJob`, `on_threads` its own.

    `is_decided` ends the tournament early. It is asked after every two games, a pair of the same opening, in the order
    of their numbers; a game counts after all before it, since short games end first and are won by the attacker. So the
    result is the same for any number of workers and of interruptions. With an engine it is asked after every game.

    Workers on other machines need recipes of players. Raises `Interrupted` if the context stops it, and the errors of
    workers.
    """
    recipes = [as_recipe(player) for player in players]
    tournament = Tournament(names or [recipe.name for recipe in recipes], games, paired=paired)
    kept = {game.fixture.number: game for game in (folder.played if folder else ())}
    missing = [game for game in games if game.number not in kept]
    wave = 1 if any(recipe.starts_games for recipe in recipes) else 2
    job = MatchJob(recipes, rules, {game.number: game for game in missing}, side_by_side or SIDE_BY_SIDE, on_threads)
    waves = _Waves(games, wave, tournament, is_decided)
    for game in kept.values():
        waves.add(game)
    numbers = takewhile(lambda _: not waves.decided, (game.number for game in missing))
    with (
        context.reporter.task(task, len(games), "games") as progress,
        context.pool.stream(job, numbers, lambda: waves.decided or context.stop()) as stream,
    ):
        _show(progress, tournament, stream)
        while not stream.is_over:
            for _, game in stream.take(PATIENCE_S):
                if folder and not waves.decided:
                    folder.add(game)
                if finished is not None:
                    finished.append(game)
                waves.add(game)
            _show(progress, tournament, stream)
    if not waves.decided and tournament.games < len(games):
        context.check()
    for match in tournament.matches.values():
        match.games.sort(key=lambda game: game.fixture.number)
    return tournament


class _Waves:
    """Counts the games of a tournament, in the order of their numbers where one may end early."""

    def __init__(
        self,
        games: Sequence[Fixture],
        width: int,
        tournament: Tournament,
        is_decided: Callable[[Tournament], bool] | None,
    ) -> None:
        numbers = [game.number for game in games]
        self._waves = deque(set(numbers[first : first + width]) for first in range(0, len(numbers), width))
        self._early: dict[int, PlayedGame] = {}
        """Finished games that do not count yet."""
        self._tournament, self._is_decided = tournament, is_decided
        self.decided = False

    def add(self, game: PlayedGame) -> None:
        """Count a finished game, as soon as all of its wave and of those before have finished."""
        if self._is_decided is None:
            self._tournament.add(game)
            return
        self._early[game.fixture.number] = game
        while self._waves and self._waves[0] <= self._early.keys() and not self.decided:
            for number in sorted(self._waves.popleft()):
                self._tournament.add(self._early.pop(number))
            self.decided = self._is_decided(self._tournament)


def _show(progress: Task, tournament: Tournament, stream: Stream[PlayedGame]) -> None:
    """Report the progress and the score of the games to a task."""
    figures: dict[str, float | str] = {**stream.figures}
    if moves := stream.counts.get("moves", 0):
        figures["moves"] = moves
    if len(tournament.matches) == 1 and tournament.games:
        (match,) = tournament.matches.values()
        figures["score"] = f"{match.total.score:.2f}"
    progress.update(tournament.games, **figures)


def play_match(
    player: Player | Recipe,
    opponent: Player | Recipe,
    *,
    rules: Rules = Rules(),  # noqa: B008 - frozen
    openings: Sequence[Sequence[Cell | str]] | None = None,
    games: int = 100,
    seed: int = 42,
    context: Context = Context(),  # noqa: B008 - frozen
    paired: bool = True,
    task: str = "games",
) -> MatchResult:
    """Play a match of `games` games; the first player has Black in the even ones and White in the odd ones.

    >>> result = gomoku.play_match(gomoku.open_player("mentor:1"), gomoku.open_player("random"), games=2)
    >>> result.total.wins, result.total.losses
    (2, 0)

    Without `openings` they start from the shipped balanced ones, or from the empty board where there are none. See
    `curriculum.arena.fixtures.fixtures` for `paired`. The players draw from streams of the seed, so equal settings give
    equal games. Raises `ValueError` for an opening that ends the game, and `Interrupted` if the context stops it.
    """
    start = time.perf_counter()
    check_kind("rules", rules, Rules, "Rules, such as Rules(15)")
    check_kind("games", games, SupportsIndex, "a whole number")
    check_kind("seed", seed, SupportsIndex, "a whole number")
    starts = [
        Position.from_moves(rules, each) for each in (evaluation_openings(rules) if openings is None else openings)
    ]
    for number, position in enumerate(starts, start=1):
        if position.is_game_over():
            raise ValueError(f"opening {number} ends the game")
    schedule = fixtures(2, games, openings=[position.moves for position in starts], seed=seed, paired=paired)
    tournament = play_tournament((player, opponent), schedule, rules=rules, context=context, task=task, paired=paired)
    result = tournament.matches[0, 1]
    result.seconds = time.perf_counter() - start
    return result
