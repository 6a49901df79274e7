"""Judging positions: policy-value nets, their files and the evaluator that serves them to a search."""
