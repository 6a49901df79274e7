"""The engine that the tests of its commands share."""

import pytest

from gomoku_cli.gomocup import players
from tests.support.gomocup import Talk


@pytest.fixture
def talk() -> Talk:
    """An engine with an empty board of 15x15."""
    talk = Talk()
    assert talk.say("START 15") == ["OK"]
    return talk


@pytest.fixture(autouse=True)
def _compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search counts as compiled, so that a model plays from the start."""
    monkeypatch.setattr(players, "KERNELS_ARE_COLD", False)
