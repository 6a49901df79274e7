"""Solvers of forced wins: victory by continuous fours."""
