"""Opening books: symmetric positions are one, results count for the side that moves, and files are whole or refused."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.book import Book, BookError, BookMove, BookNotWrittenError
from core.compiled.symmetry import targets
from core.position import Position
from core.records.record import Ending, GameRecord
from core.rules import BLACK, WHITE, Rules, Variant
from tests.conftest import games

RULES = Rules(7, 4)


def record(moves: list[int], winner: int | None = BLACK, rules: Rules = RULES, **fields: object) -> GameRecord:
    return GameRecord(rules, moves, winner, **{"ending": Ending.BOARD, **fields})  # type: ignore[arg-type]


def summary(book: Book, *moves: int) -> list[tuple[int, int, int, int]]:
    return [(m.move, m.wins, m.draws, m.losses) for m in book.moves(Position.from_moves(book.rules, moves))]


@given(moves=games(RULES), way=st.integers(0, 7), plies=st.integers(1, 12))
def test_a_game_is_found_under_every_symmetry_and_in_other_orders_of_its_moves(
    moves: list[int], way: int, plies: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    turn = [int(cell) for cell in targets(RULES.size)[way]]
    with Book.create(tmp_path_factory.mktemp("book") / "book", RULES) as book:
        played = [record([turn[move] for move in moves], WHITE)]
        assert book.add(filter(book.takes, played), plies) == bool(moves)
        for ply, move in enumerate(moves[:plies]):
            before = moves[:ply]
            order = [*before[2:3], *before[1:2], *before[:1], *before[3:]] if ply > 2 else before
            position = Position(RULES)
            for each in order:
                position.push(each, recorded=True)
            (found,) = book.moves(position)
            reached = {frozenset(enumerate_sides(before, move, way)) for way in targets(RULES.size)}
            assert frozenset(enumerate_sides(before, found.move, targets(RULES.size)[0])) in reached
            assert (found.wins, found.draws, found.losses) == ((0, 0, 1) if ply % 2 == 0 else (1, 0, 0))
        if len(moves) > plies:
            assert not book.moves(Position.from_moves(RULES, moves[:plies]))


def enumerate_sides(before: list[int], move: int, way: object) -> list[tuple[int, int]]:
    return [(ply % 2, int(way[cell])) for ply, cell in enumerate([*before, move])]  # type: ignore[index]


def test_games_count_once_and_those_that_do_not_fit_are_errors(tmp_path: Path) -> None:
    with Book.create(tmp_path / "book", RULES) as book:
        some = [record([24, 25, 17], BLACK), record([24, 25, 31], None), record([24, 25, 31], WHITE)]
        assert book.add(some, plies=3) == 3
        assert book.add(some, plies=3) == 0
        for other, why in (
            (record([24], None, ending=Ending.UNKNOWN), "without a result"),
            (record([24], rules=Rules(7, 5)), "not 4 in a row on 7x7"),
            (record([]), "without moves"),
            (record([24, 25], set_up=1), "not from the empty board"),
        ):
            with pytest.raises(ValueError, match=f"game 2 is {why}: add filter"):
                book.add([record([17]), other], plies=3)
        assert summary(book) == [(24, 1, 1, 1)]
        assert summary(book, 24, 25) == [(17, 1, 1, 1)], "17 and 31 are one under the symmetry of the position"
        assert book.games == 3
        best = book.best(Position(RULES))
        assert (best.points, best.games, best.score) == (1.5, 3, 2.5 / 7)
        assert book.best(Position(RULES), min_games=4) is None
        assert book.moves(Position(Rules(7, 5))) == []


def test_values_are_kept_for_the_side_that_moves(tmp_path: Path) -> None:
    with Book.create(tmp_path / "book", RULES) as book:
        book.add([record([24, 25, 17])], plies=2)
        missing = book.without_value(min_games=1)
        assert sorted(len(position.moves) for _, _, position in missing) == [1, 2]
        assert book.without_value(min_games=2) == []
        book.set_values([(key, move, 0.25 * position.ply) for key, move, position in missing])
        assert [each.value for each in book.moves(Position(RULES))] == [0.25]
        assert [each.value for each in book.moves(Position.from_moves(RULES, [24]))] == [0.5]
        assert book.without_value(min_games=1) == []


def test_stones_that_would_end_the_game_on_the_way_have_no_position_to_search(tmp_path: Path) -> None:
    rules = Rules(9, 4, Variant.STANDARD)
    six = [0, 20, 1, 22, 2, 30, 4, 40, 3]  # five in a row at the end, four of them are exact on the way
    with Book.create(tmp_path / "book", rules) as book:
        book.add([record(six, None, rules)], plies=9)
        assert len(book) == 9
        assert all(position.rules == rules for _, _, position in book.without_value(1))


@pytest.mark.parametrize("content", [b"", b"no book", b"SQLite format 3\0" + bytes(100)])
def test_a_file_that_is_no_book_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(BookError, match="is no opening book of gomoku"):
        Book(path)
    with pytest.raises(FileExistsError):
        Book.create(path, RULES)
    with pytest.raises(FileNotFoundError):
        Book(tmp_path / "missing")
    with pytest.raises(BookError, match="is a folder"):
        Book(tmp_path)


def test_a_book_that_is_read_takes_no_games(tmp_path: Path) -> None:
    Book.create(tmp_path / "book", RULES).close()
    with Book(tmp_path / "book") as book, pytest.raises(BookError, match="opened to be read"):
        book.add([record([24])], plies=1)


def test_a_book_of_another_version_and_a_damaged_one_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "book"
    with Book.create(path, RULES) as book:
        book.add([record([cell, 25, 17]) for cell in range(24) if cell != 17], plies=3)
        book._rows.execute("UPDATE about SET value = '2' WHERE name = 'format'")
        book._rows.commit()
    with pytest.raises(BookError, match=r"of another version \(2\)"):
        Book(path)


def test_a_damaged_book_is_found_at_its_opening(tmp_path: Path) -> None:
    path = tmp_path / "book"
    with Book.create(path, RULES) as book:
        book.add([record([a, b, 17]) for a in range(24) for b in range(25, 49) if a != 17], plies=3)
        assert book.moves(Position(RULES))
    data = path.read_bytes()
    last_page = len(data) - 4096
    assert last_page > 6 * 4096
    path.write_bytes(data[:last_page] + b"\xff" * 300 + data[last_page + 300 :])
    with pytest.raises(BookError, match="book is damaged: build it again"):
        Book(path)


def test_a_book_that_is_damaged_later_says_so_and_other_values_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "book"
    with Book.create(path, RULES) as book:
        book.add([record([24, 25, 17])], plies=3)
        book._rows.execute("UPDATE moves SET wins = 'many' WHERE move = 24")
        assert book.moves(Position(RULES)) == []
        assert [move for _, move, _ in book.without_value(1)] != [24]
        book._rows.execute("UPDATE moves SET wins = 1, value = 9e9 WHERE move = 24")
        assert book.moves(Position(RULES)) == []
        book._rows.execute("DROP TABLE moves")
        for read in (book.moves, book.best, len):
            with pytest.raises(BookError, match="book is damaged: no such table"):
                read(book if read is len else Position(RULES))
        with pytest.raises(BookError, match="book is damaged"):
            book.without_value(1)


def test_the_best_move_has_the_best_score_and_values_count_as_four_games() -> None:
    def score(wins: int, losses: int, value: float | None = None) -> float:
        return BookMove(move=0, wins=wins, draws=0, losses=losses, value=value).score

    assert score(60, 40) > score(1, 0) > score(10, 90)
    assert score(1, 1, 0.5) == pytest.approx((1 + 4 * 0.75) / 6)
    assert score(0, 0, -1.0) == 0.0


def test_what_does_not_fit_the_disk_is_left_out_whole(tmp_path: Path) -> None:
    games = [record([cell, 25, 17]) for cell in range(24) if cell != 17]
    with Book.create(tmp_path / "book", RULES) as book:
        book.add(games[:1], plies=3)
        book._rows.execute("PRAGMA max_page_count = 1")  # the smallest that holds what is there
        with pytest.raises(BookNotWrittenError, match="book cannot be written: database or disk is full"):
            book.add([record([a, b]) for a in range(49) for b in range(49) if a != b], plies=2)
        assert (book.games, len(book)) == (1, 3)
