"""Sizes and number formats of line-pattern nets. Needs no numpy."""

LANES = 16
"""Channels that a kernel computes together."""
ROWS = 4
"""Cells whose products over channels a kernel computes together: each weight is read once for them."""
CHANNELS_STEP, MAX_CHANNELS = 2 * LANES, 96
"""Channels of features come in multiples of the one; of more than the other the products would not fit in 32 bits."""
POOLED = LANES - 1
"""Channels that a value head pools; beside them the policy has a place."""
UNIT_BITS, TOP = 7, 2047
"""Activations are integers from 0 to `TOP`, in units of 2^-7: from 0 to 16."""
LIFT_BITS = 4
"""Features that a spread layer reads are shifted to the left by these: the upper half of their product with a weight is
then in units of 2^-8, without a shift for each of the nine."""
ROW_TOP = 8191
"""The largest number in a row of the table, in the same units: four of them fit in 16 bits."""
NEAR_BITS, NEAR_TOP = 13, 7050
"""Weights of the depthwise convolution, in units of 2^-13: from -0.86 to 0.86, so that nine products and a bias fit in
16 bits."""
MIX_BITS, MIX_TOP = 12, 8191
"""Weights of a product over channels, in units of 2^-12: from -2 to 2."""
DENSE_BITS, DENSE_TOP = 11, 4095
"""Weights of a fully connected layer, in units of 2^-11: from -2 to 2."""
MAX_DENSE = 224
"""Hidden units that a further hidden layer may read: their products and a bias fit in 32 bits."""
REGIONS = 3
"""Regions along an edge of the board, over which a value head takes means."""
MEAN_SCALE = 4
"""Such a mean counts so many times: features are rare, so their means are small."""

REACH = 5
"""Cells on each side of the middle."""
