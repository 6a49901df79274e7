"""Games under study: kept analyses, saved games, reviews, threats and explanations."""
