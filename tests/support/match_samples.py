"""Matches with known results, made without play."""

from collections.abc import Sequence

from core.records.record import Ending
from core.rules import BLACK
from curriculum.arena.fixtures import Fixture, fixtures
from curriculum.arena.formats import Format
from curriculum.arena.results import MatchResult, PlayedGame
from curriculum.arena.tournament import Tournament

RESULTS = {"w": 1.0, "d": 0.5, "l": 0.0}


def game(fixture: Fixture, score: float, *, first: int = 0, why: str = "", seconds: float = 0.25) -> PlayedGame:
    """Return a game with this score of the player numbered `first`; with `why` the loser forfeited it.

    No two games are equal. Black took `seconds` a move, White twice as long.
    """
    colour = BLACK if fixture.black == first else -BLACK
    moves = tuple(range(fixture.number % 200, fixture.number % 200 + 10 + fixture.number % 7))
    return PlayedGame(
        fixture=fixture,
        moves=moves,
        winner=None if score == 0.5 else colour if score == 1.0 else -colour,
        ending=Ending.TIME if why else Ending.BOARD,
        why=why,
        values=(None,) * len(moves),
        simulations=(0,) * len(moves),
        seconds=tuple(seconds * (1 + ply % 2) for ply in range(len(moves))),
    )


def match(results: str, player: str = "new", opponent: str = "old", *, why: str = "") -> MatchResult:
    """Return a match with these results of the first player (`wdll`), who has black in the even games.

    With `why` the last game was forfeited.
    """
    result = MatchResult(player, opponent, seconds=83.0)
    games = fixtures(2, len(results), openings=[()], seed=1)
    for fixture, letter in zip(games, results, strict=True):
        result.add(game(fixture, RESULTS[letter], why=why if fixture is games[-1] else ""))
    return result


def tournament(names: Sequence[str], form: Format = Format.ROUND_ROBIN, *, games: int = 4) -> Tournament:
    """Return a tournament in which the earlier player wins as black and draws as white."""
    schedule = fixtures(len(names), games, openings=[()], seed=1, form=form)
    result = Tournament(names, schedule)
    for fixture in schedule:
        first = min(fixture.black, fixture.white)
        result.add(game(fixture, 1.0 if fixture.black == first else 0.5, first=first))
    return result
