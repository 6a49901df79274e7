"""How players are written, for whoever only needs the words; it imports nothing."""

DEFAULT = "default"
RANDOM = "random"
MENTOR = "mentor"
PAPER_MENTOR = "mentor:paper"
PURE_MCTS = "pure-mcts"

EXAMPLES = (DEFAULT, RANDOM, MENTOR, PAPER_MENTOR, f"{PURE_MCTS}:1000")
"""A player of every kind that is no file."""
HELP = f"{DEFAULT}, a model file, a run folder, {RANDOM}, {MENTOR}, {PAPER_MENTOR} or {PURE_MCTS}:N"
"""All ways to write a player."""
