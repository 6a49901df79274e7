"""The review of a game: steps through its positions, analyses of all of them, and its mistakes."""

from typing import Protocol

from core.records.tree import Node
from gomoku_cli.tui.engine.messages import Analysed, Graded, GradeMoves, Search
from gomoku_cli.tui.game import Game
from gomoku_cli.tui.setup import Course
from gomoku_cli.tui.tasks import OF_POSITION, REVIEWING, Tasks
from gomoku_cli.tui.view import View

REVIEW_S = 0.4
"""Time for each position without an analysis of the analyst."""


class Owner(Protocol):
    """The owner of a game, as its review and its match see it: `gomoku_cli.tui.control.Control`."""

    game: Game
    review: "Review"
    course: Course

    @property
    def is_held_up(self) -> bool:
        """True while the game waits for something else than its players."""

    def analysis_task(self, seconds: float, ply: int | None = None) -> Search:
        """Return the task to analyse the position after `ply` moves."""

    def continue_game(self) -> None:
        """Show the changed game, and go on with it."""

    def use_turn(self) -> None:
        """Begin what the open panes need."""

    def show_state(self) -> None:
        """Show the place in the review."""

    def keep(self) -> None:
        """Save the game as it stands."""


class Review:
    """Shows any position of the game, while the analyst looks at those that it has not analysed.

    The players' own analyses do not count: each took its own moves for the best.
    """

    def __init__(self, control: Owner, tasks: Tasks, view: View) -> None:
        self.active = False
        self.grades: dict[int, tuple[str, float]] = {}
        """The marks and losses of mistakes as far as they are known, by their plies."""
        self._control = control
        self._tasks = tasks
        self._view = view
        self._next = 0
        """The ply that is being analysed."""
        self._direction = 0
        """That of a wish for a mistake, which waits for grades."""

    @property
    def marks(self) -> dict[int, str]:
        """The mark of each ply, counted from 1, that has one."""
        return {ply: mark for ply, (mark, _) in self.grades.items()} if self.active else {}

    def toggle(self) -> None:
        """Begin or end the review."""
        if self.active:
            self.leave(here=False)
            self._control.continue_game()
        elif self._may_begin():
            self.begin()

    def begin(self) -> None:
        """Begin at the shown position."""
        self._open()
        self._control.continue_game()

    def _may_begin(self) -> bool:
        """Return False, with a message, if there is no move."""
        if not self._control.game.line:
            self._view.show_message("There is no move to review yet.", "error")
        return bool(self._control.game.line)

    def _open(self) -> None:
        self._tasks.drop(*OF_POSITION)
        self.active = True
        self._go_on()

    def leave(self, *, here: bool) -> None:
        """End the review: at the shown position, or at the end of the game."""
        self._direction = 0
        self._tasks.drop(*REVIEWING)
        self.active = False
        game = self._control.game
        if not here:
            game.go_to(len(game.nodes))
            if game.stands:  # a variation that has not all stones of the opening
                game.go_to_node(game.tree.main_line()[-1])

    def fill(self) -> None:
        """Analyse what is missing for the graph of a game that is over, without a review."""
        if "review" not in self._tasks and self._missing:
            self._go_on()

    def forget(self) -> None:
        """End the review and forget its grades: another game comes."""
        self.active = False
        self.grades = {}

    def step(self, plies: int) -> None:
        """Go back or on by so many plies; begin the review if there is none."""
        if self.active or self._may_begin():
            # The game goes on once, at its new place: a second time would hide why it is not rated any more.
            if not self.active:
                self._open()
            game = self._control.game
            game.go_to(min(max(game.ply + plies, 0), len(game.nodes)))
            self._control.continue_game()

    def to_variation(self, direction: int) -> None:
        """Go to the next variation of this move (1), or the one before (-1)."""
        if not self.active:
            self.toggle()
        if self.active and self._control.game.go_to_sibling(direction):
            self.begin_anew()
        elif self.active:
            is_ahead = len(self._control.game.node.variations) > 1
            follows = ", but the next one has: . goes there" if is_ahead else ""
            self._view.show_message(f"No move up to here has a variation{follows}.")

    def to_move(self, ply: int, number: int) -> None:
        """Go to a move of the position after `ply` moves: by its place there, or -1 for the move of the line."""
        if not self.active:
            self._open()  # there is a move, in the list
        game = self._control.game
        line = game.nodes
        game.go_to_node(line[ply] if number < 0 else game.node_at(ply).variations[number])
        if game.nodes is line:
            self._control.continue_game()
        else:
            self.begin_anew()

    def promote(self) -> None:
        """Make the variation that is shown the main one where it branches off."""
        game = self._control.game
        if not game.promote():
            decided = "The main line decided the game or its colours, so it stays."
            text = "This is the main line." if game.node.is_main() else decided
        else:
            text = "This is the main line now." if game.node.is_main() else "It comes first here; w again: further on."
        self._changed(text)

    def delete(self, node: Node) -> None:
        """Remove a move and all that follow."""
        if not self.active:
            self.begin()
        self._control.game.go_to_node(node)
        name = self._control.game.name_of(self._control.game.moves[-1])
        self._control.game.delete()
        self.begin_anew()
        self._changed(f"{name} and all that followed are deleted: u brings them back.")

    def restore(self) -> bool:
        """Bring back what was deleted last in the shown position; return False if nothing was, or without a review."""
        game = self._control.game
        if not (self.active and game.restore()):
            return False
        self.begin_anew()
        self._changed(f"{game.name_of(game.moves[-1])} and all that followed are back.")
        return True

    def describe(self, node: Node, name: str, comment: str) -> None:
        """Give a position a name and a comment."""
        self._control.game.describe(node, name, comment)
        self._changed("")

    def _changed(self, text: str) -> None:
        self._control.keep()
        self._view.show_game()
        if text:
            self._view.show_message(text)

    def begin_anew(self) -> None:
        """Review another line, or by another analyst: the grades of before are not its own."""
        self._tasks.drop(*REVIEWING)
        self.grades = {}
        self._go_on()
        self._control.continue_game()

    def to_mistake(self, direction: int) -> None:
        """Go to the position after the next mistake, or the previous one for a `direction` of -1.

        While the review still runs, the moves so far are graded first.
        """
        if not self.active:
            self.toggle()
        if not self.active:
            return
        if "review" in self._tasks:
            self._direction = direction
            self._grade()
        elif "grades" in self._tasks:
            self._direction = direction
        else:
            self._jump(direction)

    def _jump(self, direction: int) -> None:
        shown = self._control.game.ply
        plies = [ply for ply, (mark, _) in self.grades.items() if mark != "?!" and (ply - shown) * direction > 0]
        if plies:
            self.step((min(plies) if direction > 0 else max(plies)) - shown)
            return
        where = "after" if direction > 0 else "before"
        if "review" in self._tasks:
            text = f"No mistake {where} this position so far: the review has {self._progress()} positions."
        else:
            text = f"There is no mistake {where} this position."
        self._view.show_message(text)

    def text(self) -> str:
        """Return the place in the game, and the mark of the last move."""
        game = self._control.game
        text = f"Review: move {game.ply} of {len(game.nodes)}{_place(game)}."
        if game.ply in self.grades:
            mark, loss = self.grades[game.ply]
            kind = {"?!": "an inaccuracy", "?": "a mistake", "??": "a blunder"}[mark]
            move, before, better = game.last_moves[0], game.analysis_at(game.ply - 1), ""
            if before is not None and before.best_move != move:
                better = f"; better {game.name_of(before.best_move)}"
            text += f" {game.name_of(move)} was {kind}: it lost {100 * loss:.0f} % to win{better}."
        if "review" in self._tasks:
            return f"{text} Analysed: {self._progress()}."
        return f"{text} Keys: , and . step, z and x find mistakes, b ends it."

    def _progress(self) -> str:
        """Return `12 of 40`: the positions that the analyst has seen, and all."""
        return f"{len(self._plies) - len(self._missing)} of {len(self._plies)}"

    def receive(self, answer: Analysed | Graded) -> None:
        """Keep the analysis of a position, or the grades of the moves."""
        control = self._control
        if isinstance(answer, Graded):
            self.grades = answer.moves
            self._view.show_game()
            direction, self._direction = self._direction, 0
            if direction:
                self._jump(direction)
        else:
            control.game.learn(self._next, answer.analysis, control.game.analyst.spec, instead=True)
            self._go_on()
            self._view.show_game()
        control.show_state()

    @property
    def _plies(self) -> range:
        """The positions of the game that can be analysed, by their plies."""
        game = self._control.game
        return range(game.tree.set_up, len(game.nodes) + (not game.at(len(game.nodes)).is_game_over()))

    @property
    def _missing(self) -> list[int]:
        """Those that the analyst has not analysed."""
        game = self._control.game
        return [ply for ply in self._plies if game.speaker_at(ply) != game.analyst.spec]

    def _go_on(self) -> None:
        """Ask for the next position without an analysis, the shown one first, and for the grades at the end."""
        control, missing = self._control, self._missing
        if missing:
            self._next = control.game.ply if control.game.ply in missing else missing[0]
            self._tasks.begin("review", control.analysis_task(REVIEW_S, self._next))
            return
        self._grade()
        control.keep()
        control.use_turn()

    def _grade(self) -> None:
        game = self._control.game
        self._tasks.begin("grades", GradeMoves(game=game.studied()))


def _place(game: Game) -> str:
    """Return the place of the shown move among its variations; nothing where it has none and is on the main line."""
    siblings = game.node_at(game.ply - 1).variations if game.ply else []
    if len(siblings) > 1:
        return f", variation {siblings.index(game.node) + 1} of {len(siblings)}"
    return "" if game.node.is_main() else ", in a variation"
