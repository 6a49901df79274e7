"""Sources of training positions: basics, mentor games, self-play games."""
