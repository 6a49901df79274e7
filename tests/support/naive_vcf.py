"""Wins by continuous fours in plain Python on sets of bits: slow, recursive, and easy to believe.

It shares no code with `core` and `search`. Stones are two integers, one bit a cell; a line is a window of `connect`
cells.
"""

from collections.abc import Iterator, Sequence

from tests.conftest import windows


def bits(cells: int) -> Iterator[int]:
    """Yield the bits of a set, one by one."""
    while cells:
        yield cells & -cells
        cells &= cells - 1


def step(window: int) -> int:
    """Return the distance of two neighbours in a window, by which its direction is known."""
    first, second = list(bits(window))[:2]
    return second.bit_length() - first.bit_length()


class NaiveBoard:
    """Threats and forced wins on boards of one size."""

    def __init__(self, size: int, connect: int) -> None:
        self.windows = [sum(1 << cell for cell in cells) for cells in windows(size, connect)]
        self.all = (1 << size * size) - 1
        self.known: dict[tuple[int, int], bool] = {}

    def of_stones(self, stones: Sequence[int], colour: int) -> tuple[int, int]:
        """Return the stones of `colour` and those of the other, as bits."""
        own = sum(1 << cell for cell, stone in enumerate(stones) if stone == colour)
        return own, sum(1 << cell for cell, stone in enumerate(stones) if stone == -colour)

    def has_line(self, own: int) -> bool:
        return any(own & window == window for window in self.windows)

    def wins(self, own: int, enemy: int) -> int:
        """Return the empty cells on which a stone makes a line."""
        return self.lacking(1, own, enemy)

    def fours(self, own: int, enemy: int) -> int:
        """Return the empty cells on which a stone makes a four."""
        return self.lacking(2, own, enemy)

    def lacking(self, count: int, own: int, enemy: int) -> int:
        """Return the empty cells of the windows that lack so many stones of `own`."""
        found = 0
        for window in self.windows:
            missing = window & ~own
            if missing.bit_count() == count and not missing & enemy:
                found |= missing
        return found

    def has_vcf(self, own: int, enemy: int) -> bool:
        """Return True if `own`, to move, wins by fours alone; every four of `tried` and the one reply to it."""
        if self.wins(own, enemy):
            return True
        key = (own, enemy)
        if key not in self.known:
            self.known[key] = any(self.wins_after_four(own | four, enemy) for four in bits(self.tried(own, enemy)))
        return self.known[key]

    def tried(self, own: int, enemy: int) -> int:
        """Return the fours that do not lose at once."""
        return self.must(own, enemy) & self.fours(own, enemy)

    def must(self, own: int, enemy: int) -> int:
        """Return the moves of `own` that do not lose to a line of the enemy at once."""
        threats = self.wins(enemy, own)
        if threats.bit_count() > 1:
            return 0
        return threats or self.all & ~(own | enemy)

    def wins_after_four(self, own: int, enemy: int) -> bool:
        """Return True if `own` wins; the enemy is to move, and any move off the last cell of the line loses at once."""
        last = self.wins(own, enemy)
        return last.bit_count() > 1 or self.has_vcf(own, enemy | last)

    def follows(self, own: int, enemy: int, line: Sequence[int]) -> bool:
        """Return True if a line of moves, `own` first, is a win by fours in which no reply is any better."""
        for index in range(0, len(line), 2):
            move = 1 << line[index]
            if move & (own | enemy):
                return False
            if index == len(line) - 1:
                return bool(move & self.wins(own, enemy))
            own |= move
            last = self.wins(own, enemy)
            reply = 1 << line[index + 1]
            if self.wins(enemy, own) or not last & reply:
                return False
            enemy |= reply
        return False


class GreedyBoard(NaiveBoard):
    """A board whose attacker plays a four that it is not forced to only if the stone makes more than that four.

    That is a win, or in another direction a window with as many stones as a three has. So it misses some wins.
    """

    def __init__(self, size: int, connect: int) -> None:
        super().__init__(size, connect)
        self.connect = connect

    def tried(self, own: int, enemy: int) -> int:
        fours = super().tried(own, enemy)
        if self.wins(enemy, own):
            return fours
        return sum(four for four in bits(fours) if self.makes_more(own | four, enemy, four))

    def makes_more(self, own: int, enemy: int, stone: int) -> bool:
        """Return True if `stone`, one of `own` that makes a four, wins or makes a three in another direction."""
        if self.wins(own, enemy).bit_count() > 1:
            return True
        through = [window for window in self.windows if window & stone and not window & enemy]
        fours = {step(window) for window in through if (window & own).bit_count() == self.connect - 1}
        threes = {step(window) for window in through if (window & own).bit_count() >= self.connect - 2}
        return len(fours | threes) > 1
