"""Nets: policy-value nets, their files, and the evaluators that serve them to a search."""
