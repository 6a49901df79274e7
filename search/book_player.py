"""A player that plays by an opening book as long as it knows the position."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from core.book import Book
from core.opening_rules import Choice, Opening
from core.position import Position
from core.rules import Cell
from search.limit import Limit
from search.players import PLAIN, Decision, How, Player, Searched, Stop, never


class BookPlayer(Player):
    """Another player with an opening book, whose move with the best score comes first."""

    def __init__(self, player: Player, book: Book) -> None:
        self.player, self.name, self.limit, self.starts_games = player, player.name, player.limit, player.starts_games
        self.compiles, self._book = player.compiles, book

    def _known(self, position: Position) -> Decision | None:
        best = self._book.best(position)
        return None if best is None else Decision(best.move, best.value)

    def choose_batch(
        self, positions: Sequence[Position], *, seeds: Sequence[int], limit: Limit | None = None, stop: Stop = never
    ) -> list[Decision]:
        """See `Player`."""
        known = [self._known(position) for position in positions]
        rest = [number for number, decision in enumerate(known) if decision is None]
        if not rest:
            return [decision for decision in known if decision is not None]
        others = iter(
            self.player.choose_batch(
                [positions[number] for number in rest], seeds=[seeds[number] for number in rest], limit=limit, stop=stop
            )
        )
        return [next(others) if decision is None else decision for decision in known]

    def search(self, position: Position, limit: Limit | None = None, how: How = PLAIN) -> Searched:
        """See `Player`. An analysis is one of the player, which the book says nothing of."""
        if how.seed is not None and (known := self._known(position)) is not None:
            return known, None
        return self.player.search(position, limit, how)

    def ponder(self, position: Position, stop: Stop) -> None:
        """See `Player`."""
        self.player.ponder(position, stop)

    def choose_opening(
        self, position: Position, opening: Opening, *, seed: int, limit: Limit | None = None, stop: Stop = never
    ) -> Choice | tuple[Cell, ...]:
        """See `Player`."""
        return self.player.choose_opening(position, opening, seed=seed, limit=limit, stop=stop)

    @contextmanager
    def start_game(self) -> Iterator[Player]:
        """See `Player`."""
        with self.player.start_game() as player:
            yield self if player is self.player else BookPlayer(player, self._book)
