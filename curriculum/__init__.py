"""Learning: presets, the three phases, the replay buffer, training, the arena and the run folder."""
