"""Commands that train: all phases, and one each."""
