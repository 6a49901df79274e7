"""The error of nets over the number of positions that they learn."""
