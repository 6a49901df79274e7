"""Sources of training samples: basics, games of a teacher, games of self-play."""
