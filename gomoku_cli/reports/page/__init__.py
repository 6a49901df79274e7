"""The report of runs as one page of HTML: curves, matches, key games, configuration and environment."""
