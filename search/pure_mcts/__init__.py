"""Pure Monte Carlo tree search: random games in the place of a net."""
