"""Model files opened for play: from graphs that are kept, without torch, and with it where that cannot be."""

import ctypes
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file

from core.evaluation import PositionBatch
from core.rules import BLACK, WHITE, Rules
from nets.checkpoint import CheckpointError, load_model, read_info, save_model
from nets.config import Backend, NetConfig, Planes, Precision, RuntimeChoice, RuntimeNotice
from nets.dual import DualNet, make_model
from nets.runtimes import conversion, devices, loading, saved_graphs
from nets.runtimes.devices import may_have_gpu
from nets.runtimes.loading import open_model
from nets.runtimes.net_evaluator import NetEvaluator
from nets.runtimes.openvino import OpenVino
from tests.support.project import ROOT

RULES = Rules(7, 4)
TINY = NetConfig(filters=2, blocks=0, value_hidden=2, dual=False)
OPENVINO = RuntimeChoice(backend=Backend.OPENVINO)


_CONVERTED: dict[str, bytes] = {}
"""Files of graphs, by the name that says all they come from."""


@pytest.fixture
def model() -> DualNet:
    return make_model(TINY, RULES, 1).eval()


@pytest.fixture
def path(model: DualNet, tmp_path: Path) -> Path:
    """A model file."""
    save_model(tmp_path / "model.safetensors", model, {"phase": "none"})
    return tmp_path / "model.safetensors"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder for graphs, which are converted in this process and once, since that is sooner done."""
    pytest.importorskip("openvino", exc_type=ImportError)

    def make_here(model: Path, precision: Precision) -> bool:
        kept = saved_graphs.graphs_path(model, OpenVino(precision))
        try:
            if kept.name in _CONVERTED:
                kept.parent.mkdir(parents=True, exist_ok=True)
                kept.write_bytes(_CONVERTED[kept.name])
            else:
                conversion.main(model, precision)
                _CONVERTED[kept.name] = kept.read_bytes()
        except (OSError, ValueError):
            return False
        return True

    monkeypatch.setattr(saved_graphs, "user_cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr(saved_graphs, "make_graphs", make_here)
    return tmp_path / "cache" / "graphs"


def batch_of(count: int) -> PositionBatch:
    """Stones at random, black and white to move."""
    random = np.random.default_rng(count)
    batch = PositionBatch.empty(count, RULES.cells)
    batch.stones[:] = random.choice([0, 0, BLACK, WHITE], size=batch.stones.shape)
    batch.to_move[:] = random.choice([BLACK, WHITE], size=count)
    return batch


def no_conversion(model: Path, precision: Precision) -> bool:
    raise AssertionError("nothing was to be converted")


def test_kept_graphs_judge_as_the_model_does(model: DualNet, path: Path, cache: Path) -> None:
    with pytest.warns(RuntimeNotice, match=r"model\.safetensors is prepared for OpenVINO, once"):
        kept = open_model(path, OPENVINO)
    assert [file.suffix for file in cache.iterdir()] == [".safetensors"]
    fresh = NetEvaluator(model, OPENVINO, device=torch.device("cpu"))
    for answers, wanted in zip(kept.judge(batch_of(20)), fresh.judge(batch_of(20)), strict=True):
        assert np.array_equal(answers, wanted)
    assert (kept.version, kept.last_moves, kept.lanes) == (fresh.version, fresh.last_moves, fresh.lanes)
    assert kept.runtime.precision is fresh.runtime.precision


def test_a_model_is_converted_once(path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.warns(RuntimeNotice):
        first = open_model(path, OPENVINO).judge(batch_of(5))
    monkeypatch.setattr(saved_graphs, "make_graphs", no_conversion)
    monkeypatch.setattr(loading, "load_model", no_conversion)
    assert np.array_equal(open_model(path, OPENVINO).judge(batch_of(5))[0], first[0])


@pytest.mark.parametrize(
    "spoil",
    [
        lambda file: file.write_bytes(file.read_bytes()[:-100]),
        lambda file: file.write_bytes(b""),
        lambda file: save_file({"shared": np.zeros(3, np.uint8)}, file),
        lambda file: save_file({"shared": np.zeros(3, np.uint8)}, file, {"shared": "<net/>", "version": "1"}),
    ],
    ids=["cut short", "empty", "foreign", "no graph"],
)
def test_a_kept_file_that_is_broken_is_made_again(spoil: Callable[[Path], object], path: Path, cache: Path) -> None:
    with pytest.warns(RuntimeNotice):
        whole = open_model(path, OPENVINO).judge(batch_of(5))
    (file,) = cache.iterdir()
    spoil(file)
    with pytest.warns(RuntimeNotice, match="is prepared"):
        again = open_model(path, OPENVINO).judge(batch_of(5))
    assert np.array_equal(again[0], whole[0])
    assert list(cache.iterdir()) == [file]


def test_graphs_are_kept_by_what_the_model_file_holds(model: DualNet, path: Path, cache: Path) -> None:
    with pytest.warns(RuntimeNotice):
        before = open_model(path, OPENVINO)
    with torch.no_grad():
        next(model.parameters()).add_(0.5)
    save_model(path, model, {})
    with pytest.warns(RuntimeNotice):
        after = open_model(path, OPENVINO)
    assert after.version != before.version
    assert not np.array_equal(after.judge(batch_of(5))[0], before.judge(batch_of(5))[0])
    with pytest.warns(RuntimeNotice):
        open_model(path, RuntimeChoice(backend=Backend.OPENVINO, precision=Precision.FP32))
    assert len(list(cache.iterdir())) == (3 if after.runtime.precision is Precision.BF16 else 2)


def test_of_many_kept_graphs_those_go_that_were_used_longest_ago(
    model: DualNet, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saved_graphs, "_MAX_FILES", 2)
    paths = [tmp_path / f"{index}.safetensors" for index in range(3)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeNotice)
        for index, path in enumerate(paths[:2]):
            save_model(path, model, {"step": index})
            open_model(path, OPENVINO)
            for file in cache.iterdir():
                os.utime(file, (1_000_000, file.stat().st_mtime - 100))
        open_model(paths[0], OPENVINO)  # is used again, so the other one goes
        save_model(paths[2], model, {"step": 2})
        open_model(paths[2], OPENVINO)
    monkeypatch.setattr(saved_graphs, "make_graphs", no_conversion)
    for path in (paths[0], paths[2]):
        open_model(path, OPENVINO)
    with pytest.raises(AssertionError), pytest.warns(RuntimeNotice):
        open_model(paths[1], OPENVINO)


def test_where_nothing_can_be_kept_torch_converts_each_time(path: Path, cache: Path) -> None:
    cache.parent.touch()
    with pytest.warns(RuntimeNotice, match="is prepared"):
        judge = open_model(path, OPENVINO)
    assert judge.runtime.backend is Backend.OPENVINO
    assert np.isfinite(judge.judge(batch_of(5))[1]).all()


def test_without_openvino_torch_judges_after_one_notice(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openvino", None)
    with pytest.warns(RuntimeNotice) as notices:
        judge = open_model(path, OPENVINO)
    assert [str(notice.message) for notice in notices if "OpenVINO cannot be used" not in str(notice.message)] == []
    assert judge.runtime.backend is Backend.TORCH


def test_weights_that_are_no_numbers_are_refused_as_ever(model: DualNet, path: Path, cache: Path) -> None:
    with torch.no_grad():
        next(model.parameters()).fill_(float("nan"))
    save_model(path, model, {})
    with pytest.warns(RuntimeNotice), pytest.raises(CheckpointError, match="not finite"):
        open_model(path, OPENVINO)


@pytest.mark.parametrize("planes", [Planes.THREE, Planes.FIVE])
def test_what_a_model_file_says_of_itself_is_read_without_its_weights(planes: Planes, tmp_path: Path) -> None:
    model = make_model(NetConfig(planes=planes, filters=4, blocks=2, dual=planes is Planes.FIVE), RULES, 1)
    save_model(tmp_path / "model.safetensors", model, {"step": 3})
    assert read_info(tmp_path / "model.safetensors") == load_model(tmp_path / "model.safetensors")[1]
    with pytest.raises(CheckpointError, match="there is no model file"):
        read_info(tmp_path / "missing.safetensors")
    (tmp_path / "model.safetensors").write_bytes(b"a letter")
    with pytest.raises(CheckpointError, match="is no model file, or was cut short"):
        read_info(tmp_path / "model.safetensors")


def test_where_the_drivers_know_no_gpu_torch_finds_none() -> None:
    assert may_have_gpu() or not torch.cuda.is_available()


@pytest.mark.parametrize(("status", "found", "told"), [(0, 2, True), (0, 0, False), (100, 0, False), (None, 0, False)])
def test_the_driver_of_a_gpu_is_asked_for_its_devices(
    status: int | None, found: int, told: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def count(pointer: object) -> int:
        ctypes.cast(pointer, ctypes.POINTER(ctypes.c_int))[0] = found
        return 0

    def load(name: str) -> SimpleNamespace:
        if status is None:
            raise OSError(f"{name}: cannot open shared object file")
        return SimpleNamespace(cuInit=lambda flags: status, cuDeviceGetCount=count)

    monkeypatch.setattr(devices, "_AMD_COMPUTE", tmp_path / "kfd")
    monkeypatch.setattr(devices.ctypes, "CDLL", load)
    assert may_have_gpu() is told
    (tmp_path / "kfd").touch()
    assert may_have_gpu()


def run_apart(script: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a script in a process of its own that chooses what runs nets by itself."""
    return subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{script}"],
        cwd=folder,
        env={name: value for name, value in os.environ.items() if name != "GOMOKU_BACKEND"} | environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


PLAY = """
from core.position import Position
from core.rules import Rules
from curriculum.arena.players import PlayerSettings, parse_player, resolve_rules
player = parse_player("default", rules=resolve_rules(["default"]), settings=PlayerSettings(simulations=20))
print(player.choose_batch([Position(Rules())], seeds=[0])[0].simulations, "torch" in sys.modules)
"""


@pytest.mark.slow
@pytest.mark.skipif(may_have_gpu(), reason="a GPU needs torch")
def test_a_process_that_only_plays_does_not_import_torch(tmp_path: Path) -> None:
    pytest.importorskip("openvino", exc_type=ImportError)
    played = run_apart(PLAY, tmp_path)
    assert (played.returncode, played.stdout) == (0, "20 False\n"), played.stderr


OPEN = """
from pathlib import Path
from nets.config import Backend, RuntimeChoice
from nets.runtimes.loading import open_model
open_model(Path("model.safetensors"), RuntimeChoice(backend=Backend.OPENVINO)).close()
print("torch" in sys.modules)
"""


@pytest.mark.slow
def test_a_model_that_is_new_is_converted_apart_whatever_lies_in_the_users_folder(path: Path) -> None:
    pytest.importorskip("openvino", exc_type=ImportError)
    (path.parent / "nets.py").write_text("raise RuntimeError('a script of the user')")
    folders = {name: str(path.parent) for name in ("HOME", "XDG_CACHE_HOME", "LOCALAPPDATA", "USERPROFILE")}
    first, second = (run_apart(OPEN, path.parent, **folders) for _ in range(2))
    assert "model.safetensors is prepared for OpenVINO" in first.stderr
    assert (first.stdout, second.stdout, second.stderr) == ("False\n", "False\n", "")
