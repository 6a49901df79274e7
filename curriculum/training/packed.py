"""Samples in some 30 bytes each instead of a thousand: for files, replay buffers and sets of many million positions.

The positions of a game are beginnings of one line of stones. A policy has an entry for each move that it holds: the
steps from the cell before, and a weight out of 250. A value has 16 bits.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from core.evaluation import PositionBatch
from core.rules import BLACK, NO_CELL, WHITE
from curriculum.training.samples import Samples
from nets.targets import POLICY, VALUE, Target, all_targets

WEIGHTS = 250
"""Sum of the weights of a policy. With entries that hold no move its number of entries still fits a byte."""
TOP = 32_767
"""The integer of a value of 1."""
_BLACK, _LAST, _BEFORE, FIRST, _STONES = 1, 2, 4, 8, 4
"""Bits of `facts`, and the first bit of the number of stones."""
_LONGEST_STEP = 255
_CHUNK = 1 << 16

KINDS: dict[str, type[np.generic]] = {
    "board": np.uint16,
    "lines": np.uint16,
    "facts": np.uint16,
    "results": np.int16,
    "policy_lengths": np.uint8,
    "policy_steps": np.uint8,
    "policy_weights": np.uint8,
}
"""The arrays of packed samples by name, besides auxiliary targets. `board` [1]: the number of cells."""

Arrays = Mapping[str, NDArray[Any]]
Rows = slice | NDArray[np.intp]


def auxiliary_targets() -> list[Target]:
    """Return the targets that samples may have besides policy and value; they are not packed."""
    return all_targets()[2:]


class SampleSet(Protocol):
    """Samples of which some are read at a time: `Samples`, `Packed`, or those of several files."""

    def __len__(self) -> int:
        """Return the number of samples."""

    @property
    def to_move(self) -> NDArray[np.int8]:
        """[B] the side to move."""

    def rows(self, which: Rows) -> Samples:
        """Return some of the samples."""


class Packed:
    """`B` packed samples, in memory or mapped from a file; `rows` are plain ones.

    A probability differs from the one that was packed by less than 1/250, a value by less than 1/60,000.
    """

    def __init__(self, arrays: Arrays) -> None:
        """`arrays`: those of `KINDS`, and auxiliary targets by the names of their arrays.

        - `lines` [S]: the stones of each line in order: twice the cell, and one more for a black stone
        - `facts` [B]: the number of stones on the board, and from bit 0: black is to move; the last move is known, the
          one before it is; the sample is the first one of its line
        - `results` [B]: the value for the side to move, in units of 1/32,767
        - `policy_lengths` [B]: entries of each policy
        - `policy_steps`, `policy_weights` [E]: cells from the entry before, at first from cell 0, and probability in
          units of 1/250, 0 for an entry that only bridges a long step

        Raises `ValueError` for arrays that do not belong together or hold what no sample has.
        """
        self.arrays = arrays
        self.cells = int(arrays["board"][0])
        facts = arrays["facts"]
        self._stones = (facts >> _STONES).astype(np.uint16)
        new = (facts & FIRST) > 0
        if len(facts) and not new[0]:
            raise ValueError("its first sample is no first one of a line")
        ends = self._stones[np.append(new[1:], True)[: len(new)]].astype(np.int64)
        self._starts = _starts(ends)[np.cumsum(new) - 1].astype(np.uint32) if len(facts) else np.zeros(0, np.uint32)
        self._policies = _starts(arrays["policy_lengths"]).astype(np.uint32)
        self._check(int(ends.sum()))

    def _check(self, stones: int) -> None:
        arrays, count = self.arrays, len(self._stones)
        lines, steps, weights = (arrays[name] for name in ("lines", "policy_steps", "policy_weights"))
        if (
            any(len(arrays[name]) != count for name in ("results", "policy_lengths"))
            or stones != len(lines)
            or len(steps) != len(weights)
            or int(arrays["policy_lengths"].sum(dtype=np.int64)) != len(steps)
        ):
            raise ValueError("its arrays do not belong together")
        if count == 0:
            return
        if int((self._starts + self._stones.astype(np.int64)).max()) > len(lines) or (
            len(lines) and int(lines.max()) >= 2 * self.cells
        ):
            raise ValueError("lines has values that no sample has")
        known = (arrays["facts"] & _LAST > 0).astype(np.int8) + (arrays["facts"] & _BEFORE > 0)
        if (known > self._stones).any():
            raise ValueError("facts has values that no sample has")
        if int(np.abs(arrays["results"].astype(np.int32)).max()) > TOP:
            raise ValueError("results has values that no sample has")
        if not int(arrays["policy_lengths"].min()):
            raise ValueError("policy_lengths has values that no sample has")
        for name, least, most in (("policy_steps", 0, self.cells - 1), ("policy_weights", WEIGHTS, WEIGHTS)):
            for first in range(0, count, _CHUNK):  # sums of a chunk at a time, since they are eight times as large
                starts = self._policies[first : first + _CHUNK].astype(np.intp)
                end = self._policies[first + _CHUNK] if first + _CHUNK < count else len(steps)
                sums = np.add.reduceat(arrays[name][starts[0] : end], starts - starts[0], dtype=np.int64)
                if sums.min() < least or sums.max() > most:
                    raise ValueError(f"{name} has values that no sample has")

    def __len__(self) -> int:
        return len(self._stones)

    @property
    def to_move(self) -> NDArray[np.int8]:
        """[B] the side to move."""
        return np.where(self.arrays["facts"] & _BLACK, BLACK, WHITE).astype(np.int8)

    @property
    def all(self) -> Samples:
        """All samples, unpacked."""
        return self.rows(slice(None))

    def rows(self, which: Rows) -> Samples:
        """Return some of the samples."""
        facts, stones = self.arrays["facts"][which], self._stones[which]
        row, place = _ragged(self._starts[which], stones)
        codes = self.arrays["lines"][place]
        batch = PositionBatch.empty(len(facts), self.cells)
        batch.stones[row, codes >> 1] = np.where(codes & 1, BLACK, WHITE)
        batch.to_move[:] = np.where(facts & _BLACK, BLACK, WHITE)
        end = self._starts[which].astype(np.intp) + stones
        for back, known in enumerate((facts & _LAST > 0, facts & _BEFORE > 0)):
            end[known] -= 1
            batch.last_moves[known, back] = self.arrays["lines"][end[known]] >> 1
        lengths = self.arrays["policy_lengths"][which]
        row, place = _ragged(self._policies[which], lengths)
        cells = np.cumsum(self.arrays["policy_steps"][place], dtype=np.intp)
        first = _starts(lengths)
        cells -= np.repeat(cells[first] - self.arrays["policy_steps"][place[first]], lengths)
        policies = np.zeros((len(facts), self.cells), np.float32)
        policies[row, cells] = self.arrays["policy_weights"][place] / np.float32(WEIGHTS)
        values = (self.arrays["results"][which] / TOP).astype(np.float32)
        more = {each.name: self.arrays[each.array][which] for each in auxiliary_targets() if each.array in self.arrays}
        return Samples(batch, {POLICY.name: policies, VALUE.name: values, **more})

    def take(self, which: Rows) -> "Packed":
        """Return some of the samples, packed; neighbours of a game that stay in order go on sharing their line."""
        starts, stones = self._starts[which], self._stones[which]
        goes_on = np.zeros(len(starts), np.bool_)
        goes_on[1:] = (starts[1:] == starts[:-1]) & (stones[1:] >= stones[:-1])
        last = np.append(~goes_on[1:], True)[: len(starts)]
        lengths = self.arrays["policy_lengths"][which]
        entries = _ragged(self._policies[which], lengths)[1]
        facts = self.arrays["facts"][which] & ~np.uint16(FIRST) | np.where(goes_on, 0, FIRST).astype(np.uint16)
        return Packed(
            {
                **{name: self.arrays[name][which] for name in self.arrays.keys() - KINDS.keys()},
                "board": self.arrays["board"],
                "lines": self.arrays["lines"][_ragged(starts[last], stones[last])[1]],
                "facts": facts,
                "results": self.arrays["results"][which],
                "policy_lengths": lengths,
                "policy_steps": self.arrays["policy_steps"][entries],
                "policy_weights": self.arrays["policy_weights"][entries],
            }
        )

    @staticmethod
    def concatenate(parts: "Sequence[Packed]") -> "Packed":
        """Return all samples of `parts`, in order; at least one part is required."""
        joined = {name: np.concatenate([part.arrays[name] for part in parts]) for name in KINDS if name != "board"}
        for target in auxiliary_targets():
            shape = target.shape(parts[0].cells)
            if any(target.array in part.arrays for part in parts):
                none = [np.zeros((len(part), *shape), np.float32) for part in parts]
                joined[target.array] = np.concatenate(
                    [part.arrays.get(target.array, zeros) for part, zeros in zip(parts, none, strict=True)]
                )
        return Packed({"board": parts[0].arrays["board"], **joined})


def pack(samples: Samples) -> Packed:
    """Return packed samples, neighbours of a game on one line; their last moves must be stones on the board."""
    stones, last_moves = samples.positions.stones, samples.positions.last_moves.tolist()
    lines: list[int] = []
    facts = np.empty(len(samples), np.uint16)
    line: list[int] = []
    before = np.zeros(stones.shape[1], np.int8)
    for row, (now, lasts) in enumerate(zip(stones, last_moves, strict=True)):
        last = [cell for cell in reversed(lasts) if cell != NO_CELL]
        added = np.flatnonzero(now != before)
        more = [*(cell for cell in added.tolist() if cell not in last), *(c for c in last if now[c] != before[c])]
        goes_on = row and not before[added].any() and (not last or (line + more)[-len(last) :] == last)
        if not goes_on:
            line = []
            more = [*(cell for cell in np.flatnonzero(now).tolist() if cell not in last), *last]
        line = line + more
        lines += [2 * cell + (now[cell] == BLACK) for cell in more]
        known = sum(bit for bit, cell in zip((_LAST, _BEFORE), lasts, strict=True) if cell != NO_CELL)
        black = _BLACK if samples.positions.to_move[row] == BLACK else 0
        facts[row] = len(line) << _STONES | (0 if goes_on else FIRST) | known | black
        before = now
    return Packed(
        {
            **{each.array: samples.targets[each.name] for each in auxiliary_targets() if each.name in samples.targets},
            **_packed_policies(samples.policies),
            "board": np.array([stones.shape[1]], np.uint16),
            "lines": np.array(lines, np.uint16),
            "facts": facts,
            "results": np.rint(np.clip(samples.values, -1, 1) * TOP).astype(np.int16),
        }
    )


def _packed_policies(policies: NDArray[np.float32]) -> Arrays:
    """Return the arrays of policies [B, A]; the largest remainders get the weights that rounding down leaves."""
    row, cell = np.nonzero(policies > 0)
    exact = policies[row, cell].astype(np.float64)
    exact *= WEIGHTS / np.bincount(row, exact, len(policies))[row]
    weights = np.floor(exact)
    order = np.lexsort((weights - exact, row))
    starts = _starts(np.bincount(row, minlength=len(policies)))
    rank = np.empty(len(row), np.intp)
    rank[order] = np.arange(len(row)) - starts[row]
    weights += rank < (WEIGHTS - np.bincount(row, weights, len(policies)))[row]
    kept = weights > 0
    row, cell, weights = row[kept], cell[kept], weights[kept]
    steps = np.diff(cell, prepend=0)
    first = np.diff(row, prepend=-1) > 0
    steps[first] = cell[first]
    bridges = np.maximum(steps - 1, 0) // _LONGEST_STEP
    place = np.cumsum(bridges + 1) - 1
    entries = int(place[-1]) + 1 if len(place) else 0
    packed_steps, packed_weights = np.full(entries, _LONGEST_STEP, np.uint8), np.zeros(entries, np.uint8)
    packed_steps[place] = steps - _LONGEST_STEP * bridges
    packed_weights[place] = weights
    lengths = np.bincount(row, bridges + 1, len(policies)).astype(np.uint8)
    return {"policy_lengths": lengths, "policy_steps": packed_steps, "policy_weights": packed_weights}


def _starts(lengths: NDArray[Any]) -> NDArray[np.intp]:
    """Return the first place of each of some neighbouring parts of an array."""
    starts: NDArray[np.intp] = np.cumsum(lengths, dtype=np.intp) - lengths
    return starts


def _ragged(starts: NDArray[Any], lengths: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the row and the place of each element of some parts of an array."""
    row = np.repeat(np.arange(len(starts)), lengths)
    return row, np.arange(len(row)) + (starts.astype(np.intp) - _starts(lengths))[row]
