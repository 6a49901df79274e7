"""Progress of long work: rates and times left, and bars on a terminal."""
