"""Drivers of the board: what brings keys to the app and takes its screen away."""
