"""Puzzles: positions with proven answers to solve on the board, rated, with the progress of their player."""
