"""Makers of the shipped suites, and the provers of their positions."""
