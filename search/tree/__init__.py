"""Monte Carlo tree search: many trees as arrays, compiled steps, and the driver that batches leaves for a net."""
