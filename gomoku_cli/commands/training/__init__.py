"""The commands about training: the phases, and the settings, the list, the view and the report of runs."""
