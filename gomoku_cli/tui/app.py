"""The app of `gomoku play`: it connects the board, the game and the model's thread."""

import asyncio
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from textual import events, on
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Footer, Static

from core.jit import KERNELS_ARE_COLD
from core.notation import cell_name
from core.position import IllegalMoveError
from core.rules import EMPTY, NO_CELL, Cell, Colour, Rules, colour_name
from gomoku_cli.exit_codes import ExitCode
from gomoku_cli.notices import notices_to, print_notice
from gomoku_cli.tui.board import ASCII, UNICODE, BoardWidget, BoardWindow
from gomoku_cli.tui.game import GameSession, MoveReport
from gomoku_cli.tui.help import HelpScreen
from gomoku_cli.tui.model_thread import LoadFailed, ModelFailed, ModelMoved, ModelThread, PlayerLoaded, PonderingEnded
from gomoku_cli.tui.side_panel import SidePanel
from gomoku_cli.tui.status import StatusLine
from gomoku_cli.tui.terminal import is_gone, restored_terminal, terminal_driver
from search.players import ForfeitError, Player

_MIN_PANEL_COLUMNS = 26
"""Width of the side panel next to a large board."""
_MAX_PANEL_COLUMNS = 40
_MIN_COLUMNS_FOR_PANEL = 60
"""A narrower terminal shows the board alone."""
_MODEL_END_S = 2.0
"""Time to wait for the model's thread at the end; then the process ends without it."""
_LOADING = "Loading the model" + (" and compiling the search (first run only)" if KERNELS_ARE_COLD else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardSetup:
    """Configuration of the app."""

    rules: Rules
    human: Colour
    """The human's colour in the first game."""
    model_text: str
    """The model and its limit, for the panel."""
    policy_text: str
    ponders: bool = False
    """True lets the model think during the human's turns, if it can (`search.players.Ponders`)."""
    ascii_only: bool = False


@dataclass
class NoticeGiven(Message):
    """The model runs with another backend or precision than the user requested."""

    text: str


class GomokuApp(App[ExitCode]):
    """One game after another between a human and a model; its result is the exit code, None after a failure.

    Every change of the game cancels the model's request in progress and then requests the next move, if the model is
    to move. The caller must call `close` after the app has ended: it waits for the model's thread.
    """

    TITLE = "Gomoku"
    ENABLE_COMMAND_PALETTE = False
    ALLOW_SELECT = False

    # The screen uses the terminal's own colours, so that it suits a dark and a light one. The board brings its own.
    CSS = """
    #title { height: 1; padding: 0 1; }
    #table { height: 1fr; }
    BoardWindow { width: 1fr; height: 1fr; }
    #panel { height: 1fr; }
    App.-ascii HelpScreen Static { border: ascii $primary; }
    App.-ascii BoardWindow, App.-ascii MovesView { scrollbar-size: 0 0; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("u", "undo", "Undo"),
        Binding("n", "new_game", "New game"),
        Binding("c", "change_colours", "Change colours"),
        Binding("question_mark", "help", "Help", key_display="?"),
        Binding("q", "confirm_quit", "Quit"),
        Binding("ctrl+c", "quit", "Quit", show=False, priority=True),
    ]

    def __init__(self, player_factory: Callable[[], Player], setup: BoardSetup) -> None:
        # Without native colours Textual shows greys under NO_COLOR instead of no colours.
        super().__init__(ansi_color=True, driver_class=terminal_driver())
        self.theme = "ansi-dark"
        self.set_class(setup.ascii_only, "-ascii")
        self.load_error: BaseException | None = None
        """The error that stopped the loading of the model and ended the app."""
        self.notices: list[str] = []
        """Notices on the model's backend and precision."""
        self.game = GameSession(setup.rules, setup.human)
        self._setup = setup
        self._ponders = setup.ponders
        self._model = ModelThread(player_factory, self.post_message)
        self._to_confirm: tuple[str, int] | None = None
        """The key that the human must press again, and the model's generation when it was pressed first."""
        self._own_loop: asyncio.AbstractEventLoop | None = None
        self._waiting_cell = NO_CELL
        """The human's move that is played when the model is loaded."""

    def compose(self) -> ComposeResult:
        """Build title, board with panel, status and key bar."""
        # Attributes, not queries: a query looks at the top screen, and the model may answer while the help is open.
        setup = self._setup
        glyphs = ASCII if setup.ascii_only else UNICODE
        self._board = BoardWidget(setup.rules, glyphs=glyphs)
        self._panel = SidePanel(glyphs=glyphs, policy_text=setup.policy_text, model_text=setup.model_text, id="panel")
        self._status = StatusLine(id="status", markup=False)
        self._title = Static(id="title")
        yield self._title
        with Horizontal(id="table"):
            with BoardWindow():
                yield self._board
            yield self._panel
        yield self._status
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """Show the empty board and start to load the model."""
        self._own_loop = asyncio.get_running_loop()
        # After Ctrl-Z and `fg` Textual repaints only what changed meanwhile.
        self.app_resume_signal.subscribe(self, lambda _: self.refresh(layout=True))
        self._board.focus()
        self.set_interval(0.5, self._tick)
        self._show_game()
        self._model.load(self._setup.rules)
        self._show_waiting()

    def on_resize(self, event: events.Resize) -> None:
        """Give the board its width and the panel the rest."""
        # One column for a scrollbar: a board too high for the terminal must not scroll sideways as well.
        left = event.size.width - self._board.columns - 1
        self._panel.styles.width = min(max(left, _MIN_PANEL_COLUMNS), _MAX_PANEL_COLUMNS)
        self._panel.display = event.size.width >= _MIN_COLUMNS_FOR_PANEL
        self._show_title()

    def close(self, timeout_s: float | None = None) -> bool:
        """Stop the model and wait for its thread; return False if it is still busy after `timeout_s`, if given."""
        return self._model.close(timeout_s)

    def interrupt(self) -> None:
        """End the app as interrupted. A signal handler may call this."""
        if self._own_loop is not None:
            self._own_loop.call_soon_threadsafe(self.exit, ExitCode.INTERRUPTED)

    @property
    def is_busy(self) -> bool:
        """True while the model loads or thinks."""
        return self._model.waiting_s is not None

    @property
    def is_loading(self) -> bool:
        """True until the model is loaded or its loading has failed."""
        return self._model.player is None and self.load_error is None

    def add_notice(self, text: str) -> None:
        """Keep and show a notice. The model's thread may call it."""
        self.notices.append(text)
        self.post_message(NoticeGiven(text))

    # Messages of the model's thread

    def on_player_loaded(self, message: PlayerLoaded) -> None:
        """Begin the game."""
        self._model.player = message.player
        cell, self._waiting_cell = self._waiting_cell, NO_CELL
        self._continue_game()
        if cell != NO_CELL and self.game.is_humans_turn:
            self._play_at(cell)

    def on_load_failed(self, message: LoadFailed) -> None:
        """End the app: without a model there is no game."""
        self.load_error = message.error
        self.exit()

    def on_model_moved(self, message: ModelMoved) -> None:
        """Play the model's move, unless the request was cancelled."""
        if not self._model.accept(message.generation):
            return
        decision = message.decision
        report = MoveReport(decision.value, decision.simulations, message.seconds)
        try:
            self.game.play_model_move(decision.move, report)
        except IllegalMoveError as error:
            self._show_failure(error)
        else:
            self._continue_game()

    def on_model_failed(self, message: ModelFailed) -> None:
        """Show the error; the game stays as it is."""
        if self._model.accept(message.generation):
            self._show_failure(message.error)

    def on_pondering_ended(self, message: PonderingEnded) -> None:
        """Show that the model no longer ponders; after an error it does not try again."""
        if not self._model.accept(message.generation):
            return
        self._panel.show_pondering(False)
        if message.error is not None:
            self._ponders = False
            self._status.show(f"The model cannot ponder. {_error_text(message.error)}", "error")

    def on_notice_given(self, message: NoticeGiven) -> None:
        """Add the notice to the panel."""
        self._panel.add_note(message.text)

    # Keys and mouse

    @on(BoardWidget.CellPressed)
    def play(self, message: BoardWidget.CellPressed) -> None:
        """Play the human's move, or show why it cannot be played."""
        self._to_confirm = None
        self._play_at(message.cell)

    def _play_at(self, cell: Cell) -> None:
        if self.game.position.is_game_over():
            self._status.show(f"{self.game.result_text()} Press n for a new game.", "over")
        elif self.is_loading and self.game.is_humans_turn:
            self._waiting_cell = cell
            self._show_waiting()
        elif self.is_busy:
            self._show_waiting()
        elif not self.game.is_humans_turn:
            self._request_move()
        else:
            try:
                self.game.play_human_move(cell)
            except IllegalMoveError as error:
                self._status.show(f"{error}.", "error")
            else:
                self._continue_game()

    def action_undo(self) -> None:
        """Take back the human's last move and the moves after it, or the waiting one; stop the model if it thinks."""
        if self._waiting_cell != NO_CELL:
            self._waiting_cell = NO_CELL
            self._show_waiting()
            return
        if not self.game.has_human_move:
            self._status.show("You have no move to take back.", "error")
            return
        self.game.undo()
        self._continue_game()

    def action_new_game(self) -> None:
        """Clear the board, after a confirmation during a game."""
        if self._is_confirmed("n", "for a new game"):
            self._start_new_game()

    def action_change_colours(self) -> None:
        """Change colours and clear the board, after a confirmation during a game."""
        if self._is_confirmed("c", "for other colours and a new game"):
            self.game.human = -self.game.human
            self._start_new_game()

    async def action_quit(self) -> None:
        """End the app."""
        self.exit(ExitCode.DONE)

    def action_confirm_quit(self) -> None:
        """End the app, after a confirmation during a game."""
        if self._is_confirmed("q", "to quit"):
            self.exit(ExitCode.DONE)

    def action_help(self) -> None:
        """Show the keys."""
        if not isinstance(self.screen, HelpScreen):
            self.push_screen(HelpScreen())

    # The course of the game

    def _is_confirmed(self, key: str, purpose: str) -> bool:
        """Return True if the game may be dropped; request `key` once more if the human has moved in it."""
        request = (key, self._model.generation)
        if not self.game.has_human_move or self.game.position.is_game_over() or self._to_confirm == request:
            return True
        self._to_confirm = request
        self._status.show(f"A game is in progress. Press {key} again {purpose}.")
        return False

    def _start_new_game(self) -> None:
        self._waiting_cell = NO_CELL
        self.game.restart()
        if self._model.player is None:
            self._show_game()
        else:
            self._continue_game()

    def _continue_game(self) -> None:
        """Show the changed game, and request a move if the model is to move."""
        self._model.cancel()
        self._panel.show_pondering(False)
        self._show_game()
        if self.game.position.is_game_over():
            self._status.show(self.game.result_text(), "over")
        elif self.game.is_humans_turn:
            self._status.show("Your move.")
            if self._ponders:
                self._panel.show_pondering(self._model.ponder(self.game.position))
        else:
            self._request_move()

    def _request_move(self) -> None:
        self._model.think(self.game.position)
        self._show_waiting()

    # The screen

    def _show_game(self) -> None:
        game = self.game
        self._board.show(game.position)
        self._board.ghost = game.human if game.is_humans_turn and self._model.player is not None else EMPTY
        self._panel.show(game.position, game.human, game.last_report)
        self._show_title()

    def _show_title(self) -> None:
        """Show the name of the game, or the human's colour where the panel is hidden."""
        title = "Gomoku" if self._panel.display else f"You are {colour_name(self.game.human)}"
        self._title.update(Content.assemble((title, "bold"), (f"   {self._setup.rules}", "dim")))

    def _tick(self) -> None:
        if not self.is_headless and is_gone(sys.__stdin__.fileno() if sys.__stdin__ else 0):
            self.exit(ExitCode.INTERRUPTED)  # without a signal, if another session owns the terminal
        self._show_waiting()

    def _show_waiting(self) -> None:
        """Show the model's activity and its time so far; a timer calls this while the model is busy."""
        confirming = self._to_confirm is not None and self._to_confirm[1] == self._model.generation
        waiting_s = self._model.waiting_s
        if waiting_s is not None and not confirming:
            activity = "The model is thinking" if self._model.player else _LOADING
            text = f"{activity}... {waiting_s:.0f} s"
            if self._waiting_cell != NO_CELL:
                text = f"Your move {cell_name(self._waiting_cell, self._setup.rules.size)} is played then. {text}"
            self._status.show(text, "busy")

    def _show_failure(self, error: Exception) -> None:
        self._status.show(f"The model failed (enter: ask again, u: undo). {_error_text(error)}", "error")


def _error_text(error: Exception) -> str:
    """Return the error in one line; a forfeit needs no name of its class."""
    text = str(error) if isinstance(error, ForfeitError) else f"{type(error).__name__}: {error}"
    return " ".join(text.split())


def run_board(player_factory: Callable[[], Player], setup: BoardSetup) -> None:
    """Show the board and play until the human quits.

    `player_factory` may take long, since it loads a model and compiles kernels. It runs on the model's thread, with
    the board already on the screen. An error of it ends the app and is raised here unchanged. Any other end than the
    human's raises `SystemExit` with its exit code: a signal, a closed terminal, an error of the app. The model's thread
    has ended when this function returns or raises; a thread that does not end soon is ended with the process.
    """
    app = GomokuApp(player_factory, setup)
    with notices_to(app.add_notice), restored_terminal(app.interrupt):
        code = app.run()
    if code is None:
        code = ExitCode.FAILED  # Textual has already printed the error
    has_ended = app.close(_MODEL_END_S)
    for notice in app.notices:  # the panel no longer shows them
        print_notice(notice)
    if app.load_error is not None:
        raise app.load_error
    if not has_ended:
        sys.stderr.flush()
        os._exit(code)
    if code != ExitCode.DONE:
        raise SystemExit(code)
