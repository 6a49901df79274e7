"""Line-pattern nets: patterns by their numbers, and the evaluation of positions by compiled kernels."""
