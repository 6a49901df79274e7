"""Matches: players by name, fixtures, play, results, tournaments, the ladder and the tactical suite."""
