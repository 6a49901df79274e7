"""Names of players; imports nothing, so that help stays fast."""

DEFAULT = "default"
PAPER = "paper"
RANDOM = "random"
MENTOR = "mentor"
PAPER_MENTOR = "mentor:paper"
MENTOR_LEVELS = tuple(f"{MENTOR}:{level}" for level in range(1, 6))
"""From the weakest to the strongest; `search.mentor.player.LEVELS` has their limits."""
LEVELS = tuple(f"level:{level}" for level in range(1, 10))
"""From a beginner to the strongest; `curriculum.arena.levels` describes them."""
PURE_MCTS = "pure-mcts"
ENGINE = "engine"

EXAMPLES = (DEFAULT, PAPER, RANDOM, *LEVELS, MENTOR, *MENTOR_LEVELS, PAPER_MENTOR, f"{PURE_MCTS}:1000", f"{ENGINE}:")
"""A player of every kind without a file; the command of an engine is missing."""
HELP = (
    f"{DEFAULT}, {PAPER}, a model file, a run folder, {LEVELS[0]} to 9, {RANDOM}, {MENTOR}, {MENTOR_LEVELS[0]} to 5, "
    f"{PAPER_MENTOR}, {PURE_MCTS}:N or {ENGINE}:COMMAND (a program that speaks the Gomocup protocol)"
)
"""All spellings of a player."""
