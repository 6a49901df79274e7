"""The dialogs of the board: questions, the next game, saved games, the keys."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from core.opening_rules import Choice
from core.records.record import Ending, GameRecord, RecordError
from core.records.tree import GameTree, Node
from core.rules import BLACK, NO_CELL, WHITE, Cell, Rules, colour_name
from curriculum.arena import player_names
from gomoku_cli.printable import counted, error_message, sentence
from gomoku_cli.study.game import StudiedGame, StudiedTree, without_analysis
from gomoku_cli.tui.control import Control
from gomoku_cli.tui.engine.client import EngineProcess
from gomoku_cli.tui.engine.messages import Draw, GameList, ListGames, OpenGame, PlayerChoice
from gomoku_cli.tui.game import Game, Seats
from gomoku_cli.tui.layout import BoardApp
from gomoku_cli.tui.setup import Course
from gomoku_cli.tui.terminal import is_served

if TYPE_CHECKING:
    from gomoku_cli.tui.screens.comment import CommentScreen

_FIRST_GAMES = 30
"""Saved games that are listed at once; all others follow."""


class Dialogs(BoardApp):
    """An app of a course of games, whose dialogs these are. They are imported when they are opened."""

    control: Control
    _engine: EngineProcess
    _comment: "tuple[Node, CommentScreen] | None" = None
    """The dialog for a comment while it is open, and its position."""

    @property
    def game(self) -> Game:
        """The game on the board."""
        return self.control.game

    def show_failed_player(self, text: str) -> None:
        """See `View`."""
        answers = (("m", "play the mentor"), ("n", "new game"), ("q", "quit"))
        self.show_message(text, "error")
        self._ask(f"This player cannot be loaded.\n{text}", answers, self._after_failure, is_low=False)

    def _ask(
        self,
        text: str,
        answers: Sequence[tuple[str, str]],
        then: Callable[[str | None], None],
        *,
        is_low: bool = True,
        enter: str = "",
    ) -> None:
        """Ask a question; `then` gets the key of the answer."""
        from gomoku_cli.tui.screens.dialog import Question

        self.push_screen(Question(text, answers, is_low=is_low, enter=enter), then)

    def _confirm(
        self, text: str, do: Callable[[], None], yes: str = "yes", no: str = "no", *, is_low: bool = True
    ) -> None:
        """Ask a question with two answers, and do something after a yes."""
        self._ask(text, (("y", yes), ("n", no)), lambda answer: do() if answer == "y" else None, is_low=is_low)

    def ask_choice(self, options: tuple[Choice, ...]) -> None:
        """See `View`."""
        if self.screen is not self._main:
            return
        labels = {Choice.WHITE: "White", Choice.BLACK: "Black", Choice.MORE: "add two stones"}
        answers = (*((each[0], labels[each]) for each in options), ("l", "look first"))

        def chosen(answer: str | None) -> None:
            found = [each for each in options if each[0] == answer]
            if found:
                self.control.choose(found[0])

        who = "do you" if self.game.seats.human else f"does the {self.game.opening_player.lower()}"
        # The key that placed the last stone chooses nothing.
        self._ask(f"Which stones {who} take? White moves next.", answers, chosen, enter="l")

    def show_saved_games(self, games: GameList) -> None:
        """See `View`."""
        from gomoku_cli.tui.screens.saved_games import SavedGamesScreen

        if isinstance(self.screen, SavedGamesScreen):
            self.screen.show(games)
        elif games.limit is not None and not games.games:
            self.show_message("There is no saved game yet.", "error")
        elif games.limit is not None and self.screen is self._main:
            self.push_screen(SavedGamesScreen(games, self._engine.request), self._open_saved)
            self._engine.request(ListGames())

    def _open_saved(self, path: str | None) -> None:
        if path is not None:
            self._engine.request(OpenGame(path))

    def open_game(self, game: Game, path: str, known: bytes) -> None:
        """See `View`."""
        opens = partial(self.control.new_game, game, path=path, known=known, reviewing=game.is_for_review)
        if self.control.unsaved:
            self._leave_game(" for a saved one", opens)
        else:
            opens()

    def _after_failure(self, answer: str | None) -> None:
        if answer == "m":
            seats, mentor = self.game.seats, PlayerChoice(spec=player_names.MENTOR)
            self.control.change_seats(Seats(seats.black and mentor, seats.white and mentor))
        elif answer == "n":
            self.action_new_game()
        else:
            self.exit()

    def action_new_game(self) -> None:
        """Open the dialog for a new game, after a question during a game."""
        self._leave_game(" for a new one", self._ask_new_game, how="o shows the saved games")

    def _ask_new_game(self) -> None:
        from gomoku_cli.tui.screens.new_game import NewGameScreen

        def chosen(found: tuple[Game, Course] | None) -> None:
            if found is not None:
                game, self.control.course = found
                self.control.new_game(game)

        self.push_screen(NewGameScreen(self.game, self.control.course), chosen)

    def action_players(self) -> None:
        """Go on with this game against another opponent, or with other stones."""
        from gomoku_cli.tui.screens.new_game import NewGameScreen

        game = self.game

        def refused() -> bool:
            why = "The colours are chosen first." if game.is_opening and not self.control.has_failed else ""
            if game.is_decided and game.recorded is None:
                why = "The game is over: n begins another."
            if why:
                self.show_message(why, "error")
            return bool(why)

        def chosen(found: tuple[Game, Course] | None) -> None:
            if found is not None and self.game is game and not refused():  # it goes on behind the dialog
                seats, self.control.course = found[0].seats, found[1]
                if seats != game.seats:
                    self.control.choose_players(seats)
                    black, white = map(game.seats.name_of, (BLACK, WHITE))
                    self.show_message(f"The game goes on: {black} with Black, {white} with White.")

        if not refused():
            self.push_screen(NewGameScreen(game, self.control.course, goes_on=True), chosen)

    def action_leave(self) -> None:
        """End the app, after a question during a game."""
        self._leave_game("", self._leave, how="gomoku play --resume goes on with it")

    def _leave(self) -> None:
        self.control.unsaved = ""  # the human knows that it is lost
        self.exit()

    def _leave_game(self, what_for: str, leave: Callable[[], None], *, how: str = "") -> None:
        """Call `leave`: at once, or after a yes to a question if a game of a human goes on, or one is not saved.

        `how`: the way back to the saved game.
        """
        unsaved = self.control.unsaved
        if not unsaved and (self.game.is_decided or not self.game.has_human_part):
            leave()
            return
        if self.game.recorded is not None:
            how = "o shows a copy with your changes"  # --resume leaves it out, and its own file stays as it was
        state = "is being saved" if self.control.is_saving else "is saved"
        saved = f"It {state}{how and f': {how}'}."
        lost = f"{unsaved} Leaving loses it. To keep it: n, then y and s copy it as SGF."
        self._confirm(f"Leave this game{what_for}? {lost if unsaved else saved}", leave, "leave", "stay", is_low=False)

    def action_resign(self) -> None:
        """Give the game up, after a question: for the human, or for the side to move of two."""
        colour = self.game.seats.human or self.game.side_to_move
        text = f"{colour_name(colour).capitalize()} resigns?"
        self._ask_to_end(text, lambda: self.control.match.end(-colour, Ending.RESIGNATION))

    def action_offer_draw(self) -> None:
        """Offer a draw to the engine, or to the other human."""
        if self.game.seats.human and not self.control.match.may_end:
            self.control.match.offer_draw()
            return
        sides = [colour_name(side).capitalize() for side in (self.game.side_to_move, -self.game.side_to_move)]
        text = f"{sides[0]} offers a draw. Does {sides[1]} accept?"
        self._ask_to_end(text, lambda: self.control.match.end(None, Ending.BOARD))

    def _ask_to_end(self, text: str, end: Callable[[], None]) -> None:
        if problem := self.control.match.may_end:
            self.show_message(problem, "error")
            return
        game = self.game

        def accepted() -> None:
            if self.game is game and not self.control.match.may_end:
                end()

        self._confirm(text, accepted)

    def action_delete(self) -> None:
        """Delete the last move that is shown and all that follow, after a question."""
        game = self.game
        if not game.can_delete:
            self.show_message("There is no move to delete here.", "error")
            return
        if self.control.match.refuses():
            return
        count = sum(node.move != NO_CELL for node in game.node.nodes()) - 1
        others = f" and {counted(count, 'move')} after it" if count else ""
        back = f"Until you leave the game, u brings {'them' if count else 'it'} back."
        text = f"Delete {game.name_of(game.moves[-1])}{others}? {back}"
        self._confirm(text, partial(self.control.review.delete, game.node), "delete", "keep")

    def action_describe(self) -> None:
        """Write a comment on the shown position, and a name."""
        from gomoku_cli.tui.screens.comment import CommentScreen

        node = self.game.node
        screen = CommentScreen(node.name, without_analysis(node.comment))

        def written(found: tuple[str, str] | None) -> None:
            self._comment = None
            if found is not None:
                self.control.review.describe(node, *found)

        self._comment = node, screen
        self.push_screen(screen, written)

    def keep_typed(self) -> None:
        """Save the comment that was being written when Ctrl+C, a signal or the terminal ended the app."""
        if self._comment is not None:
            node, screen = self._comment
            self.game.describe(node, *screen.texts)
            self.control.keep()

    def action_set_up(self) -> None:
        """Place stones freely and play from there, after a question during a game."""
        self._leave_game(" for one from a set-up position", self._set_up)

    def _set_up(self) -> None:
        from gomoku_cli.tui.screens.set_up import SetUpScreen

        game = self.game

        def chosen(found: list[Cell] | GameTree | None) -> None:
            if isinstance(found, GameTree):
                self._open_tree(found)
            elif found is not None:
                record = GameRecord(game.rules, tuple(found), ending=Ending.UNKNOWN, set_up=len(found))
                self.control.new_game(Game(game.rules, game.seats, tree=GameTree.of(record), clock=game.control))
                self.control.keep()

        self.push_screen(SetUpScreen(game.rules, game.moves, self._glyphs), chosen)

    def open_text(self, text: str) -> None:
        """Review a game that was pasted as SGF, after a question during a game."""
        from gomoku_cli.tui.screens.set_up import pasted_tree

        try:
            self._open_tree(pasted_tree(text))
        except RecordError as error:
            self.show_message(sentence(error), "error")

    def _open_tree(self, tree: GameTree) -> None:
        pasted = Game.from_saved(StudiedTree.read(tree), is_own=False)
        self._leave_game(" for the pasted one", lambda: self.control.new_game(pasted, reviewing=pasted.is_for_review))

    def action_share(self) -> None:
        """Ask what to copy, or to draw, of the shown position and the moves before it."""
        from gomoku_cli.tui.screens.sharing import PICTURES, TEXTS, picture_path, text_of

        game = self.game

        def chosen(key: str | None) -> None:
            if key in TEXTS:
                self.copy_to_clipboard(text_of(game, key))
                there = f" Its page plays on 15x15; set it to {game.rules}." if game.rules != Rules() else ""
                self.show_message(f"Copied as {TEXTS[key]}, if the terminal allows it.{there if key == 'l' else ''}")
            elif key in PICTURES:
                record = game.own_record if game.is_at_end else None
                winner, ending = (record.winner, record.ending) if record is not None else game.ended_here
                black, white = map(game.player_name, (BLACK, WHITE))
                moves, set_up = tuple(game.moves), game.tree.set_up
                drawn = GameRecord(game.rules, moves, winner, black=black, white=white, ending=ending, set_up=set_up)
                shown = StudiedGame(drawn, game.studied().analyses[: game.ply + 1])
                try:
                    path = picture_path(key)
                except OSError as error:  # the folder is gone
                    self.show_message(sentence(f"there is no folder for the picture: {error_message(error)}"), "error")
                else:
                    self._engine.request(Draw(str(path), shown))

        # Pictures of a board behind a page would be files of another machine.
        offered = TEXTS if is_served() else {**TEXTS, **PICTURES}
        text = "Copy?" if is_served() else "Copy, or draw into a file of this folder?"
        self._ask(text, (*offered.items(), ("b", "back")), chosen)

    def action_help(self) -> None:
        """Show the keys."""
        from gomoku_cli.tui.screens.help import board_help

        self.push_screen(board_help())

    def action_saved_games(self) -> None:
        """Ask for the saved games; `show_saved_games` follows."""
        self._engine.request(ListGames(_FIRST_GAMES))
