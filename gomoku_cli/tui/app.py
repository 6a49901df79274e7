"""The app of `gomoku play`: it connects the board, the panes and the course of the game."""

from collections.abc import Iterable
from functools import partial
from operator import attrgetter
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult, SystemCommand
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Size
from textual.screen import Screen

from core.notation import NotationError, spelled_cells
from core.opening_rules import Opening, OpeningRule
from core.rules import BLACK, EMPTY, WHITE, Cell
from gomoku_cli.notices import print_notice
from gomoku_cli.printable import sentence
from gomoku_cli.tui.control import Control
from gomoku_cli.tui.drivers.bursts import LONGEST, is_sgf, moves_in
from gomoku_cli.tui.engine.client import EngineProcess
from gomoku_cli.tui.game import Game
from gomoku_cli.tui.keys import BY_IMPORTANCE, GROUPS, THREAT_MARKS
from gomoku_cli.tui.layout import KEYS_DROPPED
from gomoku_cli.tui.picture import Heat, Panes, looks
from gomoku_cli.tui.screens.dialogs import Dialogs
from gomoku_cli.tui.setup import BoardSetup
from gomoku_cli.tui.widgets.board import BoardWidget
from gomoku_cli.tui.widgets.candidates import MOST_ROWS, ranked
from gomoku_cli.tui.widgets.panel import SidePanel


class GomokuApp(Dialogs):
    """One game after another."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(each.key, each.action, each.name, show=each.in_footer) for each in BY_IMPORTANCE
    ]

    def __init__(self, engine: EngineProcess, setup: BoardSetup) -> None:
        super().__init__(ascii_only=setup.ascii_only, theme=setup.theme, graphics=setup.graphics)
        self.notices: list[str] = []
        """Notices on the engine's backend and precision."""
        self._setup = setup
        self._engine = engine
        self._panes = Panes()
        self._clocks = ("", "")
        self._panel_wanted: bool | None = None
        """The human's wish; None leaves the panel to the size of the terminal."""
        self._is_too_narrow = False
        """True while the status says that there is no room for the panel."""
        game = setup.game or Game(setup.rules, setup.seats, opening=Opening(setup.opening), clock=setup.clock)
        self.control = Control(game, engine, self, setup)

    def compose(self) -> ComposeResult:
        """Build title, board with panel, status and key bar."""
        self._panel = SidePanel(self._glyphs, self.control.review.to_move, id="panel")
        yield from self._widgets(self.game.rules, self._panel)

    def on_mount(self) -> None:
        """Show the empty board and begin."""
        self._mounted()
        self._arrange()
        self.set_interval(0.5, self.control.show_state)
        self.set_interval(0.1, self._show_clocks)
        self._engine.connect(partial(self.call_later, self.control.receive))  # thread-safe: it posts a message
        self.control.start(reviewing=self._setup.reviews)
        if self._setup.asks_first:
            self.action_new_game()

    def on_resize(self, event: events.Resize) -> None:
        """Give the board its room and the panel the rest."""
        if self._main is not None:
            self._arrange(event.size)

    # Layout

    def _arrange(self, terminal: Size | None = None) -> None:
        """Choose the size of the cells and the panel's width for the size of the terminal."""
        self._fit(self.game.rules, self._panel, terminal or self.size, self._panel_wanted)
        if self._panel.display and self._is_too_narrow:
            self._is_too_narrow = False
            self.control.show_state(at_once=True)
        self._show_title()

    # The view of the course

    def show_game(self) -> None:
        """See `View`."""
        control, game = self.control, self.game
        if self._board.geometry.size != game.rules.size:
            self._board.set_rules(game.rules)
            self._arrange()
        self._board.ghost = game.side_to_move if control.may_play else EMPTY
        self._show_clocks()
        marks = {ply - 1: mark for ply, mark in control.review.marks.items()}
        self._panel.show(game, marks, self._clocks, pondering=control.pondering)
        self._show_title()
        self.show_analysis()

    def show_analysis(self) -> None:
        """See `View`."""
        control, game = self.control, self.game
        self._panel.value.show(game)
        hint = self._glyphs.hint
        cells = looks(control, self._panes, self._board.cursor, hint, has_colours=not self.no_color)
        self._board.show(cells)
        if self._panel.candidates.display:
            source = ", ".join(filter(None, (control.speaker, control.analysis_state)))
            self._panel.show_candidates(control.analysis, source, self._board.cursor, control.book_moves())
        if self._panel.graph.display:
            by_analyst = control.review.active or game.is_game_over()
            self._panel.graph.show(game.curve(by_analyst=by_analyst), game.ply, control.review.marks)

    def add_note(self, text: str) -> None:
        """See `View`."""
        self.notices.append(text)
        self._panel.add_note(text)

    def say_dropped(self) -> None:
        """See `TerminalApp.say_dropped`; as a note too, since the next move takes the message away."""
        super().say_dropped()
        if KEYS_DROPPED not in self.notices:
            self.add_note(KEYS_DROPPED)

    def _show_title(self) -> None:
        """Show the name of the game; where the panel is hidden, the players too."""
        game = self.game
        title = "Gomoku"
        if not self._panel.display:
            title = "   ".join(
                " ".join(filter(None, (self._glyphs.stone(colour), game.player_name(colour), clock)))
                for colour, clock in zip((BLACK, WHITE), self._clocks, strict=True)
            )
        title += "   rated" if self.control.match.is_rated else ""
        title += "   not saved" if self.control.unsaved else ""
        title += "   teaching" if self.control.teaching else ""
        rule = game.opening.rule
        rules = f"{game.rules}, {rule}" if rule is not OpeningRule.FREE else str(game.rules)
        self._title.update(Content.assemble((title, "bold"), (f"   {rules}", "dim")))

    def _show_clocks(self) -> None:
        self.control.match.check_clock()
        if (texts := self.control.match.clock_texts) != self._clocks:
            self._clocks = texts
            self._panel.players.show(self.game, self._glyphs, texts)
            self._show_title()

    # Keys and mouse

    def press_cell(self, cell: Cell) -> None:
        """Play the human's move, or show why it cannot be played."""
        self.control.press(cell)

    @on(BoardWidget.CursorMoved)
    def follow_cursor(self) -> None:
        """Show the variation and the candidate under the cursor."""
        if self._panes.variation or self._panel.candidates.display:
            self.show_analysis()

    def play_typed(self, text: str, *, pasted: bool = False) -> None:
        """Play the moves of a text, or say what is wrong with it and open the line again."""
        try:
            cells = spelled_cells(text, self.game.rules.size)
        except NotationError as error:
            self.show_message(sentence(error), "error")
            self._entry.open()
            return
        if not cells:
            self.control.show_state(at_once=True)
        for number, cell in enumerate(cells):
            if (number or pasted) and (why := self._why_not(cell)):
                rest = " ".join(map(self.game.name_of, cells[number:]))
                self.show_message(f"Not played, since {why}: {rest}.", "error")
                return
            self._board.cursor, ply = cell, self.game.ply
            if not pasted and self.control.may_play and not self.game.choices and not self.game.is_legal(cell):
                self._entry.open()  # else the letters of the next try were keys, and Enter played where the cursor is
            self.control.press(cell)
            if self.game.ply == ply:
                return  # it was refused, or waits

    def _why_not(self, cell: Cell) -> str:
        """Return why a pasted move is not tried here; nothing where it is. In a review it begins a variation."""
        game = self.game
        if not game.is_humans_turn:
            return "the game is over" if game.is_game_over() else "it is not a human's turn"
        # A move that cannot be played would only end the review.
        return "the first one cannot be played here" if self.control.review.active and not game.is_legal(cell) else ""

    def play_pasted(self, text: str) -> None:
        """Play pasted moves as if they were typed, as long as it is a human's turn; any other text does nothing."""
        if is_sgf(text):
            self.open_text(text)
            return
        try:
            cells = spelled_cells(text[:LONGEST], self.game.rules.size)
        except NotationError as error:
            is_off = bool(moves_in(text))  # cells, of a larger board
            self.show_message(
                sentence(error) if is_off else f"Text that is no move does nothing: {' '.join(text[:40].split())}",
                "error",
            )
            return
        if len(cells) == 1 and not text.endswith(("\r", "\n")):
            self._entry.open(self.game.name_of(cells[0]))
        else:
            self.play_typed(text[:LONGEST], pasted=True)

    def action_move_now(self) -> None:
        """Make the engine move."""
        self._board.focus()
        self.control.move_now()

    def action_change_focus(self) -> None:
        """Go to the moves, or back to the board."""
        if self._board.has_focus and self._panel.display:
            self._panel.moves.focus()
        else:
            self._board.focus()

    def action_course(self, name: str, *arguments: int) -> None:
        """Ask the course of the game for something, `undo` or `swap_sides`, or its review: `review.step`."""
        attrgetter(name)(self.control)(*arguments)

    # Panes

    def action_cells(self) -> None:
        """Show the search on the cells: colours, then numbers, then nothing."""
        looks: list[Heat] = ["", "numbers"] if self.no_color else ["", "colours", "numbers"]
        self._panes.heat = looks[(looks.index(self._panes.heat) + 1) % len(looks)]
        self._panes_changed()

    def action_pane(self, name: str) -> None:
        """Show or hide a pane on the cells: variation, threats, numbers."""
        setattr(self._panes, name, not getattr(self._panes, name))
        if name == "threats" and self._panes.threats:
            self.show_message(f"Threats: {THREAT_MARKS}.")  # there may be none to see
        self._panes_changed()

    def action_candidate(self, number: int) -> None:
        """Show the line of a candidate, by its number in the table, and put the cursor on it."""
        self._panes.variation = True
        found = ranked(self.control.analysis)[:MOST_ROWS] if self.control.analysis is not None else []
        if number <= len(found):
            self._board.cursor = found[number - 1].move
        else:
            self.show_message(f"There is no candidate {number} yet.")
        self._panes_changed()

    def action_view(self, name: str) -> None:
        """Show or hide a view of the panel: candidates, graph."""
        view = getattr(self._panel, name)
        view.display = not view.display
        if view.display and not self._panel.display:
            self.action_panel()
        self._panes_changed()

    def action_teaching(self) -> None:
        """Switch the warnings before losing moves on or off."""
        self.control.teaching = not self.control.teaching
        state = "on: a losing move is explained before it counts" if self.control.teaching else "off"
        self._show_title()
        self.show_message(f"Teaching is {state}.")

    def action_panel(self) -> None:
        """Fold or open the panel."""
        self._panel_wanted = not self._panel.display
        self._arrange()
        if not self._panel.display:
            self._board.focus()
            self._is_too_narrow = self._panel_wanted
            if self._is_too_narrow:
                self.show_message("The terminal is too narrow for the panel.", "error")

    def _panes_changed(self) -> None:
        control, panes = self.control, self._panes
        control.wants_analysis = panes.heat != "" or panes.variation or self._panel.candidates.display
        control.wants_threats, control.wants_graph = panes.threats, self._panel.graph.display
        control.use_turn()
        self.show_game()

    def action_scroll_moves(self, pages: int) -> None:
        """Scroll the list of moves."""
        moves = self._panel.moves
        (moves.scroll_page_up if pages < 0 else moves.scroll_page_down)(animate=False)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Return the commands of the palette: every action of the board, and Textual's own for themes and pictures."""
        for commands in GROUPS.values():
            for each in commands:
                yield SystemCommand(each.title, f"Key {each.shown}", partial(self.run_action, each.action))
        for command in super().get_system_commands(screen):
            if command.title == "Theme" or (
                command.title == "Screenshot" and not self.is_web and self.pictures is None
            ):
                yield command


def run_board(engine: EngineProcess, setup: BoardSetup) -> None:
    """Show the board and play until the human quits, then end the engine.

    Any other end than the human's raises `SystemExit` with its exit code: a signal, a closed terminal, an error of the
    app.
    """
    app = GomokuApp(engine, setup)
    try:
        app.run_to_end()
    finally:
        app.keep_typed()
        engine.close()
        if app.control.unsaved:
            _keep(app.game)
        for notice in app.notices:  # the panel no longer shows them
            print_notice(notice)


def _keep(game: Game) -> None:
    """Keep a game that could not be saved, after an end that asked nothing: Ctrl+C, a signal, an error of the app."""
    from core.files.atomic import keep_elsewhere
    from core.records.formats import write_games

    kept = keep_elsewhere("game.sgf", lambda path: write_games(path, [game.to_save(anywhere=True).write()]))
    if kept is not None:
        print_notice(f"the game could not be saved, and is kept as {kept}: gomoku play --load goes on with it")
