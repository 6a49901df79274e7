"""Matches: players by name, fixtures, play, results, tournaments, the ladder and suites."""
