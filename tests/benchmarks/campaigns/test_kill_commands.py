"""The campaign of kills: a killed command is run again until it finishes, and each kind of loss would be seen."""

import json
import random
import sys
from pathlib import Path

import pytest

from benchmarks.campaigns import works
from benchmarks.campaigns.kill_commands import Killer
from benchmarks.campaigns.results import Snapshot, content, differences, twice, unfinished, unreadable
from core.files.cache_folder import CacheFolder
from core.records.formats import write_games
from core.records.record import GameRecord
from core.rules import BLACK, Rules

GAME = GameRecord(Rules(3, 3), (0, 3, 1, 4, 2), BLACK)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")
def test_a_killed_command_comes_to_the_result_of_an_undisturbed_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    two = works.long_games(Rules(), 2)  # to play them takes longer than to convert them
    monkeypatch.setattr(works, "long_games", lambda rules, number: two * (number // 2))
    killer = Killer(tmp_path)
    killer.work("convert", 1, random.Random(12), goal=1)  # the kill comes before an operation, and so before the end
    assert killer.counts["convert", "kills"] == 1
    assert killer.counts["convert", "finished"] >= 1


def match_folder(path: Path, games: int) -> Path:
    path.mkdir()
    (path / "games.jsonl").write_text("".join(json.dumps({"game": n, "seconds": 0.5}) + "\n" for n in range(games)))
    write_games(path / "games.sgf", [GAME] * games)
    return path


def test_a_finished_folder_has_no_faults(tmp_path: Path) -> None:
    one, other = match_folder(tmp_path / "one", 3), match_folder(tmp_path / "other", 3)
    assert [*unreadable(one), *twice(one), *unfinished(one), *differences(one, other)] == []
    assert Snapshot.of(one).lost(Snapshot.of(other)) == []


def test_each_loss_would_be_seen(tmp_path: Path) -> None:
    whole, folder = match_folder(tmp_path / "whole", 3), match_folder(tmp_path / "less", 2)
    assert Snapshot.of(whole).lost(Snapshot.of(folder)) == ["games.jsonl lost finished lines"]
    assert "games.jsonl differs" in differences(folder, whole)[0]
    with (folder / "games.jsonl").open("a") as file:
        file.write('{"game": 1}\n{"ga')
    assert twice(folder) == ["less game 1 is there 2 times"]
    assert unfinished(folder) == ["less: 3 whole lines, 2 records"]
    (folder / ".match.json.0123abcd").touch()
    (folder / "match.json").write_text("{")
    assert "stray file .match.json.0123abcd" in unfinished(folder)
    assert "match.json cannot be read" in unreadable(folder)[0]
    assert "match.json is one file too many" in differences(folder, whole)
    (folder / "games.sgf").unlink()
    assert "games.sgf is gone" in Snapshot.of(whole).lost(Snapshot.of(folder))


def test_a_cached_file_is_read_as_by_its_cache(tmp_path: Path) -> None:
    assert CacheFolder(tmp_path / "cache", "nothing").write("tuning.json", b"{}")
    assert unreadable(tmp_path) == []
    with (tmp_path / "cache" / "tuning.json").open("ab") as file:
        file.write(b" ")
    assert "tuning.json is damaged" in unreadable(tmp_path)[0]


def test_self_play_is_compared_by_the_order_of_its_events(tmp_path: Path) -> None:
    path, basics = tmp_path / "metrics.jsonl", {"phase": "basics", "event": "train", "step": 40, "seconds": 1.5}

    def of(*rounds: tuple[int, str]) -> object:
        records = [basics, *({"phase": "selfplay", "iteration": i, "event": event} for i, event in rounds)]
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
        return content(path, loose=True)

    whole = of((0, "games"), (0, "train"), (1, "games"))
    assert of((0, "games"), (0, "games"), (0, "train"), (1, "games")) == whole
    assert of((0, "games"), (0, "train"), (0, "games"), (1, "games")) != whole
    assert of((0, "games"), (1, "games")) != whole
    basics["seconds"] = 2.0
    assert of((0, "games"), (0, "train"), (1, "games")) == whole
    basics["step"] = 80
    assert of((0, "games"), (0, "train"), (1, "games")) != whole
