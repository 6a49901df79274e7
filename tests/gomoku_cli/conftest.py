"""Fixtures for tests of the command line."""

from collections.abc import Iterator

import pytest


@pytest.fixture
def text_in_figures() -> Iterator[None]:
    """Keep the words of an SVG as text, not as outlines."""
    matplotlib = pytest.importorskip("matplotlib")
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        yield
