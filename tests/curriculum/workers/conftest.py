"""Jobs of self-play for all kinds of workers, whose games must be the same."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from curriculum.games.selfplay_games import SelfPlayGame
from curriculum.phases.jobs import SelfPlayJob
from nets.checkpoint import save_model
from nets.config import Backend, RuntimeChoice, set_runtime
from nets.dual import make_model
from tests.support.runs import same_game


@pytest.fixture
def exact_runtime() -> Iterator[None]:
    """The last bits of torch's evaluations depend on the number of rows in a batch; those of lines on numba do not."""
    set_runtime(RuntimeChoice())
    yield
    set_runtime(RuntimeChoice(backend=Backend.TORCH))


@pytest.fixture
def job(tmp_path: Path, request: pytest.FixtureRequest) -> SelfPlayJob:
    """A job with the configuration of the module, `CONFIG`."""
    path, config = tmp_path / "model.safetensors", request.module.CONFIG
    save_model(path, make_model(config.net, config.rules, 1), {})
    return SelfPlayJob(config, 0, [], path)


def same(one: dict[int, SelfPlayGame], other: dict[int, SelfPlayGame]) -> bool:
    """Return True for the same games with the same samples."""
    return one.keys() == other.keys() and all(same_game(game, other[number]) for number, game in one.items())
