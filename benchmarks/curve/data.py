"""The parts of a folder DATA that its commands share."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.curve.dataset import Dataset, Selection, position_keys
from benchmarks.measuring import Fault
from core.streams import Purpose, generator
from curriculum.config import Config
from curriculum.presets import read_config
from curriculum.training.files import read_packed
from curriculum.training.packed import Packed, SampleSet

CONFIG = "config.toml"
LABELS = "labels"


def count(text: str) -> int:
    """Return the number that a text such as 300k or 1M stands for. Raises `ValueError`."""
    unit = {"k": 1_000, "M": 1_000_000}.get(text[-1:], 1)
    return round(float(text[:-1]) * unit) if unit > 1 else int(text)


def share(text: str) -> float:
    """Return the share, 0 to 1, that a text stands for. Raises `ValueError`."""
    if not 0 <= (value := float(text)) <= 1:
        raise ValueError(text)
    return value


def config_of(data: Path) -> Config:
    """Return the configuration of the self-play that was collected. Raises `Fault`."""
    if not (data / CONFIG).exists():
        raise Fault(f"{data} holds no positions: collect some first")
    return read_config(data / CONFIG)


def held_out_positions(dataset: Dataset, without: Sequence[Packed] = ()) -> Selection:
    """Return the held-out positions in a random order, but for those of `without`."""
    everything = dataset.held_out
    if not len(everything):
        raise Fault(f"{dataset.folder} holds no position out: collect more games, or with a larger --held-out")
    keys = np.concatenate([position_keys(part) for part in everything.parts])
    known = np.concatenate([np.empty(0, np.int64), *(position_keys(part) for part in without)])
    left = np.flatnonzero(~np.isin(keys, known))
    return everything.select(left[generator(0, Purpose.SHUFFLE).permutation(len(left))])


def labelled(data: Path, cells: int) -> tuple[list[Packed], list[Packed]]:
    """Return the positions that were searched deeply, with the targets of self-play and with those of the searches."""
    files = sorted((data / LABELS).glob("deep-*.npz"))
    own = [path.with_name(path.name.replace("deep", "own")) for path in files]
    first, second = ([read_packed(path, cells)[0] for path in part] for part in (own, files))
    return first, second


def measured_on(data: Path, dataset: Dataset, most: int) -> tuple[SampleSet, SampleSet | None]:
    """Return held-out positions with the targets of self-play and, if there are any, with those of deep searches."""
    own, deep = labelled(data, dataset.rules.cells)
    if own:
        return Packed.concatenate(own), Packed.concatenate(deep)
    return held_out_positions(dataset).select(slice(most)), None
