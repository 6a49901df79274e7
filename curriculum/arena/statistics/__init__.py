"""Statistics of matches: Elo differences, sequential tests, ratings."""
