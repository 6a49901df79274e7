"""Commands that show results: a position as a player sees it, a game, and the curves of a training."""
