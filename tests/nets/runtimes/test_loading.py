"""Model files opened for play: from saved graphs without torch, and otherwise with it."""

import ctypes
import os
import subprocess
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file

from core.files import cache_folder as folder
from core.files.cache_folder import CacheNotice
from core.rules import Rules
from nets.checkpoint import save_model
from nets.config import Backend, NetConfig, Precision, RuntimeChoice, RuntimeNotice
from nets.dual import DualNet, make_model
from nets.runtimes import conversion, devices, loading, saved_graphs
from nets.runtimes.devices import DeviceError, best_device, may_have_gpu
from nets.runtimes.loading import open_model
from nets.runtimes.net_evaluator import NetEvaluator
from nets.runtimes.openvino import OpenVino
from nets.runtimes.runtime import RuntimeUnavailableError
from nets.runtimes.runtime_evaluator import RuntimeEvaluator
from tests.support.commands import python
from tests.support.nets import random_batch
from tests.support.project import ROOT

RULES = Rules(7, 4)
TINY = NetConfig.tower(2, 0, hidden=2, dual=False)
OPENVINO = RuntimeChoice(backend=Backend.OPENVINO)


_CONVERTED: dict[str, bytes] = {}
"""Contents of files of graphs, by file name (a hash of their sources)."""


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
    """An empty folder for graphs; this process converts each model once, which is faster than a process of its own."""
    pytest.importorskip("openvino", exc_type=ImportError)

    def make_here(model: Path, rules: Rules, precision: Precision) -> bool:
        kept = saved_graphs.graphs_path(model, rules, OpenVino(precision))
        try:
            if kept.name in _CONVERTED:
                kept.parent.mkdir(parents=True, exist_ok=True)
                kept.unlink(missing_ok=True)
                kept.write_bytes(_CONVERTED[kept.name])
                kept.chmod(0o600)
                return True
            if conversion.main(model, precision, rules):
                _CONVERTED[kept.name] = kept.read_bytes()
                return True
        except (OSError, ValueError):
            pass
        return False

    monkeypatch.setattr(folder, "_notices", [])
    monkeypatch.setattr(saved_graphs, "user_cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr(saved_graphs, "make_graphs", make_here)
    return tmp_path / "cache" / "graphs"


def converted(path: Path, choice: RuntimeChoice = OPENVINO) -> RuntimeEvaluator:
    """The model of a file, opened with the notice of its conversion."""
    with pytest.warns(RuntimeNotice, match=r"preparing model\.safetensors for OpenVINO, once"):
        return open_model(path, choice)


def no_conversion(*_: object) -> bool:
    raise AssertionError("this conversion is one too many")


def test_saved_graphs_evaluate_as_the_model_does(model: DualNet, path: Path, cache: Path) -> None:
    saved = converted(path)
    assert [file.suffix for file in cache.iterdir()] == [".graphs"]
    fresh = NetEvaluator(model, OPENVINO, device=torch.device("cpu"))
    for answers, expected in zip(
        saved.evaluate(random_batch(20, RULES)), fresh.evaluate(random_batch(20, RULES)), strict=True
    ):
        assert np.array_equal(answers, expected)
    assert (saved.version, saved.last_moves, saved.lanes) == (fresh.version, fresh.last_moves, fresh.lanes)
    assert saved.runtime.precision is fresh.runtime.precision


def test_a_model_is_converted_once(path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = converted(path).evaluate(random_batch(5, RULES))
    monkeypatch.setattr(saved_graphs, "make_graphs", no_conversion)
    monkeypatch.setattr(loading, "load_model", no_conversion)
    assert np.array_equal(open_model(path, OPENVINO).evaluate(random_batch(5, RULES))[0], first[0])


@pytest.mark.parametrize(
    "spoil",
    [
        lambda file: os.truncate(file, file.stat().st_size - 100),
        lambda file: save_file({"shared": np.zeros(3, np.uint8)}, file),
    ],
    ids=["cut short", "foreign"],
)
def test_a_broken_file_of_graphs_is_made_again(spoil: Callable[[Path], object], path: Path, cache: Path) -> None:
    whole = converted(path).evaluate(random_batch(5, RULES))
    (file,) = cache.iterdir()
    spoil(file)
    with pytest.warns(CacheNotice, match="made again") as notices:
        again = open_model(path, OPENVINO).evaluate(random_batch(5, RULES))
    assert len(notices) == 1
    assert np.array_equal(again[0], whole[0])
    assert list(cache.iterdir()) == [file]
    open_model(path, OPENVINO).close()  # without a notice


def test_graphs_are_saved_by_the_contents_of_the_model_file(model: DualNet, path: Path, cache: Path) -> None:
    before = converted(path)
    with torch.no_grad():
        next(model.parameters()).add_(0.5)
    save_model(path, model, {})
    after = converted(path)
    assert after.version != before.version
    assert not np.array_equal(after.evaluate(random_batch(5, RULES))[0], before.evaluate(random_batch(5, RULES))[0])
    others = 1 if after.runtime.precision is Precision.BF16 else 0  # of which graphs in fp32 differ
    with pytest.warns(RuntimeNotice) if others else nullcontext():
        open_model(path, RuntimeChoice(backend=Backend.OPENVINO, precision=Precision.FP32))
    assert len(list(cache.iterdir())) == 2 + others


def test_files_from_before_the_clock_was_set_back_are_removed_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class OneWeight:
        def written(self, graph: str) -> tuple[str, np.ndarray]:
            return graph, np.zeros(1, dtype=np.uint8)

    monkeypatch.setattr(saved_graphs, "_MAX_FILES", 2)
    for name in ("future1", "future2"):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (4e9, 4e9))
    for name in ("one", "two"):
        saved_graphs.write_graphs(tmp_path / name, cast(OpenVino, OneWeight()), {"net": "graph"}, 1)
    assert {path.name for path in tmp_path.iterdir()} == {"one", "two"}


def test_if_nothing_can_be_saved_torch_converts_each_time(path: Path, cache: Path) -> None:
    cache.parent.touch()
    with pytest.warns(CacheNotice, match=r"cannot be used \(.*\); every start prepares the model") as notices:
        evaluator = open_model(path, OPENVINO)
    assert len(notices) == 1
    assert evaluator.runtime.backend is Backend.OPENVINO
    assert np.isfinite(evaluator.evaluate(random_batch(5, RULES))[1]).all()


def test_if_the_driver_knows_no_gpu_torch_finds_none() -> None:
    assert may_have_gpu() or not torch.cuda.is_available()


@pytest.mark.parametrize(
    ("status", "found", "expected"), [(0, 2, True), (0, 0, False), (100, 0, False), (None, 0, False)]
)
def test_the_gpu_check_asks_the_driver_for_its_devices(
    status: int | None, found: int, expected: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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
    assert may_have_gpu() is expected
    (tmp_path / "kfd").touch()
    assert may_have_gpu()


def run_apart(script: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a script in a process of its own, with the default choice of a runtime."""
    others = {name: value for name, value in os.environ.items() if name != "GOMOKU_BACKEND"} | environment
    return python(f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{script}", cwd=folder, env=others)


TWO_NETS = """
import gc, signal
from nets.config import Precision
from nets.runtimes.openvino import OpenVino
signal.signal(signal.SIGINT, lambda number, frame: print("handled"))
first, second = OpenVino(Precision.AUTO), OpenVino(Precision.AUTO)
del first
gc.collect()
del second
gc.collect()
signal.raise_signal(signal.SIGINT)
"""


def test_a_signal_after_two_nets_have_ended_is_handled(tmp_path: Path) -> None:
    pytest.importorskip("openvino", exc_type=ImportError)
    ended = run_apart(TWO_NETS, tmp_path)
    assert (ended.returncode, ended.stdout) == (0, "handled\n"), ended.stderr


PLAY = """
from core.position import Position
from core.rules import Rules
from curriculum.arena.players import PlayerSettings, parse_player, resolve_rules
for name in ("default", "paper"):
    player = parse_player(name, rules=resolve_rules([name]), settings=PlayerSettings(simulations=20))
    print(player.choose_batch([Position(Rules())], seeds=[0])[0].simulations, "torch" in sys.modules)
"""


@pytest.mark.parametrize("name", ["cuda:99", "nothing", "meta"])
def test_a_device_that_is_not_there_is_named(name: str) -> None:
    with pytest.raises(DeviceError, match=f"there is no device '{name}': torch finds the CPU"):
        best_device(name)
    assert best_device("cpu").type == "cpu"


def test_a_precision_that_the_runtime_does_not_have_is_said() -> None:
    with pytest.warns(RuntimeNotice, match="run in int16 on numba; --backend torch runs them in fp32"):
        open_model("default", RuntimeChoice(precision=Precision.FP32))
    with pytest.raises(RuntimeUnavailableError, match="int16 is for line-pattern nets"):
        open_model("paper", RuntimeChoice(precision=Precision.INT16))


@pytest.mark.parametrize("name", ["default", "paper"])
@pytest.mark.parametrize("backend", [Backend.AUTO, Backend.TORCH, Backend.OPENVINO, Backend.NUMBA])
def test_a_device_that_is_not_there_is_refused_whatever_would_run_the_model(name: str, backend: Backend) -> None:
    with pytest.raises(DeviceError, match="there is no device 'cuda:99'"):
        open_model(name, RuntimeChoice(backend=backend, device="cuda:99"))


@pytest.mark.slow
@pytest.mark.skipif(may_have_gpu(), reason="a GPU needs torch")
def test_a_process_that_only_plays_does_not_import_torch(tmp_path: Path) -> None:
    pytest.importorskip("openvino", exc_type=ImportError)
    played = run_apart(PLAY, tmp_path)
    assert (played.returncode, played.stdout) == (0, "20 False\n" * 2), played.stderr


OPEN = """
from pathlib import Path
from nets.config import Backend, RuntimeChoice
from nets.runtimes.loading import open_model
open_model(Path("model.safetensors"), RuntimeChoice(backend=Backend.OPENVINO)).close()
print("torch" in sys.modules)
"""


@pytest.mark.slow
def test_a_new_model_is_converted_in_a_process_of_its_own_whatever_lies_in_the_users_folder(path: Path) -> None:
    pytest.importorskip("openvino", exc_type=ImportError)
    (path.parent / "nets.py").write_text("raise RuntimeError('a script of the user')")
    folders = {name: str(path.parent) for name in ("HOME", "XDG_CACHE_HOME", "LOCALAPPDATA", "USERPROFILE")}
    first, second = (run_apart(OPEN, path.parent, **folders) for _ in range(2))
    assert "preparing model.safetensors for OpenVINO" in first.stderr
    assert (first.stdout, second.stdout, second.stderr) == ("False\n", "False\n", "")


@pytest.mark.parametrize(
    ("cuda", "warning", "reason"),
    [
        (None, None, "is a build for processors alone"),
        ("13.0", "CUDA initialization: the driver is too old\nupdate it", "initialization: the driver is too old;"),
        ("13.0", None, "finds none"),
    ],
)
def test_a_gpu_that_torch_does_not_use_is_reported_with_the_reason(
    cuda: str | None, warning: str | None, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found() -> bool:
        if warning:
            warnings.warn(warning, UserWarning, stacklevel=1)
        return False

    devices._why_torch_uses_none.cache_clear()
    monkeypatch.setattr(devices, "may_have_gpu", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_available", found)
    monkeypatch.setattr(torch.version, "cuda", cuda)
    with pytest.warns(RuntimeNotice, match=f"torch does not use the GPU: .*{reason}"):
        assert devices.best_device() == torch.device("cpu")
    assert reason.rstrip(";") in devices.device_text()
    monkeypatch.setattr(devices, "may_have_gpu", lambda: False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert devices.best_device() == torch.device("cpu")
    assert devices.device_text().endswith("(no GPU)")
    devices._why_torch_uses_none.cache_clear()
