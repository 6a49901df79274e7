"""The page of a game: turning points on boards, accuracy of the players, and the analyses that a file holds."""

import re
from pathlib import Path

import pytest

from core.notation import parse_cell
from core.position import Position
from core.records.record import GameRecord
from core.records.sgf import to_sgf
from core.rules import BLACK, WHITE, Rules
from gomoku_cli.exit_codes import ExitCode
from gomoku_cli.reports.analyses.lines import accuracy_text
from gomoku_cli.reports.page.game_page import write_game_report
from gomoku_cli.study.game import KeptAnalysis, StudiedGame
from gomoku_cli.study.review import review_of
from search.analysis import Analysis, MoveAnalysis
from tests.support.commands import refused, run
from tests.support.scripted_players import AnalysingPlayer

RULES = Rules(9, 5)
MOVES = "e5 a1 e6 a2 e7 b9 a9 c9 e8 d9 e9"
"""Black has an open three after e7, gives the win away by a9, and White does not stop it."""
VALUES = {0: 0.0, 1: 0.0, 2: 0.1, 3: 0.0, 4: 0.1, 5: -1.0, 6: 1.0, 7: 0.2, 8: 1.0, 9: -1.0, 10: 1.0}
"""For the side to move, by ply."""
PROOFS = {5: -4, 6: 3, 8: 3, 9: -2, 10: 1}


def studied() -> StudiedGame:
    moves = tuple(parse_cell(name, 9) for name in MOVES.split())
    game = StudiedGame(GameRecord(RULES, moves, BLACK, black="Ann <b>", white="Bob"))
    for ply in range(len(moves)):
        best = parse_cell("e4" if ply % 2 == 0 else "e3", 9)
        move = MoveAnalysis(best, VALUES[ply], None, 10, PROOFS.get(ply), (best,))
        analysis = Analysis(moves=(move,), value=VALUES[ply], variation=(best,), nodes=10, seconds=0.1)
        game = game.with_analysis(ply, KeptAnalysis(analysis=analysis, player="mentor", limit=None))
    return game


def test_missed_wins_and_defences_are_counted() -> None:
    review = review_of(studied())
    assert (review.missed_wins(BLACK), review.missed_wins(WHITE)) == (1, 0)
    assert [move.ply for move in review.moves if move.ends_forced_win] == [7]
    assert (review.missed_defences(BLACK), review.missed_defences(WHITE)) == (0, 1)
    assert [move.ply for move in review.moves if move.allows_forced_win] == [8]


def test_a_table_adds_up_the_games_of_each_player() -> None:
    head, ann, bob = accuracy_text([studied(), studied()])
    assert head.split()[:3] == ["player", "games", "moves"]
    assert re.split(r"\s{2,}", ann)[:3] == ["Ann <b>", "2", "12"]
    assert ann.split()[-2:] == ["2", "0"]
    assert re.split(r"\s{2,}", bob)[:3] == ["Bob", "2", "10"]
    assert bob.split()[-2:] == ["0", "2"]
    assert len({len(line) for line in (head, ann, bob)}) == 1


def test_the_page_shows_turning_points_and_needs_nothing_else(tmp_path: Path) -> None:
    write_game_report(studied(), tmp_path / "game.html")
    page = (tmp_path / "game.html").read_text()
    assert "Ann &lt;b&gt; against Bob" in page
    assert not re.search(r"<(script|link|img)|https?://|url\(", page)
    worst = [move for move in review_of(studied()).mistakes()]
    titles = re.findall(r"<figcaption>(.*?)</figcaption>", page)
    assert [title.split(":")[0] for title in titles[:-1]] == [f"{m.ply} {MOVES.split()[m.ply - 1]}" for m in worst]
    assert page.count('class="better"') == len(worst) > 0
    assert page.count('class="fault"') == len(worst)
    assert "Black won in 11 moves." in page
    assert "the greatest loss" in page.lower()
    assert page.count('class="board"') == len(worst) + 1


def test_a_set_up_game_is_counted_from_its_first_move(tmp_path: Path) -> None:
    game = studied()
    record = GameRecord(RULES, game.record.moves, BLACK, set_up=6)
    write_game_report(StudiedGame(record, game.analyses), tmp_path / "game.html")
    page = (tmp_path / "game.html").read_text()
    assert "1 a9: a blunder by black" in page
    assert "2 c9: a blunder by white" in page
    assert not re.search("<figcaption>[^<]*e7", page)


def test_the_command_takes_the_analyses_of_the_file_and_no_engine(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file, output = tmp_path / "game.sgf", tmp_path / "out.html"
    file.write_text(to_sgf(studied().to_record()))
    monkeypatch.setattr("gomoku_cli.commands.pictures.analyst.parse_player", None)
    code, out, _ = run(capsys, "report", file, "-o", output)
    assert (code, out) == (ExitCode.DONE, f"{output}: the report of game 1 of {file}\n")
    assert "1 a9" not in output.read_text()
    assert "7 a9: a blunder by black" in output.read_text()


def test_positions_without_an_analysis_are_searched(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file, output, player = tmp_path / "game.sgf", tmp_path / "out.html", AnalysingPlayer(9)
    file.write_text(to_sgf(studied().record))
    monkeypatch.setattr("gomoku_cli.commands.pictures.analyst.parse_player", lambda *_, **__: player)
    assert run(capsys, "report", file, "-o", output, "--player", "mentor")[0] == ExitCode.DONE
    assert [len(moves) for moves in player.analysed] == list(range(len(MOVES.split())))
    assert "as mentor sees it" in output.read_text()


def test_arguments_that_do_not_go_together_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "game.sgf"
    file.write_text(to_sgf(GameRecord(RULES, tuple(Position.from_moves(RULES, "e5 a1").moves))))
    assert "one game alone" in refused(capsys, ExitCode.USAGE, "report", file, file)
    assert "there is no game 3" in refused(capsys, ExitCode.USAGE, "report", file, "--game", 3)
    assert "for a file of games" in refused(capsys, ExitCode.USAGE, "report", tmp_path, "--game", 1)
    assert "must end in .html" in refused(capsys, ExitCode.USAGE, "report", file, "-o", tmp_path / "x.pdf")
