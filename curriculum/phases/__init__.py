"""The three phases of the curriculum, and all of them in order."""
