"""The help screen: the keys and the marks on the board."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from gomoku_cli.tui.keys import BOARD, GROUPS, MARKS
from gomoku_cli.tui.screens.dialog import Dialog

Rows = Sequence[tuple[str, str]]
"""Keys and what they do."""


def board_help() -> "HelpScreen":
    """Return the help of the board of `gomoku play`."""
    groups: dict[str, Rows] = {
        title: [(each.shown, each.help) for each in commands if each.help] for title, commands in GROUPS.items()
    }
    groups["Play"] = [*BOARD, *groups["Play"], ("ctrl+c", "quit at once")]
    groups["Screen"] = [*groups["Screen"], ("ctrl+p", "command palette, themes"), *MARKS]
    left = ("Play", "Screen")
    columns = [{name: groups[name] for name in groups if (name in left) == wanted} for wanted in (True, False)]
    return HelpScreen(*columns)


class HelpScreen(Dialog[None]):
    """The keys, shown over the board."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (72, "-wide")]  # noqa: RUF012 - Textual declares no class variable
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark,enter,space,q", "back", "Close", show=False),
    ]

    def __init__(self, *columns: Mapping[str, Rows]) -> None:
        """`columns`: the groups of keys by their titles, from left to right."""
        super().__init__()
        self._columns = columns

    def compose(self) -> ComposeResult:
        """Build the columns, one above the other in a narrow terminal."""
        texts = [Content("\n").join(_table(*group) for group in column.items()) for column in self._columns]
        with VerticalScroll():
            if self.app.size.width >= 106:
                yield Horizontal(*map(Static, texts))
            else:
                yield from map(Static, texts)

    def on_click(self) -> None:
        """Close the help on a click anywhere."""
        self.dismiss(None)


def _table(title: str, rows: Rows) -> Content:
    parts = [(f"{title}\n", "dim")]
    width = max(len(keys) for keys, _ in rows) + 2
    for keys, text in rows:
        parts += [(f"{keys:<{width}}", "bold"), (f"{text}\n", "")]
    return Content.assemble(*parts)
