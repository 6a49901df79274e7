"""A reporter that keeps its messages."""

from curriculum.reporting import Quiet


class Remarks(Quiet):
    """Keeps all messages."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, text: str) -> None:
        """See `Reporter`."""
        self.lines.append(text)
