"""Searches and players: compiled Monte Carlo tree search, the mentor, threat solvers, engines. Imports no torch."""
