"""The commands about training runs: their settings, their list, their view and their report."""
