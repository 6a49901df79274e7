"""A player with an opening book: the book first, then the player; analyses are those of the player alone."""

from pathlib import Path

from core.book import Book
from core.position import Position
from core.records.record import GameRecord
from core.rules import BLACK, Rules
from search.book_player import BookPlayer
from search.engine import Engine
from search.limit import Limit
from search.mentor.player import Mentor
from search.players import FunctionPlayer

RULES = Rules(9)


def test_known_positions_are_played_from_the_book_and_others_by_the_player(tmp_path: Path) -> None:
    with Book.create(tmp_path / "book", RULES) as book:
        book.add([GameRecord(RULES, [40, 41, 30], BLACK)], plies=3)
        player = BookPlayer(FunctionPlayer("first", lambda position: position.legal_moves()[0]), book)
        positions = [Position.from_moves(RULES, moves) for moves in ([], [40], [0], [40, 39])]
        moves = [each.move for each in player.choose_batch(positions, seeds=range(4))]
        assert moves[:3] == [40, player.choose(positions[1]).move, 1]
        assert moves[1] in (31, 39, 41, 49), "beside the centre, in any symmetry"
        assert moves[3] in (32, 48, 30, 50), "the third move turned with the second"
        assert [each.move for each in player.choose_batch(positions[:2], seeds=(0, 1))] == moves[:2]


def test_the_handle_plays_from_the_book_and_analyses_without_it(tmp_path: Path) -> None:
    with Book.create(tmp_path / "book", RULES) as book:
        book.add([GameRecord(RULES, [0, 41, 30], BLACK)], plies=3)
        with Engine(BookPlayer(Mentor(Limit(nodes=200)), book)) as engine:
            decision = engine.play(Position(RULES))
            assert (decision.move in (0, 8, 72, 80), decision.simulations) == (True, 0)
            assert engine.analysis(Position(RULES)).wait().best_move == 40
