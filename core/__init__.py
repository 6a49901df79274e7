"""The game itself: rules, positions, symmetries, notation and records. Imports nothing above it."""
