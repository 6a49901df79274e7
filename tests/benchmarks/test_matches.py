"""Matches of a player with itself: a stopped one goes on, and another one is refused."""

import json
import sys
from pathlib import Path

import pytest

from benchmarks import matches
from benchmarks.measuring import exit_code_of
from tests.support.commands import Capsys


def command(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["matches", "mentor", "--nodes", "40", "--against", "20", *words])
    return exit_code_of(matches.main)


def test_a_match_goes_on_in_its_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Capsys) -> None:
    kept = ("--run", str(tmp_path / "kept"), "--json")
    assert command(monkeypatch, *kept, "--games", "2") == 0
    first = (tmp_path / "kept" / "games.jsonl").read_text()
    assert command(monkeypatch, *kept, "--games", "4") == 0
    result = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (result["player"], result["opponent"], result["games"]) == ("40 nodes", "20 nodes", 4)
    assert (tmp_path / "kept" / "games.jsonl").read_text().startswith(first)
    assert command(monkeypatch, *kept, "--games", "4", "--seed", "1") == 2
    assert "holds a match with another setting: seed is" in capsys.readouterr().err
