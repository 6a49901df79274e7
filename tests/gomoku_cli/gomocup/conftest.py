"""The engine that the tests of its commands share."""

import pytest

from tests.support.gomocup import Talk


@pytest.fixture
def talk() -> Talk:
    """An engine with an empty board of 15x15."""
    talk = Talk()
    assert talk.say("START 15") == ["OK"]
    return talk
