"""Training of nets: samples and the trainer."""
