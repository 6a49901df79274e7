"""Layers of nets by their names, with their tensors, without torch."""
