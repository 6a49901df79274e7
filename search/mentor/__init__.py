"""The mentors: a classical alpha-beta engine, and the one-ply mentor of paper A."""
