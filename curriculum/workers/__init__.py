"""Workers that play numbered games: in this process, in one beside it, or on the machines of a Ray cluster."""
