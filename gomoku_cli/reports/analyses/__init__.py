"""Analyses of positions: as JSON, on the terminal, as figures, and a line each."""
