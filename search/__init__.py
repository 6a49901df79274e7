"""Looking ahead: compiled Monte Carlo tree search, rollouts and the mentor. Knows no torch."""
