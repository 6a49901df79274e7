"""An opening book of many positions: the times of opening it and of a look-up, `python -m benchmarks.book`."""

import argparse
import json
import random
import statistics
import tempfile
import time
from pathlib import Path

from core.book import Book
from core.position import Position
from core.records.record import GameRecord
from core.rules import BLACK, Rules

_PLIES = 20
_LOOK_UPS = 500


def random_games(rules: Rules, count: int, seed: int) -> list[GameRecord]:
    """Return games of random moves near the centre, which have most of their positions for themselves."""
    draw = random.Random(seed)
    near = [row * rules.size + column for row in range(3, 12) for column in range(3, 12)]
    return [GameRecord(rules, draw.sample(near, _PLIES), BLACK) for _ in range(count)]


def main() -> None:
    """Build a book, open it and look positions up; print the medians and the worst times as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moves", type=int, default=100_000, help="moves of the book, at least")
    arguments = parser.parse_args()
    rules = Rules(connect=6)  # hardly anybody wins by chance
    with tempfile.TemporaryDirectory() as folder:
        path, games = Path(folder, "book.sqlite"), []
        started = time.perf_counter()
        with Book.create(path, rules) as book:
            while len(book) < arguments.moves:
                games += (some := random_games(rules, 1_000, len(games)))
                book.add(some, _PLIES)
            moves, built_s = len(book), time.perf_counter() - started
        opened_ms, looked_up_ms = [], []
        for _ in range(20):
            started = time.perf_counter()
            with Book(path):
                opened_ms.append(1e3 * (time.perf_counter() - started))
        draw = random.Random(1)
        with Book(path) as book:
            for _ in range(_LOOK_UPS):
                position = Position.from_moves(rules, draw.choice(games).moves[: draw.randrange(_PLIES)])
                started = time.perf_counter()
                assert book.moves(position)
                looked_up_ms.append(1e3 * (time.perf_counter() - started))
        size = path.stat().st_size
    print(
        json.dumps(
            {"moves": moves, "bytes": size, "build_s": round(built_s, 1)}
            | {"open_ms": round(statistics.median(opened_ms), 3), "open_ms_max": round(max(opened_ms), 3)}
            | {"look_up_ms": round(statistics.median(looked_up_ms), 3), "look_up_ms_max": round(max(looked_up_ms), 3)}
        )
    )


if __name__ == "__main__":
    main()
