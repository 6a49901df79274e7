"""The screen of `gomoku watch`: a run's curves, its place in the curriculum, and its newest game."""
