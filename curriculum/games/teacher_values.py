"""A teacher's values on the scale of the decayed results that they are mixed with.

The result of a position is ±decay^(plies left - 1) for the side to move (A III-C). The mentor's own value does not
count plies: a certain win is 1, however far. Mixed as they are, the two would give one position two targets.
"""

import math

from search.players import Decision

_PLIES_AT_EVEN, _PLIES_PER_VALUE = 33.0, 18.0
"""Expected plies left - 1 at a value v without a proof: 33 - 18 |v|. The least-squares line through 19,519 positions of
`mentor:3` on 15x15 is 33.0 - 17.8 |v| (`benchmarks.teacher_value --games 1200` of commit 34e4d2d)."""


def decayed_value(decision: Decision, empty_cells: int, decay: float) -> float | None:
    """Return the decision's value on the scale of results decayed by `decay` per ply; None if it has no value.

    A proven result in k plies is ±decay^(k-1), the result of a game that ends so. Any other value is decayed by the
    plies that games with this value are expected to last, at most `empty_cells`. A value that its player has decayed
    already stays as it is.
    """
    value = decision.value
    if value is None:
        return None
    if decision.plies_to_end is not None:
        return math.copysign(decay ** (decision.plies_to_end - 1), value)
    if decision.value_decay < 1:
        return value
    return value * math.pow(decay, min(_PLIES_AT_EVEN - _PLIES_PER_VALUE * abs(value), empty_cells - 1))
