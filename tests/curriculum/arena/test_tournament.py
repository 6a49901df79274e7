"""Tournaments: fixtures, forfeits, and stopped matches that continue."""

import errno
import json
import os
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from core.position import Position
from core.records.formats import read_games
from core.records.record import Ending
from core.rules import BLACK, Rules
from curriculum.arena.fixtures import Fixture, fixtures
from curriculum.arena.folder import MatchFolder
from curriculum.arena.formats import Format
from curriculum.arena.results import MatchResult
from curriculum.arena.tournament import Tournament, play_tournament
from curriculum.reporting import Context, Interrupted
from curriculum.run.locking import FolderBusyError, FolderError, FolderMovedError, FolderTakenError
from search.players import Decision, ForfeitError, Player, RandomPlayer
from tests.support.cases import cases
from tests.support.players import OneByOne

RULES = Rules(7, 4)
OPENINGS = [(24,), (25, 16), (0, 48, 6), (10, 30)]
PLAN = {"players": ["a", "b"], "seed": 1}


class Restarting(OneByOne):
    """A random player that starts each game by itself; may give up, or be too slow, at some ply."""

    starts_games = True

    def __init__(self, name: str = "restarting", *, gives_up_at: int | None = None, on_time: bool = False) -> None:
        self.name = name
        self.open = 0
        self.max_open = 0
        self._lock = threading.Lock()
        self._gives_up_at = gives_up_at
        self._on_time = on_time

    @contextmanager
    def start_game(self) -> Iterator[Player]:
        """See `Player`."""
        with self._lock:
            self.open += 1
            self.max_open = max(self.max_open, self.open)
        try:
            yield self
        finally:
            with self._lock:
                self.open -= 1

    def decide(self, position: Position, seed: int, stop: Callable[[], bool]) -> Decision:
        if self._gives_up_at is not None and position.ply >= self._gives_up_at:
            raise ForfeitError("it gave up", on_time=self._on_time)
        return RandomPlayer().choose(position, seed=seed)


class Breaking(Restarting):
    """Has a defect of its own."""

    def decide(self, position: Position, seed: int, stop: Callable[[], bool]) -> Decision:
        raise ZeroDivisionError("a defect")


class Counting(OneByOne):
    """A random player that counts its decisions, and stops the games after some."""

    name = "random"

    def __init__(self, stop_after: int | None = None) -> None:
        self.decisions = 0
        self._stop_after = stop_after

    def decide(self, position: Position, seed: int, stop: Callable[[], bool]) -> Decision:
        self.decisions += 1
        return RandomPlayer().choose(position, seed=seed)

    def stop(self) -> bool:
        """Return True after the last decision."""
        return self._stop_after is not None and self.decisions >= self._stop_after


def schedule(games: int = 8, players: int = 2, form: Format = Format.ROUND_ROBIN) -> list[Fixture]:
    return fixtures(players, games, openings=OPENINGS, seed=1, form=form)


def moves_of(result: MatchResult) -> list[tuple[int, ...]]:
    return [game.moves for game in sorted(result.games, key=lambda game: game.fixture.number)]


def opened(
    path: Path, games: Sequence[Fixture] | None = None, *, plan: dict[str, Any] = PLAN, names: Sequence[str] = "ab"
) -> MatchFolder:
    return MatchFolder(path, plan, schedule(4) if games is None else games, rules=RULES, names=tuple(names))


def play(games: Sequence[Fixture], player: Player | None = None, **options: Any) -> Tournament:
    """Play the games of a player, by default another random one, and a random one."""
    players = (player or RandomPlayer(), RandomPlayer())
    return play_tournament(players, games, rules=RULES, **{"context": Context()} | options)


@pytest.fixture
def kept(tmp_path: Path) -> list[Fixture]:
    """The fixtures of a match of four games, which are kept in `tmp_path`."""
    games = schedule(4)
    with opened(tmp_path, games) as folder:
        play(games, folder=folder)
    return games


@pytest.mark.parametrize(("form", "meetings"), [(Format.ROUND_ROBIN, 6), (Format.GAUNTLET, 3)])
def test_every_meeting_has_the_same_openings_with_both_colours(form: Format, meetings: int) -> None:
    games = schedule(6, players=4, form=form)
    assert [game.number for game in games] == list(range(6 * meetings))
    met = Counter(frozenset((game.black, game.white)) for game in games)
    expected = combinations(range(4), 2) if form is Format.ROUND_ROBIN else [(0, 1), (0, 2), (0, 3)]
    assert met == {frozenset(pair): 6 for pair in expected}
    starts = {pair: [game.opening for game in games if {game.black, game.white} == pair] for pair in met}
    assert len({tuple(openings) for openings in starts.values()}) == 1
    pairs: dict[int, list[Fixture]] = {}
    for game in games:
        pairs.setdefault(game.pair, []).append(game)
    for first, second in pairs.values():
        assert (first.black, first.white, first.opening) == (second.white, second.black, second.opening)
    assert len({game.seed for game in games}) == len(games)


def test_meetings_take_turns_and_more_games_only_follow() -> None:
    few, many = schedule(4, players=3), schedule(8, players=3)
    assert many[: len(few)] == few
    for count in range(0, len(many), 6):
        assert len({frozenset((game.black, game.white)) for game in many[count : count + 6]}) == 3


def test_a_tournament_counts_each_meeting_and_each_player() -> None:
    players = [RandomPlayer(), RandomPlayer(), RandomPlayer()]
    tournament = play_tournament(players, schedule(4, players=3), rules=RULES, context=Context(), names=("a", "b", "c"))
    assert tournament.games == 12
    assert {(match.player, match.opponent) for match in tournament.matches.values()} == set(combinations("abc", 2))
    standings = tournament.standings()
    assert sorted(standing.rating.name for standing in standings) == ["a", "b", "c"]
    assert all(standing.tally.games == 8 for standing in standings)
    assert sum(standing.tally.score for standing in standings) == pytest.approx(1.5)
    elos = [standing.rating.elo for standing in standings]
    assert elos == sorted(elos, reverse=True)


@pytest.mark.parametrize("on_time", [False, True])
def test_a_player_that_gives_up_loses_on_any_board(on_time: bool) -> None:
    quitter = Restarting("quitter", gives_up_at=6, on_time=on_time)
    result = play(schedule(), quitter).matches[0, 1]
    lost = [game for game in result.games if game.ending is not Ending.BOARD]
    assert lost
    for game in lost:
        assert game.ending is (Ending.TIME if on_time else Ending.FORFEIT)
        assert game.winner is not None
        assert game.winner == -result.colour_in(game)
        assert game.why == f"{'black' if result.colour_in(game) == BLACK else 'white'} lost: it gave up"
        assert len(game.moves) in (6, 7)
    assert [(forfeit.player, forfeit.game) for forfeit in result.forfeits] == [
        ("quitter", game.fixture.number) for game in lost
    ]
    assert quitter.open == 0


def test_games_on_threads_are_limited_in_number() -> None:
    for count in (1, 3):
        player = Restarting()
        play(schedule(), player, on_threads=count)
        assert 1 <= player.max_open <= count


def test_games_on_threads_are_the_games_played_side_by_side() -> None:
    """Players receive the same seeds either way."""
    apart = play(schedule(), Restarting(), on_threads=3)
    together = play(schedule())
    assert moves_of(apart.matches[0, 1]) == moves_of(together.matches[0, 1])


def test_a_defect_on_a_thread_is_not_swallowed() -> None:
    player = Breaking()
    with pytest.raises(ZeroDivisionError, match="a defect"):
        play(schedule(), player, on_threads=2)
    assert player.open == 0


def test_a_match_ends_early_once_it_is_decided() -> None:
    def is_decided(tournament: Tournament) -> bool:
        return tournament.games >= 4

    for player in (RandomPlayer(), Restarting()):
        assert play(schedule(20), player, is_decided=is_decided, side_by_side=2, on_threads=1).games == 4


def test_a_stopped_match_continues_and_ends_like_one_without_a_stop(tmp_path: Path) -> None:
    games = schedule(12)
    straight = play(games, side_by_side=4)
    stops = 0
    for stop_after in (30, 60, 90, None):
        player = Counting(stop_after)
        with opened(tmp_path, games) as folder:
            before = len(folder.played)
            try:
                resumed = play(games, player, context=Context(stop=player.stop), folder=folder, side_by_side=4)
            except Interrupted:
                stops += 1
            assert len(folder.played) >= before
    assert stops
    assert moves_of(resumed.matches[0, 1]) == moves_of(straight.matches[0, 1])
    records = read_games(tmp_path / "games.sgf")
    assert sorted(record.moves for record in records) == sorted(game.moves for game in straight.matches[0, 1].games)
    lines = (tmp_path / "games.jsonl").read_text(encoding="utf-8").splitlines()
    assert sorted(json.loads(line)["game"] for line in lines) == list(range(12))


def test_a_game_reads_back_as_it_was_kept(tmp_path: Path) -> None:
    games = schedule(6)
    with opened(tmp_path, games) as folder:
        play(games, Restarting(gives_up_at=9), folder=folder)
        kept = folder.played
    with opened(tmp_path, games) as folder:
        for again, game in zip(folder.played, kept, strict=True):
            assert again.to_json(RULES, "ab") == game.to_json(RULES, "ab")
            assert (again.moves, again.winner, again.ending) == (game.moves, game.winner, game.ending)


def test_a_half_written_game_is_played_again(tmp_path: Path, kept: list[Fixture]) -> None:
    whole = (tmp_path / "games.jsonl").read_bytes()
    (tmp_path / "games.jsonl").write_bytes(whole[:-20])
    (tmp_path / "games.sgf").write_text("(;FF[4]GM[4]", encoding="utf-8")
    with opened(tmp_path, kept) as folder:
        assert len(folder.played) == 3
        play(kept, folder=folder)
        assert len(folder.played) == 4
    assert len(read_games(tmp_path / "games.sgf")) == 4


@pytest.mark.skipif(sys.platform == "win32", reason="an open folder does not move there")
def test_a_match_that_is_moved_during_the_work_begins_no_second_folder(tmp_path: Path) -> None:
    path, games = tmp_path / "match", schedule(4)
    with opened(path, games) as folder:
        path.rename(tmp_path / "moved")
        with pytest.raises(FolderMovedError):
            play(games, folder=folder)
    assert not path.exists()


def test_a_folder_of_another_match_is_refused(tmp_path: Path) -> None:
    path, other = tmp_path / "match", tmp_path / "other"
    with opened(path), pytest.raises(FolderBusyError, match="this program has"):
        opened(path)
    with pytest.raises(FolderTakenError, match="seed is 1 there and 2 here"):
        opened(path, plan={**PLAN, "seed": 2})
    with pytest.raises(FolderTakenError, match=r'names is \["a", "b"\] there and \["a", "c"\] here; give the same'):
        opened(path, names="ac")
    (path / "match.json").write_text(json.dumps({**PLAN, "\u202e" * 99: 1}), encoding="utf-8")
    with pytest.raises(FolderTakenError, match=r"another setting: (\\u202e){9}.*, or move the folder away"):
        opened(path)
    other.mkdir()
    (other / "letter.txt").write_text("dear", encoding="utf-8")
    for taken, why in ((other, "is not empty and holds no match"), (other / "letter.txt", "is a file")):
        with pytest.raises(FolderTakenError, match=why):
            opened(taken)


@pytest.mark.parametrize(("line", "why"), cases("match_lines_refused"))
@pytest.mark.usefixtures("kept")
def test_a_broken_line_of_a_match_is_named(tmp_path: Path, line: str | dict[str, Any], why: str) -> None:
    if isinstance(line, dict):
        played = (json.loads(text) for text in (tmp_path / "games.jsonl").read_text(encoding="utf-8").splitlines())
        won = next(game for game in played if game["winner"] is not None)
        line = json.dumps(won | line)
    (tmp_path / "games.jsonl").write_text(line + "\n", encoding="utf-8")
    with pytest.raises(FolderError, match=why):
        opened(tmp_path)


@pytest.mark.parametrize("text", ["", "[]", "\0\0"])
def test_a_broken_plan_of_a_match_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "match.json").write_text(text, encoding="utf-8")
    with pytest.raises(FolderError, match=r"match\.json cannot be read"):
        opened(tmp_path)


def test_opening_a_match_cuts_zeros_and_removes_unfinished_files(tmp_path: Path, kept: list[Fixture]) -> None:
    with (tmp_path / "games.jsonl").open("ab") as file:
        file.write(b"\0" * 4096)
    (tmp_path / ".games.sgf.0123abcd").write_text("(;", encoding="utf-8")
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    with opened(tmp_path, kept) as folder:
        assert len(folder.played) == 4
    assert {path.name for path in tmp_path.iterdir()} == {"games.jsonl", "games.sgf", "lock", "match.json", "notes.txt"}


def test_a_game_without_room_for_its_record_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, text: str) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    games = schedule(4)
    with opened(tmp_path, games) as folder:
        with monkeypatch.context() as patch, pytest.raises(OSError, match=r"games\.sgf"):
            patch.setattr("curriculum.arena.folder.append_text", full)
            play(games, folder=folder)
        assert len(folder.played) == 1
    with opened(tmp_path, games) as folder:
        assert len(folder.played) == 1
        play(games, folder=folder)
    assert len(read_games(tmp_path / "games.sgf")) == 4


def test_a_game_that_is_there_twice_counts_once(tmp_path: Path, kept: list[Fixture]) -> None:
    lines = (tmp_path / "games.jsonl").read_text(encoding="utf-8")
    (tmp_path / "games.jsonl").write_text(2 * lines, encoding="utf-8")
    with opened(tmp_path, kept) as folder:
        assert len(folder.played) == 4


def test_names_with_invalid_characters_lose_no_game(tmp_path: Path) -> None:
    games = schedule(2)
    for _ in range(2):
        with opened(tmp_path, games, names=("\udcff", "b")) as folder:
            play(games, folder=folder)
            assert len(folder.played) == 2


def test_the_short_games_of_a_stopped_wave_do_not_end_a_match(tmp_path: Path) -> None:
    """They end first and are won by the attacker: a sequential test must not see them alone."""
    games = schedule(12)
    player = Counting(stop_after=60)
    with opened(tmp_path, games) as folder, pytest.raises(Interrupted):
        play(games, player, context=Context(stop=player.stop), folder=folder, side_by_side=6)
    with opened(tmp_path, games) as folder:
        assert 0 < len(folder.played) < 6
        decided = {"is_decided": lambda tournament: tournament.games > 0}
        tournament = play(games, folder=folder, side_by_side=6, **decided)
    assert [game.fixture.number for game in tournament.matches[0, 1].games] == [0, 1], "a test looks at every pair"
