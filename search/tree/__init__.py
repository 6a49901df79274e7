"""Monte Carlo tree search: many trees as arrays, compiled steps, and a driver that batches leaves for the evaluator."""
