"""Scores of the mentor: whole numbers for the side to move, in which a win counts its plies."""

INFINITY = 32_000
"""More than any score."""
WIN = 30_000
"""A won game; `WIN - n` is a win in `n` plies, `n - WIN` a loss in `n` plies."""
PROVEN = WIN - 1_000
"""Scores of at least this size are proven: the search tried every defence, not just the likely ones."""
LIKELY = 20_000
"""`LIKELY - n` wins in `n` plies against every move that was tried, but not every move was tried."""
MATE = LIKELY - 1_000
"""Scores of at least this size count plies."""
