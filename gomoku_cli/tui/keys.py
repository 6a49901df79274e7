"""All keys of the board, in the order of the help."""

from typing import NamedTuple

from textual.keys import format_key


class Command(NamedTuple):
    """An action of the app with its key."""

    key: str
    """The key's name in Textual."""
    action: str
    name: str
    """The action in a word or two, for the footer."""
    help: str
    in_footer: bool = False

    @property
    def shown(self) -> str:
        """The key as people write it; the first candidate stands for all of them."""
        return "1-8" if self.key == "1" else format_key(self.key)

    @property
    def title(self) -> str:
        """The action with its help, for the command palette, which looks for words in titles alone."""
        if self.help.lower().startswith(self.name.lower()):
            return self.help[0].upper() + self.help[1:]
        return f"{self.name}: {self.help}" if self.help else self.name


THREAT_MARKS = "5 five, 4 open four, + four, 3 open three"
GROUPS = {
    "Play": (
        Command("slash", "type_move", "Type a move", "type a move: / h 8 enter; or a capital letter", True),
        Command("u", "course('undo')", "Undo", "undo, back to your own turn", True),
        Command("r", "course('redo')", "Redo", "redo"),
        Command("i", "course('show_hint')", "Hint", "hint: the best move that the analysis knows", True),
        Command("s", "course('swap_sides')", "Swap sides", "swap sides; after the end: rematch"),
        Command("minus", "resign", "Resign", "resign; asks"),
        Command("equals_sign", "offer_draw", "Offer a draw", "offer a draw, or take one"),
        Command("escape", "move_now", "Move now", "make the engine move now; close a line or pane"),
        Command("n", "new_game", "New game", "new game: opponent, level, side, board", True),
        Command("ctrl+o", "players", "Change players", "another opponent, level or side in this game"),
        Command("plus", "set_up", "Set up", "set up stones, and play from there"),
        Command("o", "saved_games", "Saved games", "saved games"),
        Command("q", "leave", "Quit", "quit; asks during a game", True),
    ),
    "Understand": (
        Command("a", "cells", "Analysis", "prior and visits on the cells: colours, numbers, off", True),
        Command("0", "course('pause_analysis')", "Pause the analysis", "pause the analysis, or go on with it"),
        Command("c", "view('candidates')", "Candidates", "table of candidates"),
        Command("v", "pane('variation')", "Variation", "line of the cell under the cursor, as ghost stones"),
        Command("1", "candidate(1)", "Line of candidate 1", "line of a candidate, by its number in the table"),
        *(Command(str(n), f"candidate({n})", f"Line of candidate {n}", "") for n in range(2, 9)),
        Command("g", "view('graph')", "Graph", "win probability over the game"),
        Command("f", "pane('threats')", "Threats", f"threats: {THREAT_MARKS}"),
        Command("m", "pane('numbers')", "Move numbers", "move numbers"),
        Command("t", "teaching", "Teaching", "teaching: warns before a losing move"),
    ),
    "Review": (
        Command("b", "course('review.toggle')", "Review", "review the game; once more: back to the game"),
        Command("comma", "course('review.step', -1)", "Move back", "one move back"),
        Command("full_stop", "course('review.step', 1)", "Move forward", "one move on"),
        Command("less_than_sign", "course('review.step', -1000)", "First position", "first position"),
        Command("greater_than_sign", "course('review.step', 1000)", "Last position", "last position"),
        Command("z", "course('review.to_mistake', -1)", "Previous mistake", "previous mistake"),
        Command("x", "course('review.to_mistake', 1)", "Next mistake", "next mistake"),
    ),
    "Variations": (
        Command(
            "right_square_bracket", "course('review.to_variation', 1)", "Next variation", "next variation of the move"
        ),
        Command("left_square_bracket", "course('review.to_variation', -1)", "Previous variation", "previous variation"),
        Command("w", "course('review.promote')", "Make main line", "make the variation the main line"),
        Command("d", "delete", "Delete move", "delete a move and what follows; u undoes"),
        Command("e", "describe", "Comment", "write a comment and a name"),
    ),
    "Share": (Command("y", "share", "Copy, export", "copy moves, link, board, SGF; draw PNG, SVG, GIF"),),
    "Screen": (
        Command("p", "panel", "Panel", "fold or open the panel"),
        Command("pageup", "scroll_moves(-1)", "Scroll up", "scroll the moves; tab puts the focus on them"),
        Command("pagedown", "scroll_moves(1)", "Scroll down", ""),
        Command("question_mark", "help", "Keys", "this help", True),
    ),
}
BOARD = (("arrows", "move the cursor, as do h j k l"), ("enter", "play, as do space and a click"))
MARKS = (("[ ]", "the cursor"), ("( )", "the last move"), ("x", "forbidden to Black; x5: White's five"))
BY_IMPORTANCE = sorted(
    (command for commands in GROUPS.values() for command in commands),
    key=lambda each: ("question_mark", "q", each.key).index(each.key),
)
"""In the order of the footer, whose end a narrow terminal cuts off: the help and the way out are never lost."""
