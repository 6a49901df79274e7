"""Fixtures: the games of a match, a gauntlet or a round robin, with players, colours and openings."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from core.input_limits import MAX_RECORDS
from core.opening_rules import FREE, Opening, OpeningRule
from core.rules import Cell
from core.streams import Purpose, generator, stream_key
from curriculum.arena.formats import Format


@dataclass(frozen=True, slots=True)
class Fixture:
    """A game on the schedule."""

    number: int
    """Index of the game among all games."""
    pair: int
    """Number of the pair. Its games have the same two players and the same opening, with colours changed."""
    black: int
    """Index of the player with the black stones."""
    white: int
    """Index of the player with the white stones."""
    opening: tuple[Cell, ...]
    """The first moves; those that the players placed, where an opening rule let them."""
    seed: int
    """Seed of the players' random streams in the game."""
    rule: Opening = FREE
    """The opening rule, and in a played game the choices. Before them `black` is the side that begins."""

    def chosen(self, opening: Opening, stones: Sequence[Cell]) -> "Fixture":
        """Return the fixture after its opening, in which one side has chosen a colour."""
        sides = (self.black, self.white)
        return replace(
            self, rule=opening, opening=tuple(stones), black=sides[opening.black], white=sides[1 - opening.black]
        )


def fixtures(
    players: int,
    games: int,
    *,
    openings: Sequence[Sequence[Cell]],
    seed: int,
    paired: bool = True,
    form: Format = Format.ROUND_ROBIN,
    rule: OpeningRule = OpeningRule.FREE,
) -> list[Fixture]:
    """Return `games` games of every two players who meet; the first of the two has black in the even ones.

    If `paired`, games 2i and 2i + 1 share an opening; else every game takes the next one. All meetings have the same
    openings, in an order drawn from the seed, and repeat them if there are more games. The meetings take turns, a pair
    of games each, so that all of them advance alike. By an opening `rule` the first of the two begins the even ones.
    Raises `ValueError` for no game, for more than a file of games may hold, and for no opening.
    """
    if not openings:
        raise ValueError("there are no openings; the empty board is an empty one")
    if not 1 <= games <= MAX_RECORDS:
        raise ValueError(f"a match has 1 to {MAX_RECORDS:,} games, not {games:,}")
    all_meetings = combinations(range(players), 2)
    meetings = [pair for pair in all_meetings if form is Format.ROUND_ROBIN or pair[0] == 0]
    order = generator(seed, Purpose.OPENING).permutation(len(openings))
    drawn = [(game, number, meeting) for game in range(games) for number, meeting in enumerate(meetings)]
    drawn.sort(key=lambda entry: (entry[0] // 2, entry[1], entry[0]))
    return [
        Fixture(
            number,
            pair=game // 2 * len(meetings) + meeting if paired else number,
            black=sides[game % 2],
            white=sides[1 - game % 2],
            opening=tuple(openings[order[(game // 2 if paired else game) % len(openings)]]),
            seed=stream_key(seed, meeting, game),
            rule=Opening(rule),
        )
        for number, (game, meeting, sides) in enumerate(drawn)
    ]
