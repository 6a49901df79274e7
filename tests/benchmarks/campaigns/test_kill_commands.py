"""The campaign of kills: a killed command is run again until it finishes, and each kind of loss would be seen."""

import json
import random
import sys
from pathlib import Path

import pytest

from benchmarks.campaigns.kill_checks import Kill, Snapshot, differences, faults, twice, unfinished, unreadable
from benchmarks.campaigns.kill_worker import Counts, Undisturbances, Worker
from core.records.formats import write_games
from core.records.record import GameRecord
from core.rules import BLACK, Rules

GAME = GameRecord(Rules(3, 3), (0, 3, 1, 4, 2), BLACK)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")
def test_a_killed_command_comes_to_the_result_of_an_undisturbed_one(tmp_path: Path) -> None:
    counts = Counts()
    worker = Worker(tmp_path, 0, Undisturbances(tmp_path), forks=False)
    try:
        worker.work("convert", 1, random.Random(0), counts, wanted=lambda: counts.kills < 2)
    finally:
        worker.close()
    assert (counts.finished, counts.kills) == (1, 2)


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
    assert twice(folder) == ["games.jsonl has game 1 2 times"]
    assert unfinished(folder) == ["games.jsonl has an unfinished line", "less: 3 lines, 2 records"]
    (folder / ".match.json.0123abcd").touch()
    (folder / "match.json").write_text("{")
    assert "stray file .match.json.0123abcd" in unfinished(folder)
    assert "match.json cannot be read" in unreadable(folder)[0]
    assert "match.json is one file too many" in differences(folder, whole)
    (folder / "games.sgf").unlink()
    assert "games.sgf is gone" in Snapshot.of(whole).lost(Snapshot.of(folder))


def lines(*steps: int) -> list[dict[str, object]]:
    return [{"phase": "basics", "event": "train", "step": step} for step in steps]


def test_lost_steps_would_be_seen() -> None:
    kill = Kill(2)
    assert faults(lines(40, 80, 120, 125), [kill]) == []
    assert faults(lines(40, 80, 80, 120), [kill]) == [], "the step in flight"
    assert "appears twice" in faults(lines(40, 80, 80, 120), [])[0]
    assert "goes back behind" in faults(lines(40, 80, 40, 80, 120), [kill])[0]
    assert "steps are missing" in faults(lines(40, 120), [kill])[0]
    backwards = [*lines(40), {"phase": "imitation", "event": "train", "step": 40}, *lines(80)]
    assert "goes back behind" in faults(backwards, [kill])[0]
    rounds = [{"phase": "selfplay", "iteration": i, "event": e} for i in (0, 1) for e in ("games", "gate")]
    assert faults(rounds, [kill]) == []
    assert len(faults([*rounds, rounds[0]], [kill])) == 1
