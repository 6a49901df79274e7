"""Solvers of forced wins: continuous fours, and continuous fours and threes."""
