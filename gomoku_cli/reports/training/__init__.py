"""Reports of training runs: where a run is, its curves over time, its newest games, its configuration."""
