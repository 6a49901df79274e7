"""The batches of a training: samples of the replay buffer, drawn pass after pass under random symmetries."""

import math

import numpy as np
from numpy.typing import NDArray

from core.compiled.symmetry import SYMMETRIES
from core.rules import Colour
from core.streams import Purpose, generator
from curriculum.training.packed import SampleSet
from curriculum.training.samples import Samples
from nets.dispatch import net_colours


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
        self._samples = {colour: samples.of_colour(colour) for colour in self.colours}
        self._rehearsal = {colour: rehearsal.of_colour(colour) for colour in self.colours}
        self._share = rehearsal_share
        self._batch_size = batch_size
        self._seed = seed
        self._images = SYMMETRIES if all_symmetries else 1
        """Images of a sample in a pass."""
        self._order: dict[Colour | None, tuple[int, NDArray[np.intp]]] = {}
        largest = max(self._images * len(part) for part in self._samples.values())
        self.steps_per_pass = max(1, math.ceil(largest / self._fresh(largest)))
        """Steps of a pass over the larger colour's samples: nearly each is seen once, in whole batches."""

    def _fresh(self, available: int) -> int:
        return max(1, min(available, round(self._batch_size * (1.0 - self._share))))

    def batch(self, colour: Colour | None, step: int) -> Samples | None:
        """Return the batch of a step; None where there is no sample of that colour."""
        samples, rehearsal = self._samples[colour], self._rehearsal[colour]
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
        parts = [samples.rows(drawn // self._images)]
        draw = generator(self._seed, Purpose.SYMMETRY, step, colour or 0)
        if len(rehearsal) and (more := self._batch_size - self._fresh(self._batch_size)):
            parts.append(rehearsal.rows(draw.integers(len(rehearsal), size=more)))
        batch = Samples.concatenate(parts)
        symmetries = draw.integers(SYMMETRIES, size=len(batch))
        if self._images > 1:
            symmetries[: len(drawn)] = drawn % self._images
        return batch.transformed(symmetries)
