"""How players are written, for whoever only needs the words; it imports nothing."""

DEFAULT = "default"
RANDOM = "random"
MENTOR = "mentor"
PAPER_MENTOR = "mentor:paper"
PURE_MCTS = "pure-mcts"
ENGINE = "engine"

EXAMPLES = (DEFAULT, RANDOM, MENTOR, PAPER_MENTOR, f"{PURE_MCTS}:1000", f"{ENGINE}:")
"""A player of every kind that is no file; an engine's command is to follow."""
HELP = (
    f"{DEFAULT}, a model file, a run folder, {RANDOM}, {MENTOR}, {PAPER_MENTOR}, {PURE_MCTS}:N or "
    f"{ENGINE}:COMMAND (a program that speaks the Gomocup protocol)"
)
"""All ways to write a player."""
