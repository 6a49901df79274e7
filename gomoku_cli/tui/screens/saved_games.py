"""The list of saved games: what is typed filters it, and keys rename, delete and bring back."""

from collections.abc import Callable
from typing import ClassVar

from rich.cells import cell_len, set_cell_size
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.style import Style
from textual.widgets import Static

from gomoku_cli.printable import printable
from gomoku_cli.tui.engine.messages import DeleteGame, FileTask, GameList, ListedGame, RenameGame, RestoreGame
from gomoku_cli.tui.screens.dialog import BREAKPOINTS, Dialog, key_buttons

_COLUMNS = ("date", "players", "result", "rules", "opening", "moves")
_MIN_PLAYERS, _MIN_RULES = 12, 5
"""Columns that the players keep where the rules are long, and that these keep in any case."""
_SPARE = ("opening", "moves", "rules", "result", "date")
"""Columns that a narrow terminal goes without, the first ones first."""
_MAX_ROWS = 20
_OTHER_ROWS = 6
"""Frame, filter, heading, the marked game in words, and buttons."""
_LONGEST = 200
"""Characters of the filter, and of a name: more than a file name may have."""
_MOVES = {"up": -1, "down": 1, "pageup": -15, "pagedown": 15, "home": -(10**6), "end": 10**6}
_TASKS = (("f2 rename", "rename"), ("del delete", "delete"), ("ctrl+z undo", "restore"), ("esc back", "back"))


class SavedGamesScreen(Dialog[str | None]):
    """A list of games; the result is the file of the chosen one, None without a choice.

    It draws the games in view alone, so that thousands cost nothing.
    """

    HORIZONTAL_BREAKPOINTS = BREAKPOINTS
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(key, f"move({rows})", key, show=False) for key, rows in _MOVES.items()),
        Binding("enter", "choose", "Go on", show=False),
        Binding("f2,ctrl+r", "rename", "Rename", show=False),
        Binding("delete,ctrl+d", "delete", "Delete", show=False),
        Binding("ctrl+z", "restore", "Undo", show=False),
    ]

    def __init__(self, games: GameList, request: Callable[[FileTask], object]) -> None:
        """`request` asks the engine for changes; `show` gets the games after them."""
        super().__init__()
        self._list, self._request = games, request
        self._shown: list[ListedGame] = []
        """The games that pass the filter."""
        self._row = self._top = 0
        """The marked game among them, and the first one in view."""
        self._widths: dict[str, int] = {}
        """The width of the longest words of each column of the list."""
        self._filter = ""
        self._name: str | None = None
        """The new name that is being typed."""
        self._texts = {name: Static(id=name, markup=False) for name in ("filter", "columns", "games", "about")}

    def compose(self) -> ComposeResult:
        """Build the line of the filter, the games, and a button for each key."""
        with Vertical():
            yield from self._texts.values()
            yield key_buttons(("enter go on, review", "choose"), *_TASKS)

    def on_mount(self) -> None:
        """Draw the first games."""
        self.show(self._list)

    def on_resize(self) -> None:
        """Fit the columns."""
        self._draw()

    def show(self, games: GameList) -> None:
        """Show these games; the mark stays on its game, or at its place."""
        marked = self._marked
        self._list = games
        rows = [_words(game) for game in games.games]
        self._widths = {name: max((len(row[name]) for row in rows), default=0) for name in _COLUMNS}
        self._apply_filter()
        if marked is not None:
            paths = [game.path for game in self._shown]
            path = dict([games.renamed]).get(marked.path, marked.path) if games.renamed else marked.path
            self._row = paths.index(path) if path in paths else self._row
        self.action_move(0)

    @property
    def _marked(self) -> ListedGame | None:
        return self._shown[self._row] if self._shown else None

    def _apply_filter(self) -> None:
        words = self._filter.lower().split()
        self._shown = [game for game in self._list.games if _has(game, words)]
        self._row = max(0, min(self._row, len(self._shown) - 1))

    def _draw(self) -> None:
        others = _OTHER_ROWS + (len(_TASKS) if self.has_class("-narrow") else 0)
        rows = max(1, min(_MAX_ROWS, self.app.size.height - others))
        width = self._texts["games"].size.width
        self._top = max(self._row - rows + 1, min(self._top, self._row, len(self._shown) - rows), 0)
        count = f"{len(self._shown):,} of {len(self._list.games):,}" if self._filter else f"{len(self._list.games):,}"
        label, typed = f"Saved games: {count}   {'filter' if self._name is None else 'New name'}: ", self._typed
        while cell_len(label) + cell_len(typed) >= width and typed:
            typed = typed[1:]
        hint = "" if self._filter or self._name is not None else "   (type words)"
        if cell_len(label) + len(hint) >= width:
            hint = ""
        self._texts["filter"].update(Content(printable(f"{label}{typed}_{hint}")))
        more = ".." if self.app.has_class("-ascii") else "…"
        columns, lines = _columns(self._widths, width), []
        self._texts["columns"].update(_line({name: name for name in _COLUMNS}, columns))
        for place, game in enumerate(self._shown[self._top : self._top + rows], self._top):
            style = Style.parse("reverse" if place == self._row else "") + Style.from_meta({"game": place})
            lines.append(Content.styled(_line(_words(game), columns, more), style))
        self._texts["games"].styles.height = max(1, min(rows, len(self._list.games)))
        self._texts["games"].update(Content("\n").join(lines) if lines else Content("no such game"))
        about = self._list.remark
        if not about and (marked := self._marked) is not None:
            about = ", ".join(
                filter(None, (*marked[2:-1], f"{marked.moves} {'move' if marked.moves == '1' else 'moves'}"))
            )
        self._texts["about"].update(Content(_cut(about, width, more)))

    def on_key(self, event: events.Key) -> None:
        """Take what is typed into the filter, or into the name."""
        if event.key == "backspace" or (event.is_printable and event.character):
            event.stop()
            self._write(self._typed[:-1] if event.key == "backspace" else f"{self._typed}{event.character}")

    def on_paste(self, event: events.Paste) -> None:
        """Take pasted text, and letters that come at once: never as a command, so the end of a line is a blank."""
        event.stop()
        self._write(self._typed + "".join(letter if letter.isprintable() else " " for letter in event.text[:_LONGEST]))

    @property
    def _typed(self) -> str:
        """The filter, or the name that is typed."""
        return self._filter if self._name is None else self._name

    def _write(self, typed: str) -> None:
        """Show this text as the filter, or as the name that is typed."""
        if self._name is None:
            self._filter = typed[:_LONGEST]
            self._apply_filter()
        else:
            self._name = typed[:_LONGEST]
        self.action_move(0)

    def on_click(self, event: events.Click) -> None:
        """Mark a game; choose the marked one. Only the left button counts."""
        place = event.style.meta.get("game") if event.button == 1 else None
        if place == self._row and self._marked is not None:
            self.action_choose()
        elif place is not None:
            self.action_move(place - self._row)

    def on_mouse_scroll_down(self) -> None:
        """Go on in the list."""
        self.action_move(3)

    def on_mouse_scroll_up(self) -> None:
        """Go back in the list."""
        self.action_move(-3)

    def action_move(self, rows: int) -> None:
        """Move the mark."""
        if rows:
            self._list = GameList(self._list.games)  # without the remark
        self._row = max(0, min(self._row + rows, len(self._shown) - 1))
        self._draw()

    def action_choose(self) -> None:
        """Return the marked game, or give it the typed name."""
        if (game := self._marked) is None:
            return
        if self._name is None:
            self.dismiss(game.path)
        else:
            self._request(RenameGame(game.path, self._name))
            self._name = None

    def action_rename(self) -> None:
        """Ask for a name."""
        if (game := self._marked) is not None:
            self._name = game.name
            self._draw()

    def action_delete(self) -> None:
        """Delete the marked game."""
        if (game := self._marked) is not None and self._name is None:
            self._request(DeleteGame(game.path))

    def action_restore(self) -> None:
        """Bring the last deleted game back."""
        self._request(RestoreGame())

    def action_back(self) -> None:
        """Leave the name, the filter, or the list."""
        if self._name is not None:
            self._name = None
        elif self._filter:
            self._filter = ""
            self._apply_filter()
        else:
            self.dismiss(None)
            return
        self.action_move(0)


def _has(game: ListedGame, words: list[str]) -> bool:
    text = " ".join(game[1:]).lower()
    return all(word in text for word in words)


def _words(game: ListedGame) -> dict[str, str]:
    """Return the words of a game's row; the ending that belongs to `black won` stands below the list."""
    players = f"{game.name}: {game.players}" if game.name else game.players
    return game._asdict() | {"players": players, "result": " ".join(game.result.split()[:2])}


def _columns(widths: dict[str, int], width: int) -> dict[str, int]:
    """Return the width of each column that is not empty; the players have what is left.

    `widths`: those of the longest words.
    """
    columns = {name: max(len(name), widths[name]) for name in _COLUMNS if widths[name] or name == "players"}
    columns["players"] = 0

    def left() -> int:
        return width - sum(columns.values()) - len(columns) + 1

    if "rules" in columns:
        lack = max(0, _MIN_PLAYERS - left())
        columns["rules"] = max(_MIN_RULES, columns["rules"] - lack)
    for name in _SPARE:
        if left() < _MIN_PLAYERS:
            columns.pop(name, None)
    return columns | {"players": max(1, left())}


def _line(words: dict[str, str], columns: dict[str, int], more: str = "") -> str:
    """Return the words of each column side by side; `more` ends those that are cut."""
    return " ".join(set_cell_size(_cut(words[name], width, more), width) for name, width in columns.items())


def _cut(text: str, width: int, more: str) -> str:
    """Return a text on one line of this width, on which `more` ends what is cut."""
    text = printable(text)
    return set_cell_size(text, width - len(more)) + more if cell_len(text) > width > len(more) else text
