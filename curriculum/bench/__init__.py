"""Benchmarks: evaluation, search and self-play speed of this machine."""
