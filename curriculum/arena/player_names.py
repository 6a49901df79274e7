"""How players are written, for whoever only needs the words; it imports nothing."""

DEFAULT = "default"
RANDOM = "random"
MENTOR = "mentor"
PAPER_MENTOR = "mentor:paper"
MENTOR_LEVELS = tuple(f"{MENTOR}:{level}" for level in range(1, 6))
"""From the weakest to the strongest; `search.mentor.player.LEVELS` says how long they think."""
PURE_MCTS = "pure-mcts"
ENGINE = "engine"

EXAMPLES = (DEFAULT, RANDOM, MENTOR, *MENTOR_LEVELS, PAPER_MENTOR, f"{PURE_MCTS}:1000", f"{ENGINE}:")
"""A player of every kind that is no file; an engine's command is to follow."""
HELP = (
    f"{DEFAULT}, a model file, a run folder, {RANDOM}, {MENTOR}, {MENTOR_LEVELS[0]} to 5, {PAPER_MENTOR}, "
    f"{PURE_MCTS}:N or {ENGINE}:COMMAND (a program that speaks the Gomocup protocol)"
)
"""All ways to write a player."""
