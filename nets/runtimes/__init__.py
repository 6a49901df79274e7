"""Runtimes: libraries that run a model's nets, and the evaluators on top of them."""
