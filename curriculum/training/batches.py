"""The batches of a training: samples of the replay buffer, drawn pass after pass under random symmetries."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.compiled.symmetry import SYMMETRIES
from core.rules import Colour
from core.streams import Purpose, generator
from curriculum.training.packed import SampleSet
from curriculum.training.samples import Samples
from nets.dispatch import net_colours, rows_of


class Draw(NamedTuple):
    """The samples of a batch by their numbers."""

    rows: tuple[NDArray[np.intp], NDArray[np.intp]]
    """Numbers [F] of the samples, and [R] of the rehearsal; B = F + R."""
    symmetries: NDArray[np.intp]
    """[B] of both together, 0 to 7."""


class BatchSource:
    """Batches of a training: pass after pass over the samples, each under a random symmetry.

    The batch of a step depends on the seed and the step alone, so that a training resumes exactly where it stopped.
    """

    def __init__(
        self,
        samples: SampleSet,
        rehearsal: SampleSet,
        *,
        rehearsal_share: float,
        batch_size: int,
        seed: int,
        dual: bool,
        all_symmetries: bool = False,
    ) -> None:
        """Draw `rehearsal_share` of each batch from `rehearsal`, at random. Without `dual` a batch has both colours.

        With `all_symmetries` a pass holds each sample under all symmetries, else under a random one.
        """
        self.colours = tuple(net_colours(dual).values())
        """The batches of a step: one for each colour, or None for both together."""
        self.parts = samples, rehearsal
        self._rows = {colour: [rows_of(part.to_move, colour) for part in self.parts] for colour in self.colours}
        """Numbers of each colour's samples, and of those of its rehearsal."""
        self._share = rehearsal_share
        self._batch_size = batch_size
        self._seed = seed
        self._images = SYMMETRIES if all_symmetries else 1
        """Images of a sample in a pass."""
        self._order: dict[Colour | None, tuple[int, NDArray[np.intp]]] = {}
        largest = max(self._images * len(rows) for rows, _ in self._rows.values())
        self.steps_per_pass = max(1, math.ceil(largest / self._fresh(largest)))
        """Steps of a pass over the larger colour's samples: nearly each is seen once, in whole batches."""

    def _fresh(self, available: int) -> int:
        return max(1, min(available, round(self._batch_size * (1.0 - self._share))))

    def draw(self, colour: Colour | None, step: int) -> Draw | None:
        """Return the numbers of a step's samples; None where there is no sample of that colour."""
        samples, rehearsal = self._rows[colour]
        if not len(samples):
            return None
        available = self._images * len(samples)
        fresh = self._fresh(available)
        steps = max(1, available // fresh)
        number, place = divmod(step, steps)
        if self._order.get(colour, (-1, None))[0] != number:
            shuffle = generator(self._seed, Purpose.SHUFFLE, number, colour or 0)
            self._order[colour] = (number, shuffle.permutation(available))
        drawn = self._order[colour][1][place * fresh : (place + 1) * fresh]
        draw = generator(self._seed, Purpose.SYMMETRY, step, colour or 0)
        more = self._batch_size - self._fresh(self._batch_size) if len(rehearsal) else 0
        rehearsed = draw.integers(len(rehearsal), size=more) if more else np.empty(0, np.intp)
        symmetries = draw.integers(SYMMETRIES, size=len(drawn) + more)
        if self._images > 1:
            symmetries[: len(drawn)] = drawn % self._images
        return Draw((samples[drawn // self._images], rehearsal[rehearsed]), symmetries)

    def read(self, draw: Draw) -> Samples:
        """Return the samples that were drawn, turned."""
        parts = [part.rows(rows) for part, rows in zip(self.parts, draw.rows, strict=True) if len(rows)]
        return Samples.concatenate(parts).transformed(draw.symmetries)

    def batch(self, colour: Colour | None, step: int) -> Samples | None:
        """Return the batch of a step; None where there is no sample of that colour."""
        draw = self.draw(colour, step)
        return None if draw is None else self.read(draw)
