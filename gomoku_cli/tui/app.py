"""The board to play a model on: the screen, the rules of turns, and the thread that thinks."""

import secrets
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
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
from core.lines import winning_cells
from core.position import IllegalMoveError, Position
from core.rules import EMPTY, Colour, Rules, colour_name
from gomoku_cli.runtime import notices_to, print_notice
from gomoku_cli.tui.board import ASCII, UNICODE, BoardWidget, BoardWindow
from gomoku_cli.tui.panels import HelpScreen, Opinion, SidePanel
from search.players import Decision, ForfeitError, Player, Ponders

_PANEL_COLUMNS = (26, 40)
"""Least and most columns of the side panel; large boards leave it the least."""
_COLUMNS_FOR_BOTH = 60
"""A terminal narrower than this shows the board alone."""


_LOADING = "Loading the model" + (" and compiling the search, this once" if KERNELS_ARE_COLD else "")


@dataclass
class PlayerLoaded(Message):
    """The model is ready."""

    player: Player


@dataclass
class LoadFailed(Message):
    """The model could not be made ready."""

    error: BaseException


@dataclass
class ModelMoved(Message):
    """The model has decided."""

    generation: int
    """The question this answers; the answer to an older one is dropped."""
    decision: Decision
    seconds: float


@dataclass
class ModelFailed(Message):
    """The model raised an error instead of deciding."""

    generation: int
    error: Exception


@dataclass
class PonderingEnded(Message):
    """The model stopped pondering though nobody told it to: it has no room left, or failed."""

    generation: int
    error: Exception | None


@dataclass
class NoticeGiven(Message):
    """The model runs otherwise than was asked."""

    text: str


class GomokuApp(App[None]):
    """One game after another between a human and a model.

    The model lives on one thread of its own, which answers questions in the order they were asked. Every question has
    a generation: every change of the game and quitting begin the next one, tell the question in work to stop, and so
    make its answer stale. Pondering is a question without an answer, asked while the human is to move. `close` waits
    for the thread, and whoever runs the app calls it.
    """

    TITLE = "Gomoku"
    ENABLE_COMMAND_PALETTE = False
    ALLOW_SELECT = False

    # Colours of the terminal itself, so that the screen suits a dark one and a light one; the board brings its own.
    CSS = """
    #title { height: 1; padding: 0 1; }
    #table { height: 1fr; }
    BoardWindow { width: 1fr; height: 1fr; }
    #panel { height: 1fr; }
    #status { height: auto; max-height: 3; padding: 0 1; text-style: bold; }
    #status.-error { background: ansi_red; color: ansi_bright_white; }
    #status.-over { background: ansi_green; color: ansi_black; }
    #status.-busy { text-style: none; }
    App.-ascii HelpScreen Static { border: ascii $primary; }
    App.-ascii BoardWindow, App.-ascii MovesView { scrollbar-size: 0 0; }
    App:nocolor #status.-error { text-style: reverse bold; }
    App:nocolor #status.-over { text-style: reverse bold; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("u", "undo", "Undo"),
        Binding("n", "new_game", "New game"),
        Binding("c", "change_colours", "Change colours"),
        Binding("question_mark", "help", "Help", key_display="?"),
        Binding("q", "quit", "Quit"),
        Binding("ctrl+c", "quit", "Quit", show=False, priority=True),
    ]

    def __init__(
        self,
        *,
        player_factory: Callable[[], Player],
        rules: Rules,
        human: Colour,
        policy_text: str,
        model_text: str,
        ponders: bool = False,
        ascii_only: bool = False,
    ) -> None:
        """With `ponders` the model thinks while the human does, if it can (`search.players.Ponders`)."""
        # Without native colours Textual answers NO_COLOR with greys instead of none.
        super().__init__(ansi_color=True)
        self.theme = "ansi-dark"
        self.set_class(ascii_only, "-ascii")
        self.load_error: BaseException | None = None
        """Why the model could not be loaded, if that ended the app."""
        self.notices: list[str] = []
        """What there is to know of how the model runs."""
        self.position = Position(rules)
        self.human = human
        self._player_factory = player_factory
        self._player: Player | None = None
        self._policy_text = policy_text
        self._model_text = model_text
        self._ponders = ponders
        self._ascii_only = ascii_only
        self._opinions: list[Opinion] = []
        """One for each of the model's moves on the board."""
        self._generation = 0
        self._stop = threading.Event()
        """Set to stop the question in work; every generation has its own."""
        self._asked_at: float | None = None
        """`time.perf_counter()` when the model was asked; None while it has nothing to answer."""
        self._to_confirm: tuple[str, int] | None = None
        """The key that shall be pressed again, and the generation that it would end."""
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="model")

    def compose(self) -> ComposeResult:
        """Title, board beside panel, status, keys."""
        # Held by name: a query would look at the screen on top, and the model may answer while the help is open.
        glyphs = ASCII if self._ascii_only else UNICODE
        self._board = BoardWidget(self.position.rules, glyphs=glyphs)
        self._panel = SidePanel(glyphs=glyphs, policy_text=self._policy_text, model_text=self._model_text, id="panel")
        self._status = Static(id="status", markup=False)
        self._title = Static(id="title")
        yield self._title
        with Horizontal(id="table"):
            with BoardWindow():
                yield self._board
            yield self._panel
        yield self._status
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """Begins to load the model, with the board already there."""
        self._board.focus()
        self.set_interval(0.5, self._show_waiting)
        self._show_game()
        self._asked_at = time.perf_counter()
        self._show_waiting()
        self._thread.submit(self._load)

    def on_resize(self, event: events.Resize) -> None:
        """Gives the board its room and the panel what is left."""
        least, most = _PANEL_COLUMNS
        # One column for a scrollbar: a board too high for the terminal is not to scroll sideways as well.
        self._panel.styles.width = min(max(event.size.width - self._board.columns - 1, least), most)
        self._panel.display = event.size.width >= _COLUMNS_FOR_BOTH
        self._show_title()

    def close(self) -> None:
        """Stops the model and waits for its thread: the interpreter must not go down with it inside a library."""
        self._next_generation()
        self._thread.shutdown(wait=True, cancel_futures=True)

    @property
    def is_busy(self) -> bool:
        """Whether the model is loading or thinking."""
        return self._asked_at is not None

    @property
    def is_loading(self) -> bool:
        """Whether the model's thread still makes the model ready."""
        return self._player is None and self.load_error is None

    # On the model's thread

    def _load(self) -> None:
        try:
            # The board's own kernels are compiled here as well, not at the first click.
            rules = self.position.rules
            winning_cells(Position.from_moves(rules, [0]).stones, 0, rules.size, rules.connect)
            player = self._player_factory()
        except BaseException as error:
            self.post_message(LoadFailed(error))
        else:
            self.post_message(PlayerLoaded(player))

    def _think(self, player: Player, position: Position, generation: int, stop: threading.Event) -> None:
        if stop.is_set():
            return
        started = time.perf_counter()
        try:
            (decision,) = player.choose_batch([position], seeds=[secrets.randbits(63)], stop=stop.is_set)
        except Exception as error:
            self.post_message(ModelFailed(generation, error))
        else:
            self.post_message(ModelMoved(generation, decision, time.perf_counter() - started))

    def _ponder(self, player: Ponders, position: Position, generation: int, stop: threading.Event) -> None:
        failure = None
        try:
            player.ponder(position, stop.is_set)
        except Exception as error:
            failure = error
        if not stop.is_set():
            self.post_message(PonderingEnded(generation, failure))

    def tell(self, text: str) -> None:
        """Shows and keeps what there is to know of how the model runs; for the model's thread."""
        self.notices.append(text)
        self.post_message(NoticeGiven(text))

    # What the model's thread says

    def on_player_loaded(self, message: PlayerLoaded) -> None:
        """The game begins."""
        self._player = message.player
        self._go_on()

    def on_load_failed(self, message: LoadFailed) -> None:
        """Without a model there is no game."""
        self.load_error = message.error
        self.exit()

    def on_model_moved(self, message: ModelMoved) -> None:
        """Plays the model's move, unless the question is no longer asked."""
        if message.generation != self._generation:
            return
        decision = message.decision
        try:
            self.position.push(decision.move)
        except IllegalMoveError as error:
            self._show_failure(error)
            return
        self._opinions.append(Opinion(decision.value, decision.simulations, message.seconds))
        self._go_on()

    def on_model_failed(self, message: ModelFailed) -> None:
        """Says what went wrong; the game stays as it is."""
        if message.generation == self._generation:
            self._show_failure(message.error)

    def on_pondering_ended(self, message: PonderingEnded) -> None:
        """Shows it; a model that fails at it does not try again."""
        if message.generation != self._generation:
            return
        self._panel.show_pondering(False)
        if message.error is not None:
            self._ponders = False
            self._say(f"The model cannot ponder. {_described(message.error)}", "error")

    def on_notice_given(self, message: NoticeGiven) -> None:
        """Shows it."""
        self._panel.add_note(message.text)

    # What the human does

    @on(BoardWidget.CellPressed)
    def play(self, message: BoardWidget.CellPressed) -> None:
        """Plays the human's move, or says why not."""
        self._to_confirm = None
        if self.position.is_game_over():
            self._say(f"{self._result()} Press n for a new game.", "over")
        elif self.is_busy:
            self._show_waiting()
        elif self.position.side_to_move != self.human:
            self._ask_model()
        else:
            try:
                self.position.push(message.cell)
            except IllegalMoveError as error:
                self._say(f"{error}.", "error")
            else:
                self._go_on()

    def action_undo(self) -> None:
        """Takes back the human's last move and what came after it; stops the model if it thinks."""
        human_plies = self._human_plies()
        if not human_plies:
            self._say("You have no move to take back.", "error")
            return
        while self.position.ply > human_plies[-1]:
            if self._colour_of(self.position.ply - 1) != self.human:
                self._opinions.pop()
            self.position.pop()
        self._go_on()

    def action_new_game(self) -> None:
        """Clears the board, if that is what the human wants."""
        if self._is_confirmed("n", "a new game"):
            self._start_over()

    def action_change_colours(self) -> None:
        """Clears the board and changes sides, if that is what the human wants."""
        if self._is_confirmed("c", "other colours and a new game"):
            self.human = -self.human
            self._start_over()

    def action_help(self) -> None:
        """Shows the keys."""
        if not isinstance(self.screen, HelpScreen):
            self.push_screen(HelpScreen())

    # The game

    def _human_plies(self) -> list[int]:
        """The numbers, from 0, of the human's moves."""
        return [ply for ply in range(self.position.ply) if self._colour_of(ply) == self.human]

    def _colour_of(self, ply: int) -> Colour:
        """Who made the move with number `ply`, from 0."""
        same = (self.position.ply - ply) % 2 == 0
        return self.position.side_to_move if same else -self.position.side_to_move

    def _is_confirmed(self, key: str, wanted: str) -> bool:
        """Whether the game may be dropped; asks for `key` once more where the human has begun one."""
        asking = (key, self._generation)
        if not self._human_plies() or self.position.is_game_over() or self._to_confirm == asking:
            return True
        self._to_confirm = asking
        self._say(f"A game is in progress. Press {key} again for {wanted}.")
        return False

    def _start_over(self) -> None:
        self.position = Position(self.position.rules)
        self._opinions.clear()
        if self._player is None:
            self._show_game()
        else:
            self._go_on()

    def _next_generation(self) -> None:
        """Makes the question in work stale."""
        self._generation += 1
        self._stop.set()
        self._stop = threading.Event()
        self._asked_at = None

    def _go_on(self) -> None:
        """After any change of the game: shows it, and asks the model if it is to move."""
        self._next_generation()
        self._panel.show_pondering(False)
        self._show_game()
        if self.position.is_game_over():
            self._say(self._result(), "over")
        elif self.position.side_to_move == self.human:
            self._say("Your move.")
            self._let_ponder()
        else:
            self._ask_model()

    def _let_ponder(self) -> None:
        if self._ponders and isinstance(self._player, Ponders):
            self._panel.show_pondering(True)
            self._thread.submit(self._ponder, self._player, self.position.copy(), self._generation, self._stop)

    def _ask_model(self) -> None:
        assert self._player is not None, "moves are made only once the model is loaded"
        self._asked_at = time.perf_counter()
        self._show_waiting()
        self._thread.submit(self._think, self._player, self.position.copy(), self._generation, self._stop)

    def _result(self) -> str:
        outcome = self.position.outcome()
        assert outcome is not None
        if outcome.winner is None:
            return "The board is full: a draw."
        who = "you have won" if outcome.winner == self.human else "the model has won"
        return f"{colour_name(outcome.winner).capitalize()} has {self.position.rules.connect} in a row: {who}."

    # The screen

    def _show_game(self) -> None:
        self._board.show(self.position)
        humans_turn = self.position.side_to_move == self.human and not self.position.is_game_over()
        self._board.ghost = self.human if humans_turn and self._player is not None else EMPTY
        self._panel.show(self.position, self.human, self._opinions[-1] if self._opinions else None)
        self._show_title()

    def _show_title(self) -> None:
        """The name of the game, or who plays which colour where the panel does not say it."""
        if self._panel.display:
            title = Content.assemble(("Gomoku", "bold"), (f"   {self.position.rules}", "dim"))
        else:
            title = Content.assemble(
                (f"You are {colour_name(self.human)}", "bold"), (f"   {self.position.rules}", "dim")
            )
        self._title.update(title)

    def _show_waiting(self) -> None:
        """Says what the model does and for how long; called again and again while it does."""
        asked_to_confirm = self._to_confirm is not None and self._to_confirm[1] == self._generation
        if self._asked_at is not None and not asked_to_confirm:
            what = "The model is thinking" if self._player else _LOADING
            self._say(f"{what}... {time.perf_counter() - self._asked_at:.0f} s", "busy")

    def _show_failure(self, error: Exception) -> None:
        self._asked_at = None
        self._say(f"The model failed (enter: ask again, u: undo). {_described(error)}", "error")

    def _say(self, text: str, kind: str = "") -> None:
        """Shows `text` in the status line; `kind` is `error`, `over`, `busy` or nothing."""
        self._status.set_classes(f"-{kind}" if kind else "")
        self._status.update(Content(text))


def _described(error: Exception) -> str:
    if isinstance(error, ForfeitError):
        return " ".join(str(error).split())
    return " ".join(f"{type(error).__name__}: {error}".split())


def run_board(
    *,
    player_factory: Callable[[], Player],
    rules: Rules,
    human: Colour,
    policy_text: str,
    model_text: str,
    ponders: bool = False,
    ascii_only: bool = False,
) -> None:
    """Opens the board and plays until the human quits.

    `player_factory` may take long (it loads a model and compiles kernels): it is called on the model's thread with the
    board already shown. What it raises ends the app and is raised here as it is. Returns once the model's thread has
    ended.
    """
    app = GomokuApp(
        player_factory=player_factory,
        rules=rules,
        human=human,
        policy_text=policy_text,
        model_text=model_text,
        ponders=ponders,
        ascii_only=ascii_only,
    )
    try:
        with notices_to(app.tell):
            app.run()
    finally:
        if app.is_loading:
            print("Waiting until the model is loaded, to end cleanly...", file=sys.stderr)
        app.close()
        for notice in app.notices:  # the panel may have had no room for all of it
            print_notice(notice)
    if app.load_error is not None:
        raise app.load_error
    if app.return_code:
        # Textual has already printed what went wrong in the board itself.
        raise SystemExit(app.return_code)
