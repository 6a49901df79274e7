"""All keys of the board, in the order of the help."""

from typing import NamedTuple


class Command(NamedTuple):
    """An action of the app with its key."""

    key: str
    """The key's name in Textual."""
    action: str
    shown: str
    """The key as people write it."""
    name: str
    """The action in a word or two, for the footer and the command palette."""
    help: str
    in_footer: bool = False


THREAT_MARKS = "5 five, 4 open four, + four, 3 open three"
PLAYING = (
    Command("slash", "type_move", "/", "Type a move", "type a move: / h 8 enter; or a capital letter", True),
    Command("u", "course('undo')", "u", "Undo", "undo, back to your own turn", True),
    Command("r", "course('redo')", "r", "Redo", "redo"),
    Command("i", "course('show_hint')", "i", "Hint", "hint: the best move that the analysis knows", True),
    Command("s", "course('swap_sides')", "s", "Swap sides", "swap sides; after the end: rematch"),
    Command("minus", "resign", "-", "Resign", "resign; asks"),
    Command("equals_sign", "offer_draw", "=", "Offer a draw", "offer a draw, or take one"),
    Command("escape", "move_now", "esc", "Move now", "make the engine move now; close a line or pane"),
    Command("n", "new_game", "n", "New game", "new game: opponent, side, board, limits", True),
    Command("plus", "set_up", "+", "Set up", "set up stones, and play from there"),
    Command("o", "saved_games", "o", "Saved games", "saved games"),
    Command("q", "leave", "q", "Quit", "quit; asks during a game", True),
)
UNDERSTANDING = (
    Command("a", "cells", "a", "Analysis", "prior and visits on the cells: colours, numbers, off", True),
    Command("0", "course('pause_analysis')", "0", "Pause the analysis", "pause the analysis, or go on with it"),
    Command("c", "view('candidates')", "c", "Candidates", "table of candidates"),
    Command("v", "pane('variation')", "v", "Variation", "line of the cell under the cursor, as ghost stones"),
    Command("1", "candidate(1)", "1-8", "Line of candidate 1", "line of a candidate, by its number in the table"),
    *(Command(str(n), f"candidate({n})", str(n), f"Line of candidate {n}", "") for n in range(2, 9)),
    Command("g", "view('graph')", "g", "Graph", "win probability over the game"),
    Command("f", "pane('threats')", "f", "Threats", f"threats: {THREAT_MARKS}"),
    Command("m", "pane('numbers')", "m", "Move numbers", "move numbers"),
    Command("t", "teaching", "t", "Teaching", "teaching: warns before a losing move"),
)
REVIEWING = (
    Command("b", "review('toggle')", "b", "Review", "review the game; once more: back to the game"),
    Command("comma", "review('step', -1)", ",", "Move back", "one move back"),
    Command("full_stop", "review('step', 1)", ".", "Move forward", "one move on"),
    Command("less_than_sign", "review('step', -1000)", "<", "First position", "first position"),
    Command("greater_than_sign", "review('step', 1000)", ">", "Last position", "last position"),
    Command("z", "review('to_mistake', -1)", "z", "Previous mistake", "previous mistake"),
    Command("x", "review('to_mistake', 1)", "x", "Next mistake", "next mistake"),
)
VARIATIONS = (
    Command("right_square_bracket", "review('to_variation', 1)", "]", "Next variation", "next variation of the move"),
    Command("left_square_bracket", "review('to_variation', -1)", "[", "Previous variation", "previous variation"),
    Command("w", "review('promote')", "w", "Make main line", "make the variation the main line"),
    Command("d", "delete", "d", "Delete move", "delete the move and all that follow; asks"),
    Command("e", "describe", "e", "Comment", "write a comment and a name"),
)
SHARING = (Command("y", "share", "y", "Copy, export", "copy moves, link, board, SGF; draw PNG, SVG, GIF"),)
SCREEN = (
    Command("p", "panel", "p", "Panel", "fold or open the panel"),
    Command("pageup", "scroll_moves(-1)", "pgup", "Scroll up", "scroll the moves; tab puts the focus on them"),
    Command("pagedown", "scroll_moves(1)", "pgdn", "Scroll down", ""),
    Command("question_mark", "help", "?", "Keys", "this help", True),
)
BOARD = (("arrows", "move the cursor, as do h j k l"), ("enter", "play, as do space and a click"))
MARKS = (("[ ]", "the cursor"), ("( )", "the last move"))
GROUPS = (
    ("Play", PLAYING),
    ("Understand", UNDERSTANDING),
    ("Review", REVIEWING),
    ("Variations", VARIATIONS),
    ("Share", SHARING),
    ("Screen", SCREEN),
)
BY_IMPORTANCE = sorted(
    (command for _, commands in GROUPS for command in commands),
    key=lambda each: ("question_mark", "q", each.key).index(each.key),
)
"""In the order of the footer, whose end a narrow terminal cuts off: the help and the way out are never lost."""
