"""Texts from outside as messages show them."""

from core.limits import MAX_QUOTED


def quoted(text: str) -> str:
    """Return a text from outside in quotes, as a message shows it: printable, on one line, and not too long."""
    return repr(text if len(text) <= MAX_QUOTED else f"{text[: MAX_QUOTED - 3]}...")


def shortened(text: str) -> str:
    """Return a text from outside as `quoted` does, without the quotes."""
    return quoted(text)[1:-1]
