"""The whole curriculum on 7x7 with a tiny net: it runs through, survives being stopped anywhere, and obeys its gate."""

import itertools
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from core.records.sgf import parse_sgf
from curriculum.config import SelfplayConfig
from curriculum.phases import round_games
from curriculum.phases import steps as run_training
from curriculum.phases.all import run_all, run_basics
from curriculum.phases.replay import Replay
from curriculum.reporting import Context, Interrupted
from curriculum.run.folder import RunFolder, read_metrics
from curriculum.training.files import read_samples
from nets.checkpoint import load_model
from tests.support.remarks import Remarks
from tests.support.runs import CURRICULUM as CONFIG
from tests.support.runs import Killed

# All of them, since their run without interruption would be made again for those that come later.
pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class StopsAt(Context):
    """Stops at the n-th check, and never inside games and matches."""

    checks: list[int] = field(default_factory=lambda: [0])

    def check(self) -> None:
        """See `Context`."""
        self.checks[0] -= 1
        if self.checks[0] == 0:
            raise Interrupted


@pytest.fixture(scope="module", autouse=True)
def small_steps() -> Iterator[None]:
    """Saves often, so that there are many instants to be stopped at; on a slow machine, too, a round is one file."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_training, "STEPS_PER_SAVE", 2)
        patch.setattr(round_games, "_SECONDS_PER_FILE", 1e9)
        yield


LEFT = "selfplay-0000-000003.sgf"


@pytest.fixture(scope="module")
def remarks() -> Remarks:
    """The messages of the run without interruption."""
    return Remarks()


@pytest.fixture(scope="module")
def straight(small_steps: None, remarks: Remarks, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run without interruption, in which a kill left games without their samples."""
    path = tmp_path_factory.mktemp("phases") / "straight"
    run = RunFolder.create(path, CONFIG)
    (run.games / LEFT).write_text("(;GM[4])")
    assert go_on(run, Context(remarks)) == []
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A run that has not begun."""
    RunFolder.create(tmp_path / "run", CONFIG).close()
    return tmp_path / "run"


def go_on(run: RunFolder, context: Context | None = None) -> list[dict[str, Any]]:
    """Do all phases, or what is left of them, and close the folder."""
    with run:
        return run_all(run, context or Context())


def tensors(path: Path) -> dict[str, Tensor]:
    return dict(load_model(path)[0].state_dict())


def same_tensors(one: dict[str, Tensor], other: dict[str, Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def best(path: Path) -> Path:
    return path / "models" / "best.safetensors"


def events(path: Path) -> list[tuple[Any, ...]]:
    return [(r["phase"], r.get("iteration"), r["event"], r.get("step")) for r in read_metrics(path)]


def test_all_phases_leave_their_models_games_and_metrics(straight: Path) -> None:
    models = {path.stem for path in (straight / "models").iterdir()}
    assert {"basics", "imitation", "best"} <= models
    assert "candidate" not in models
    model, info = load_model(best(straight))
    assert model.rules == CONFIG.rules
    assert info.made["preset"] == "custom"
    records = read_metrics(straight)
    assert [r["phase"] for r in records] == sorted(
        (r["phase"] for r in records), key=("basics", "imitation", "selfplay").index
    )
    for record in records:
        if record["event"] == "train":
            assert {"policy_loss", "value_loss", "policy_entropy", "positions_per_second", "seconds"} <= record.keys()
        if record["event"] == "games":
            assert record["games"] == 4
            assert record["game_length"] >= 7
    assert len(events(straight)) == len(set(events(straight))), "a line a step"
    gates = [r for r in records if r["event"] == "gate"]
    assert [r["iteration"] for r in gates] == [0, 1]
    for gate in gates:
        accepted_name = f"selfplay-{gate['iteration']:04d}"
        assert (accepted_name in models) == gate["accepted"] == (gate["result"]["wins"] > 0)


def test_games_and_samples_of_a_round_are_the_same_games(straight: Path) -> None:
    for iteration in range(2):
        (samples_file,) = (straight / "replay").glob(f"selfplay-{iteration:04d}-*.npz")
        samples, metadata = read_samples(samples_file)
        games = parse_sgf((straight / "games" / f"{samples_file.stem}.sgf").read_text())
        assert sorted(metadata["games"]) == [0, 1, 2, 3]
        assert len(games) == 4
        assert sum(metadata["lengths"]) == len(samples)
        for game, length in zip(games, metadata["lengths"], strict=True):
            assert len(game.moves) >= length


def test_games_left_without_their_samples_are_played_again(straight: Path) -> None:
    assert {path.name for path in (straight / "games").iterdir()} == {
        f"selfplay-{number:04d}-000000.sgf" for number in range(2)
    }


def test_missing_balanced_openings_are_noted_once_for_all_rounds(straight: Path, remarks: Remarks) -> None:
    assert sum("no balanced openings" in text for text in remarks.lines) == 1


def test_a_finished_run_does_nothing_again(straight: Path) -> None:
    before = {path: path.read_bytes() for path in straight.rglob("*") if path.is_file()}
    assert go_on(RunFolder.open(straight), Context(stop=lambda: pytest.fail("asked to stop"))) == []
    after = {path: path.read_bytes() for path in straight.rglob("*") if path.is_file()}
    changed = {path.name for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    assert changed == {"environment.json"}


def test_stopped_at_every_check_a_run_resumes_to_the_same_model(straight: Path, path: Path) -> None:
    for sessions in range(1, 100):
        try:
            go_on(RunFolder.open(path), StopsAt(checks=[2 + sessions % 3]))
            break
        except Interrupted:
            pass
    assert 7 < sessions < 99
    assert same_tensors(tensors(best(path)), tensors(best(straight)))
    assert not same_tensors(tensors(best(path)), tensors(path / "models" / "basics.safetensors"))
    # An interrupted step may leave its line twice, a finished one never.
    assert list(dict.fromkeys(events(path))) == list(dict.fromkeys(events(straight)))


def test_stopped_anywhere_even_inside_games_a_run_comes_to_its_end(straight: Path, path: Path) -> None:
    patience, interrupted = 8.0, True
    while interrupted:
        asked = itertools.count()
        try:
            go_on(RunFolder.open(path), Context(stop=partial(_later_than, asked, patience)))
            interrupted = False
        except Interrupted:
            patience *= 2.2
    found, expected = (dict.fromkeys(e for e in events(each) if e[2] != "games") for each in (path, straight))
    assert list(found) == list(expected)
    for iteration in range(2):
        files = (path / "replay").glob(f"selfplay-{iteration:04d}-*.npz")
        assert sorted(game for file in files for game in read_samples(file)[1]["games"]) == [0, 1, 2, 3], "each once"


def _later_than(asked: Iterator[int], patience: float) -> bool:
    return next(asked) >= patience


WRITTEN = """
replay/basics.npz state/basics.safetensors models/basics.safetensors models/best.safetensors state/phases.json
replay/mentor-000000.npz state/imitation.safetensors models/imitation.safetensors state/imitation.safetensors
models/imitation.safetensors models/best.safetensors state/phases.json games/selfplay-0000-000000.sgf
replay/selfplay-0000-000000.npz state/selfplay.safetensors models/candidate.safetensors state/gate.json
state/accepted.safetensors models/selfplay-0000.safetensors models/best.safetensors state/selfplay.json
replay/selfplay-0001-000000.npz state/selfplay.safetensors state/gate.json state/selfplay.json
""".split()
"""Files of a run in the order in which it writes them."""


def kill_after(patch: pytest.MonkeyPatch, file: Path) -> None:
    """Kill the process right after `file` appeared; nothing is written after that, not even by `finally`."""
    plain, dead = Path.replace, False

    def replace_and_die(self: Path, target: Path) -> Path:
        nonlocal dead
        if not dead:
            plain(self, target)
            dead = target == file
        if dead:
            raise Killed
        return target

    patch.setattr(Path, "replace", replace_and_die)


def test_killed_after_any_file_a_run_resumes_to_the_same_model(straight: Path, path: Path) -> None:
    for name in WRITTEN:
        with pytest.MonkeyPatch.context() as patch, pytest.raises(Killed):
            kill_after(patch, path / name)
            go_on(RunFolder.open(path))
    go_on(RunFolder.open(path))
    assert same_tensors(tensors(best(path)), tensors(best(straight)))
    assert list(dict.fromkeys(events(path))) == list(dict.fromkeys(events(straight))), "no line is missing"
    trained = [event for event in events(path) if event[2] == "train"]
    assert len(trained) <= len(set(trained)) + len(WRITTEN)


def test_a_model_of_phase_1_that_was_killed_before_its_mark_is_not_its_own_parent(path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch, pytest.raises(Killed), RunFolder.open(path) as run:
        kill_after(patch, best(path))
        run_basics(run, Context())
    with RunFolder.open(path) as run:
        run_basics(run, Context())
    for model in (best(path), path / "models" / "basics.safetensors"):
        assert load_model(model)[1].made["parent"] is None


def test_samples_of_a_round_do_not_depend_on_how_they_were_saved_and_the_window_holds_the_newest(
    straight: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    windows: list[tuple[int, int]] = []
    plain = Replay.window

    def window(self: Any, settings: SelfplayConfig, iteration: int) -> Any:
        samples, fresh = plain(self, settings, iteration)
        newest = self._samples_of(iteration)
        kept = min(len(newest), 150)
        assert fresh == kept
        stones = newest.all.positions.stones[len(newest) - kept :]
        assert (samples.all.positions.stones[:kept] == stones).all()
        windows.append((len(samples), fresh))
        return samples, fresh

    monkeypatch.setattr(Replay, "window", window)
    monkeypatch.setattr(round_games, "_SECONDS_PER_FILE", 0.0)
    go_on(RunFolder.open(path))
    assert len(list((path / "replay").glob("selfplay-0000-*.npz"))) == 4
    assert same_tensors(tensors(best(path)), tensors(best(straight)))
    total = sum(len(read_samples(file)[0]) for file in (path / "replay").glob("selfplay-*.npz"))
    assert len(windows) == 2
    assert windows[0][0] == windows[0][1]
    assert windows[-1][0] == min(total, 150)


def test_the_best_models_metadata_holds_the_final_matches(straight: Path, tmp_path: Path) -> None:
    path = tmp_path / "run"
    shutil.copytree(straight, path)
    text = (path / "config.toml").read_text()
    (path / "config.toml").write_text(text.replace("final_games = 0", "final_games = 2"))
    with RunFolder.open(path) as run:
        results = run_all(run, Context())
        info = load_model(run.best_model)[1]
        lines, written = len(run.metrics()), run.best_model.read_bytes()
        assert run_all(run, Context()) == results, "and they are not played twice"
        assert len(run.metrics()) == lines
        assert run.best_model.read_bytes() == written, "kept matches know a model by its bytes"
    assert [match["opponent"] for match in results] == list(CONFIG.evaluation.opponents)
    for match in results:
        kept = info.made["results"][f"against {match['opponent']}"]
        assert kept["games"] > 0
        assert kept.items() <= match.items()
    assert same_tensors(tensors(best(path)), tensors(best(straight)))
