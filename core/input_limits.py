"""Limits of everything that comes from outside: sizes of files, nets, boards, lines and numbers.

Readers check against these before they build anything, and each refusal states its limit. A file within its limit
costs no more memory than a small multiple of its size. The limits are far above every real use.
"""

from core.rules import MAX_SIZE, MIN_SIZE

MIN_BOARD_SIZE, MAX_BOARD_SIZE = MIN_SIZE, MAX_SIZE

# Files, in bytes

MAX_GAMES_BYTES = 64 << 20
"""A file of games (.sgf, .psq) or of openings."""
MAX_CONFIG_BYTES = 1 << 16
"""A configuration (.toml)."""
MAX_JSON_BYTES = 1 << 20
"""A file with one JSON value: the state of a run, the plan of a match."""
MAX_JSON_LINES_BYTES = 1 << 30
"""A file of JSON lines: metrics, games of a match."""
MAX_MODEL_BYTES = 512 << 20
"""A model file."""
MAX_MODEL_HEADER_BYTES = 1 << 20
"""The header of a model file: names and shapes of its tensors, and its metadata."""
MAX_TRAINING_STATE_BYTES = 2 * MAX_MODEL_BYTES
"""The state of a training: weights and momentum."""
MAX_SAMPLES_BYTES = 8 << 30
"""A file of samples, with its arrays unpacked."""
MAX_GRAPHS_BYTES = 1 << 30
"""Saved graphs of a model."""
MAX_TABLE_BYTES = 256 << 20
"""A saved table of a line-pattern net."""
MAX_KERNEL_BYTES = 64 << 20
"""A compiled kernel in the cache."""

# Text

MAX_INTEGER = 2**63 - 1
"""The absolute value of a number in a file or an option."""
MAX_JSON_DEPTH = 64
"""Levels of objects and arrays in a JSON value."""
MAX_TOML_DEPTH = 8
"""Levels of tables and arrays in a configuration."""
MAX_TOML_DOTS = 100
"""Dots in a line of a configuration: Python takes minutes for keys of thousands of parts."""
MAX_SECONDS = 10**9
"""A time."""
MAX_SHOWN_CHARACTERS = 2_000
"""An error line, and a value of a model's metadata on the terminal."""
MAX_QUOTED = 60
"""Characters of a text from outside in a message."""
MAX_REASON = 300
"""Characters of an error of a library in a message, since it may quote the input."""
MAX_RECORDS = 1_000_000
"""Games or openings of a file, and games of a match."""
MAX_ELO = 3_000
"""A difference of two players: above it one of them wins every game."""
MAX_PROPERTIES = 1_000
"""Properties of a node of an SGF game."""
MAX_TREE_NODES = 500_000
"""Nodes of a file whose games are read with their variations, some 200 MB; main lines alone have no such limit."""

MAX_PLAYER_LENGTH = 4096
"""Characters of a player's name; the command of an engine is the longest."""

# Lines of the Gomocup protocol

MAX_COMMAND_LENGTH = 1000
"""Characters of a manager's line, far above any of the protocol; a longer one is cut to one character more."""
MAX_COMMANDS_AHEAD = 10_000
"""Lines of a manager that are read ahead."""
MAX_ANSWER_BYTES = 4096
"""A line of an engine; a longer one is cut."""
MAX_ANSWERS_AHEAD = 64
"""Lines of an engine that are kept until they are read; older ones go."""
MAX_STDERR_BYTES = 4096
"""The end of an engine's stderr that is kept."""

# Keys and mouse of a terminal

MAX_UNHANDLED_EVENTS = 256
"""Keys and movements of the mouse that wait for the board; more of them are dropped."""
MAX_TERMINAL_EDGE = 2000
"""Columns or rows of a terminal that an escape sequence may claim."""

# The board in a browser

MAX_PAGES = 8
"""Pages with a board at a time."""
MAX_PAGE_EDGE = 500
"""Columns or rows of a page; more are cut off."""
MAX_PAGE_MESSAGE_BYTES = 1 << 16
"""A message of a page: the longest is a text that is pasted."""
MAX_PAGE_FRAME_BYTES = 1 << 24
"""A frame that a board draws."""
MAX_PAGE_TREE_BYTES = 24 << 20
"""The tree of a search behind a page."""
MAX_PAGE_DATA_BYTES = 2 << 30
"""Data of each process behind a page, where the system can limit it."""

# Nets

MAX_DIMENSIONS = 4
"""Dimensions of a tensor."""
MAX_FILTERS = 1024
"""Filters of a convolution, and units of a hidden layer."""
MAX_LAYERS = 128
"""Layers of a net's trunk, and of a head."""
MAX_KERNEL = 11
"""Cells along an edge of a convolution's kernel."""
MAX_PADDING = 8
"""Rings of zeros that a convolution puts around the board."""
MAX_PARAMETERS = 100_000_000
"""Trainable parameters, all nets of a model together."""

# Searches

MAX_SIMULATIONS = 10_000_000
"""Simulations of a move: their tree takes some 5 GB on 15x15."""
MAX_MOVE_SECONDS = 1_000_000
"""A time limit of a move or a game on the command line: more than a week."""
MAX_PACE_S = 3_600
"""Seconds from move to move, where two engines play on the board."""
MAX_EXPLORATION = 1_000_000
"""Weights of exploration."""
MAX_VIRTUAL_LOSS = 1_000
"""Lost visits for a descent in flight."""
MAX_LEAVES_IN_FLIGHT = 1_024
"""Leaves of a tree that wait for the net at once."""
MAX_BATCHES_IN_FLIGHT = 64
"""Batches with these leaves."""
MAX_VISITS_PER_LEAF = 1_000_000
"""Visits of a tree for each of them."""
MAX_VCF_NODES = 100_000_000
"""Nodes of a search for a victory by continuous fours."""


def quoted(text: str, limit: int = MAX_QUOTED) -> str:
    """Return a text from outside in quotes, as a message shows it: printable, on one line, and not too long."""
    shown = repr(text[: limit + 1])
    return shown if len(shown) <= limit + 2 else f"{shown[: limit - 2]}...{shown[0]}"


def shortened(text: str, limit: int = MAX_QUOTED) -> str:
    """Return a text from outside as `quoted` does, without the quotes."""
    return quoted(text, limit)[1:-1]
