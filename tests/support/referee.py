"""A slow referee of standard, renju and caro in plain Python, which shares no code with the program.

It reads whole lines of the board as text, `X` for a colour's own stones, `O` for the other one's, and knows nothing but
the definitions of the rules: fives, fours, straight fours, and threes that may become a straight four by a move that is
itself allowed by the same definitions.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache

BLACK, WHITE, EMPTY = 1, -1, 0
WAYS = ((0, 1), (1, 0), (1, 1), (-1, 1))
Stones = Sequence[int]


@cache
def lines_through(cell: int, size: int) -> tuple[tuple[int, ...], ...]:
    """Return the cells of the four whole lines through a cell."""
    found = []
    for rows, columns in WAYS:
        points = [(cell // size + step * rows, cell % size + step * columns) for step in range(-size, size + 1)]
        found.append(tuple(r * size + c for r, c in points if 0 <= r < size and 0 <= c < size))
    return tuple(found)


def _text(stones: Stones, line: tuple[int, ...], colour: int) -> str:
    return "".join("X" if stones[cell] == colour else "." if stones[cell] == EMPTY else "O" for cell in line)


def _row_at(text: str, at: int) -> tuple[int, int]:
    """Return the beginning and the end of the unbroken row of `X` that holds a place."""
    return next(match.span() for match in re.finditer("X+", text) if match.start() <= at < match.end())


@lru_cache(1 << 18)
def _row(text: str, at: int) -> int:
    start, end = _row_at(text, at)
    return end - start


@lru_cache(1 << 18)
def _fours(text: str, at: int) -> frozenset[frozenset[int]]:
    """Return the fours of a line that hold a place: the stones without the one that makes exactly five of them."""
    found = set()
    for empty in [i for i, cell in enumerate(text) if cell == "."]:
        filled = text[:empty] + "X" + text[empty + 1 :]
        start, end = _row_at(filled, at)
        if end - start == 5 and start <= empty < end:
            found.add(frozenset(range(start, end)) - {empty})
    return frozenset(found)


@lru_cache(1 << 18)
def _to_straight_four(text: str, at: int) -> tuple[int, ...]:
    """Return the empty places of a line that make a straight four of the row with a place."""
    found = []
    for empty in [i for i, cell in enumerate(text) if cell == "."]:
        filled = text[:empty] + "X" + text[empty + 1 :]
        start, end = _row_at(filled, at)
        fives = 0
        for more in (start - 1, end):
            if 0 <= more < len(text) and filled[more] == ".":
                fives += _row(filled[:more] + "X" + filled[more + 1 :], at) == 5
        if end - start == 4 and start <= empty < end and fives == 2:
            found.append(empty)
    return tuple(found)


def foul(stones: list[int], cell: int, size: int) -> str:
    """Return the foul of Black's stone on an empty cell: `overline`, `4-4`, `3-3`, or nothing; `five` for a five."""
    stones[cell] = BLACK
    lines = [(line, line.index(cell)) for line in lines_through(cell, size)]
    texts = [(_text(stones, line, BLACK), at, line) for line, at in lines]
    rows = [_row(text, at) for text, at, _ in texts]
    if 5 in rows:
        result = "five"
    elif max(rows) > 5:
        result = "overline"
    elif sum(len(_fours(text, at)) for text, at, _ in texts) > 1:
        result = "4-4"
    else:
        threes = 0
        candidates = [(line, _to_straight_four(text, at)) for text, at, line in texts]
        if sum(bool(places) for _, places in candidates) > 1:
            for line, places in candidates:
                threes += any(foul(stones, line[place], size) == "" for place in places)
        result = "3-3" if threes > 1 else ""
    stones[cell] = EMPTY
    return result


def is_legal(stones: list[int], cell: int, colour: int, size: int, variant: str) -> bool:
    """Return True if a colour may play a cell."""
    if stones[cell] != EMPTY:
        return False
    return variant != "renju" or colour == WHITE or foul(stones, cell, size) in ("", "five")


def wins(stones: Stones, cell: int, size: int, variant: str, connect: int = 5) -> bool:
    """Return True if the stone on a cell wins under standard, renju, caro or caro-exact."""
    colour = stones[cell]
    for line in lines_through(cell, size):
        text = _text(stones, line, colour)
        start, end = _row_at(text, line.index(cell))
        row, enclosed = end - start, text[:start].endswith("O") and text[end:].startswith("O")
        if variant == "renju":
            won = row == 5 if colour == BLACK else row >= 5
        elif variant == "standard":
            won = row == connect
        else:
            won = (row == 5 and not enclosed) or (variant == "caro" and row > 5)
        if won:
            return True
    return False


def legal_moves(stones: list[int], colour: int, size: int, variant: str) -> list[int]:
    """Return the cells that a colour may play."""
    return [cell for cell in range(size * size) if is_legal(stones, cell, colour, size, variant)]


def winning_moves(stones: list[int], colour: int, size: int, variant: str, connect: int = 5) -> list[int]:
    """Return the cells on which a colour wins at once."""
    return [cell for cell, after in _after(stones, colour, size, variant) if wins(after, cell, size, variant, connect)]


def _after(stones: list[int], colour: int, size: int, variant: str) -> Iterator[tuple[int, list[int]]]:
    """Yield each legal move while its stone is on the board."""
    for cell in range(size * size):
        if is_legal(stones, cell, colour, size, variant):
            stones[cell] = colour
            yield cell, stones
            stones[cell] = EMPTY


def wins_by_fours(stones: list[int], colour: int, size: int, variant: str) -> bool:
    """Return True if a side to move wins by moves that each threaten to win at once, against every legal reply."""
    if winning_moves(stones, colour, size, variant):
        return True
    must = winning_moves(stones, -colour, size, variant)
    for cell in legal_moves(stones, colour, size, variant):
        stones[cell] = colour
        won = bool(winning_moves(stones, colour, size, variant))
        # A stone that leaves the opponent a five loses.
        if won and (not must or not winning_moves(stones, -colour, size, variant)):
            won = _beats_all(stones, colour, size, variant)
        else:
            won = False
        stones[cell] = EMPTY
        if won:
            return True
    return False


def _beats_all(stones: list[int], colour: int, size: int, variant: str) -> bool:
    """Return True if every reply to a threat loses, and there is one."""
    replies = legal_moves(stones, -colour, size, variant)
    fives = winning_moves(stones, colour, size, variant)
    for reply in replies:
        stones[reply] = -colour
        left = any(_still_wins(stones, five, colour, size, variant) for five in fives if five != reply)
        won = left or wins_by_fours(stones, colour, size, variant)
        stones[reply] = EMPTY
        if not won:
            return False
    return bool(replies)


def _still_wins(stones: list[int], cell: int, colour: int, size: int, variant: str) -> bool:
    stones[cell] = colour
    won = wins(stones, cell, size, variant)
    stones[cell] = EMPTY
    return won


def worth(stones: list[int], colour: int, size: int, variant: str, known: dict[tuple[int, ...], int]) -> int:
    """Return the result for the side to move under best play: 1, 0 or -1."""
    key = (*stones, colour)
    if key not in known:
        best = -2
        for cell, after in _after(stones, colour, size, variant):
            got = 1 if wins(after, cell, size, variant) else -worth(after, -colour, size, variant, known)
            best = max(best, got)
            if best == 1:
                stones[cell] = EMPTY
                break
        known[key] = 0 if best == -2 else best
    return known[key]
