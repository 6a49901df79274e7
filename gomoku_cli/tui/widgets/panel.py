"""The side panel: players, value, and the panes that are opened by their keys."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.geometry import Size
from textual.style import Style
from textual.widgets import Static

from core.rules import BLACK, WHITE, Cell, colour_name
from gomoku_cli.printable import counted, printable
from gomoku_cli.study.game import without_analysis
from gomoku_cli.study.values import percent, proof_text
from gomoku_cli.tui.game import Game
from gomoku_cli.tui.widgets.candidates import CandidatesView
from gomoku_cli.tui.widgets.glyphs import INK, PAPER, WOOD, Glyphs
from gomoku_cli.tui.widgets.graph import GraphView
from gomoku_cli.tui.widgets.texts import effort_text, settings_text
from search.analysis import Analysis

if TYPE_CHECKING:
    from core.book import BookMove

_PAIR_COLUMNS = 15
"""Columns of the widest pair of moves with marks, `113 o15? n15?`, and a space."""

_MOVES_ROWS = 4
"""Lines of the list of moves at least, with its heading and the empty line above it."""

_BOOK_ROWS = 4
"""Moves of an opening book at most."""

NOTE_S = 30.0
"""Time that a note stays in the panel. It is printed again after the end of the app."""


class PlayersView(Static):
    """The players' colours and the player whose turn it is."""

    def show(self, game: Game, glyphs: Glyphs, clocks: tuple[str, str]) -> None:
        """Draw a line for each colour with a mark at the player whose turn it is, and a line with the state."""
        lines, names = [], [printable(game.player_name(colour)) for colour in (BLACK, WHITE)]
        for colour, clock in zip((BLACK, WHITE), clocks, strict=True):
            moves = not game.is_game_over() and colour == game.actor
            ink = INK if colour == BLACK else f"bold {PAPER}"
            lines.append(
                Content.assemble(
                    ("> " if moves else "  ", "bold"),
                    (f" {glyphs.stone(colour)} ", f"{ink} on {WOOD}"),
                    (f" {colour_name(colour)}  ", "bold" if moves else ""),
                    (names[colour == WHITE].ljust(max(map(len, names)) * bool(clock)), "bold" if moves else ""),
                    (f"  {clock}" if clock else "", "bold"),
                )
            )
        self.update(Content("\n").join([*lines, Content(f"  {game.state_text}")]))


class ValueView(Static):
    """The value of the last engine's move, from both sides, and the work for it."""

    def show(self, game: Game) -> None:
        """Draw the value of this turn or of the two before it, or that there is none: an older one says nothing now."""
        turns = range(game.ply, max(-1, game.ply - 3), -1)
        ply = next((ply for ply in turns if game.value_for_black(ply) is not None), None)
        if ply is None or game.is_game_over():
            self.update(Content.styled("No value yet" if not game.is_game_over() else "", "dim"))
            return
        value = game.value_for_black(ply)
        assert value is not None
        parts: list[tuple[str, str]] = [("Black ", ""), (percent(value), "bold"), ("   White ", "")]
        parts += [(percent(-value), "bold"), ("  to win", "dim")]
        analysis = game.analysis_at(ply)
        if analysis is not None and analysis.moves and analysis.moves[0].proof is not None:
            side = colour_name(BLACK if ply % 2 == 0 else WHITE).capitalize()
            parts.append((f"\n{side} {proof_text(analysis.moves[0].proof)}", "bold"))
        cost = game.cost_at(ply)
        mover = game.seats.of(BLACK if ply % 2 == 0 else WHITE)
        if cost is not None and mover is not None and game.speaker_at(ply) == mover.spec:
            work = f"{effort_text(cost.simulations, mover, game.rules)}, " if cost.simulations else ""
            parts.append((f"\n{work}{cost.seconds:.1f} s", "dim"))
        elif analysis is not None:
            parts.append((f"\n{counted(analysis.nodes, 'position')}, {analysis.seconds:.1f} s", "dim"))
        self.update(Content.assemble(*parts))


_MAX_BRANCHES = 4
"""Other moves that are listed beside a move of the line."""


class MovesView(VerticalScroll, can_focus=True):
    """The moves of the line in numbered pairs, as many pairs a line as fit, and beside them the moves that branch off.

    A click on a move goes there. Keys scroll it.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("tab,enter", "app.change_focus", "Board", show=False)]

    def __init__(self, go_to: Callable[[int, int], None], *, id: str) -> None:
        """`go_to` gets a clicked move: the moves before it, and its place there, or -1 for the move of the line."""
        super().__init__(id=id)
        self._go_to = go_to
        self._game: Game | None = None
        self._marks: Mapping[int, str] = {}
        self._drawn: tuple[object, ...] = ()
        """All that the text depends on, but for the width."""
        self._text = Static(markup=False)

    def compose(self) -> ComposeResult:
        """Build one text, which the view scrolls."""
        yield self._text

    def show(self, game: Game, marks: Mapping[int, str]) -> None:
        """Draw the moves of the whole line, and marks of plies such as `?`."""
        self._game, self._marks = game, marks
        before, self._drawn = self._drawn, (game, game.changes, tuple(game.nodes), game.ply, marks)
        if self._drawn != before:
            self._draw()

    def on_click(self, event: events.Click) -> None:
        """Go to the move under the mouse. Only the left button counts."""
        if event.button == 1 and (move := event.style.meta.get("move")):
            self._go_to(*move)

    def on_resize(self, event: events.Resize) -> None:
        """Fit the lines to the new width."""
        self._draw()

    def _draw(self) -> None:
        if (game := self._game) is None:
            return
        shown, first = game.ply, game.tree.set_up
        parts: list[tuple[str, str | Style]] = []
        width = self.scrollable_content_region.width
        pairs_a_line = max(1, (width + 1) // _PAIR_COLUMNS)
        line = pairs = shown_line = 0
        for ply, move in enumerate(game.line[first:], first):
            number, second = divmod(ply, 2)
            if second and ply == first:
                parts.append((f"{number + 1:>3} ...  ", "dim"))
            if not second:
                is_full = pairs == pairs_a_line
                end = "" if not parts else "\n" if is_full or not pairs else " "
                line, pairs = line + (end == "\n"), 1 if is_full else pairs + 1
                parts.append((f"{end}{number + 1:>3} ", "dim"))
            if ply < shown:
                shown_line = line
            name = game.name_of(move) + self._marks.get(ply, "")
            style = "bold reverse" if ply == shown - 1 else "dim" if ply >= shown else ""
            parts += [(name, _leads_to(style, ply)), (" " * (5 - len(name)), _leads_to("", ply))]
            if not second and ply < len(game.nodes) - 1:
                continue
            for before in range(ply - second, ply + 1):
                for place, text in _branches(game, before, width):
                    line, pairs = line + 1, 0
                    if shown and number == (shown - 1) // 2 and shown_line == line - 1:
                        shown_line = line  # the first one below the shown move is in view too
                    parts += [("\n", ""), (text, _leads_to("italic", before, place))]
        self._text.update(Content.assemble(*parts) if parts else Content.styled("none yet", "dim"))
        self.call_after_refresh(self._follow, shown_line)

    def _follow(self, line: int) -> None:
        """Scroll so that the shown move is in view."""
        height = self.scrollable_content_region.height
        if not self.scroll_y <= line < self.scroll_y + height:
            self.scroll_to(y=max(0, line - height + 1), animate=False)


def _leads_to(style: str, ply: int, number: int = -1) -> Style:
    """Return a style for a text that goes to a move; Textual's own `@click` would draw a link."""
    return Style.parse(style) + Style.from_meta({"move": (ply, number)})


def _branches(game: Game, ply: int, width: int) -> Iterator[tuple[int, str]]:
    """Yield the places and texts of the moves beside that of the line after `ply` moves: `   or 3 g9 h10 +5`.

    That is the label, the number of the move, as many moves as fit and the number of others.
    """
    moves = enumerate(game.node_at(ply).variations)
    others = [(place, node) for place, node in moves if node is not game.nodes[ply]]
    for place, node in others[:_MAX_BRANCHES]:
        label = f"{'main' if place == 0 else 'or':>6} {ply // 2 + 1}{'...' if ply % 2 else ''}"
        name = f" {printable(node.name)[: width // 2]}:" if node.name else ""
        line = [game.name_of(each.move) for each in (node, *node.main_line())]
        fits = max(1, (width - len(label) - len(name) - 4) // 4)
        yield place, " ".join([f"{label}{name}", *line[:fits], *([f"+{len(line) - fits}"] if len(line) > fits else [])])
    if left := others[_MAX_BRANCHES:]:
        yield left[0][0], f"   and {len(left)} others"


class SidePanel(Vertical):
    """The column to the right of the board."""

    def __init__(self, glyphs: Glyphs, go_to: Callable[[int, int], None], *, id: str) -> None:
        """`go_to` gets a clicked move, as `MovesView` describes it."""
        super().__init__(id=id)
        self._glyphs = glyphs
        self._notes: list[str] = []
        self._game: Game | None = None
        self._candidates: tuple[Analysis | None, str, Cell, Sequence[BookMove]] | None = None
        """The candidates that were shown last."""
        self._pondering = False
        self.players = PlayersView(markup=False)
        self.value = ValueView(markup=False)
        self.graph = GraphView(ascii_only=glyphs.line.isascii())
        self.candidates = CandidatesView(markup=False)
        self.moves = MovesView(go_to, id="moves")
        self._heading = Static("Moves", classes="heading")
        self._words = Static(markup=False)
        self._comment = VerticalScroll(self._words, id="comment", can_focus=False)
        self._about = Static(id="about", markup=False)

    def compose(self) -> ComposeResult:
        """Build the views from top to bottom."""
        yield from (self.players, self.value, self.graph, self.candidates)
        yield from (self._heading, self.moves, self._comment, self._about)

    def show(self, game: Game, marks: Mapping[int, str], clocks: tuple[str, str], *, pondering: bool) -> None:
        """Draw the current state of the game; `marks` stand behind the moves of their plies."""
        self._game, self._pondering = game, pondering
        self.players.show(game, self._glyphs, clocks)
        self.value.show(game)
        self._heading.update("Moves" if game.node.is_main() else "Moves of a variation")
        self.moves.show(game, marks)
        words = (game.node.name, without_analysis(game.node.comment))
        text = Content(printable(": ".join(filter(None, words))))
        if self._words.content != text:
            self._words.update(text)
            self._comment.scroll_home(animate=False)
        self._comment.display = any(words)
        self._show_about()

    def show_candidates(
        self, analysis: Analysis | None, source: str, cursor: Cell, book: "Sequence[BookMove]" = ()
    ) -> None:
        """Draw as many candidates as leave room for the moves, and the first moves of an opening book."""
        self._candidates = analysis, source, cursor, book[:_BOOK_ROWS]
        self.on_resize()

    def on_resize(self) -> None:
        """Fit the candidates to the room, which an opened panel gets after it is drawn."""
        if self._game is None or self._candidates is None or not self.size.width:
            return
        analysis, source, cursor, book = self._candidates
        shown = [view for view in (self.graph, self._comment) if view.display]
        views = (self.players, self.value, self._about, *shown)
        others = sum(view.outer_size.height + view.styles.margin.height for view in views)
        if self._game.is_game_over() and analysis is None:
            source = "none, the game is over"
        room = Size(self.size.width, self.size.height - others - _MOVES_ROWS)
        self.candidates.show(self._game, analysis, source, cursor, book, room)

    def add_note(self, text: str) -> None:
        """Add a note to the lines about the players, for some seconds."""
        self._notes.append(text)
        self._show_about()
        self.set_timer(NOTE_S, self._drop_note)

    def _drop_note(self) -> None:
        self._notes.pop(0)
        self._show_about()

    def _show_about(self) -> None:
        if self._game is None:
            return
        seats = (self._game.seats.black, self._game.seats.white)
        # A player without settings would only be named again.
        lines = [text for choice in seats if choice is not None and (text := settings_text(choice)) != choice.spec]
        if self._pondering:
            lines.append("it ponders during your turn")
        remark = self._game.remark if self._game.own_record is not None else ""
        lines += [f"Note: {text}" for text in (remark, *self._notes) if text]
        self._about.update(Content("\n".join(map(printable, lines))))
