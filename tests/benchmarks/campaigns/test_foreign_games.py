"""A part of the campaign of foreign files: a save loses nothing of a file, and a conversion names what it drops."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from benchmarks.campaigns.foreign_games import ForeignFile, check, foreign_files

_SETTINGS = settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=25)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("foreign")


@_SETTINGS
@given(foreign_files)
def test_every_foreign_byte_is_there_after_a_save_or_the_file_is_refused(folder: Path, file: ForeignFile) -> None:
    check(file, folder)


def test_a_loss_would_be_seen(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The check fails for a save that writes the games anew, as a test of the test."""
    from benchmarks.campaigns import foreign_games
    from core.records.formats import GamesFile, open_games, write_games
    from gomoku_cli.study.game import StudiedGame

    def write_anew(file: GamesFile, games: dict[int, StudiedGame]) -> GamesFile:
        write_games(file.path, [game.to_record() for game in games.values()])
        return open_games(file.path)

    monkeypatch.setattr(foreign_games, "annotate", write_anew)
    data = b"(;GM[4]SZ[9]RU[Renju];B[ee]LB[aa:A])"
    with pytest.raises(AssertionError):
        check(ForeignFile(".sgf", data), folder)
