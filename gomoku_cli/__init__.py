"""Talking to people: the `gomoku` command line and its screens."""

__version__ = "0.1.0"
