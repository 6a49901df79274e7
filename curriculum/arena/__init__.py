"""Matches: fixtures, play, results, tournaments, the ladder and the tactical suite."""
