"""Games under study: kept analyses, saved games, reviews, threats and explanations."""

OWN_NOTE = "Settings: "
"""Beginning of the note of a saved game of the board: the settings of its players follow as JSON."""
