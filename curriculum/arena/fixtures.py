"""Who plays whom, from which opening and with which colour: the games of a match, a gauntlet or a round robin."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from core.rules import Cell
from core.streams import Purpose, generator, stream_key
from curriculum.arena.formats import Format


@dataclass(frozen=True, slots=True)
class Fixture:
    """A game to be played."""

    number: int
    """Its place among all games, from 0."""
    pair: int
    """Games of one pair have the same two players and the same opening, with colours changed."""
    black: int
    """Which player has black, from 0."""
    white: int
    opening: tuple[Cell, ...]
    seed: int
    """What the players' random streams in it grow from."""


def fixtures(
    players: int,
    games: int,
    *,
    openings: Sequence[Sequence[Cell]],
    seed: int,
    paired: bool = True,
    form: Format = Format.ROUND_ROBIN,
) -> list[Fixture]:
    """`games` games of every two players who meet; the first of them has black in the even ones.

    `paired`: games 2i and 2i + 1 share an opening, else every game takes the next one. All meetings have the same
    openings, in an order drawn from the seed; where there are more games they start over with them. The meetings take
    turns, a pair of games each, so that all stand alike at any time.
    """
    all_meetings = combinations(range(players), 2)
    meetings = [pair for pair in all_meetings if form is Format.ROUND_ROBIN or pair[0] == 0]
    order = generator(seed, Purpose.OPENING).permutation(len(openings))
    drawn = [(game, number, meeting) for game in range(games) for number, meeting in enumerate(meetings)]
    drawn.sort(key=lambda entry: (entry[0] // 2, entry[1], entry[0]))
    return [
        Fixture(
            number,
            pair=game // 2 * len(meetings) + meeting if paired else number,
            black=seats[game % 2],
            white=seats[1 - game % 2],
            opening=tuple(openings[order[(game // 2 if paired else game) % len(openings)]]),
            seed=stream_key(seed, meeting, game),
        )
        for number, (game, meeting, seats) in enumerate(drawn)
    ]
