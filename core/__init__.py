"""The game: rules, positions, symmetries, notation, threats and records. Imports no package above it."""
