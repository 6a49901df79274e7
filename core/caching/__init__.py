"""The user's cache folder: compiled kernels and saved graphs that are checked before use."""
