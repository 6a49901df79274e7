"""A folder of distinct positions from many files of samples: packed shards of a million, mapped and read at random.

Random access needs no order of its own and no buffer: a batch reads some kilobytes of each shard, which the system
keeps in memory as far as there is room. A shard appears whole; collecting goes on with the files that no shard has.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from core.compiled.symmetry import targets
from core.compiled.zobrist import STONE_KEYS, WHITE_TO_MOVE
from core.files.json_text import value_at, values_at
from core.rules import BLACK, Rules
from curriculum.training.files import naming_metadata, read_packed, write_samples
from curriculum.training.packed import FIRST, Packed, Rows
from curriculum.training.samples import Samples

_SHARD = 1_000_000
"""Positions of a shard, about; a kill loses those of one at most, which takes some seconds to collect."""
_CHUNK = 1 << 13
_PARTS = _HELD_OUT, _TRAINING = "held-out", "training"
"""Parts of a shard, in the order of writing: where the last one is, the others are."""


def read_samples_of(path: Path, cells: int) -> Packed:
    """Return the samples of a file. Raises `SamplesError`."""
    return read_packed(path, cells)[0]


class Selection:
    """Samples of several parts, in any order: a position costs eight bytes of memory more."""

    def __init__(self, parts: Sequence[Packed], index: NDArray[np.int64] | None = None) -> None:
        """`index`: numbers of the selected samples, counted through all parts; all of them without it."""
        self.parts = parts
        self._ends = np.cumsum([len(part) for part in parts])
        self.index = np.arange(self._ends[-1] if parts else 0) if index is None else index

    def __len__(self) -> int:
        return len(self.index)

    @property
    def to_move(self) -> NDArray[np.int8]:
        """See `SampleSet`."""
        to_move: NDArray[np.int8] = np.concatenate([part.to_move for part in self.parts])[self.index]
        return to_move

    def rows(self, which: Rows) -> Samples:
        """See `SampleSet`."""
        chosen = self.index[which]
        part_of = np.searchsorted(self._ends, chosen, side="right")
        found = [
            part.rows(chosen[part_of == number] - (self._ends[number] - len(part)))
            for number, part in enumerate(self.parts)
        ]
        return Samples.concatenate(found).rows(np.argsort(np.argsort(part_of, kind="stable")))

    def select(self, which: Rows) -> "Selection":
        """Return some of the samples, unread."""
        return Selection(self.parts, self.index[which])


class Dataset:
    """The positions in a folder, each once, however it is turned: those that are held out are no training positions."""

    def __init__(self, folder: Path, rules: Rules) -> None:
        """Open the folder, which may be new, for positions of `rules`. Raises `SamplesError`."""
        self.folder, self.rules = folder, rules
        self.sources: set[str] = set()
        """The files that were collected."""
        self._parts: dict[str, list[Packed]] = {part: [] for part in _PARTS}
        while self._path(_TRAINING).exists():
            self._open()

    @property
    def training(self) -> Selection:
        """The positions to learn from, in the order in which they were collected."""
        return Selection(self._parts[_TRAINING])

    @property
    def held_out(self) -> Selection:
        """Those of games that nobody learns from."""
        return Selection(self._parts[_HELD_OUT])

    def _path(self, part: str) -> Path:
        """Return the file of a part of the next shard."""
        return self.folder / f"{part}-{len(self._parts[part]):04d}.npz"

    def _open(self) -> None:
        """Open the next shard."""
        for part in _PARTS:
            path = self._path(part)
            samples, metadata = read_packed(path, self.rules.cells, mapped=True)
            with naming_metadata(path):
                self.sources |= set(values_at(metadata, "sources", str))
                if value_at(metadata, "rules", dict) != asdict(self.rules):
                    raise ValueError(f"its positions are not of {self.rules}")
            self._parts[part].append(samples)

    def collect(
        self,
        files: Sequence[Path],
        *,
        held_out_share: float,
        shard: int = _SHARD,
        read_file: Callable[[Path, int], Packed] = read_samples_of,
    ) -> Iterator[tuple[int, int, int]]:
        """Add the positions of `files` that are new; all symmetric ones count as one, and the first is kept.

        Whole games are held out, about `held_out_share` of all. `read_file` returns the samples of a file whose boards
        have so many cells. Yields the numbers of files and of positions read, and of those kept, after each file.

        Raises `SamplesError`.
        """
        known = [np.sort(position_keys(part)) for part in (*self.training.parts, *self.held_out.parts)]
        parts: dict[str, list[Packed]] = {part: [] for part in _PARTS}
        fresh: list[NDArray[np.int64]] = []
        names: list[str] = []
        kept = read = 0
        for number, path in enumerate(files, start=1):
            if (name := str(path.absolute())) in self.sources:
                continue
            samples = read_file(path, self.rules.cells)
            read += len(samples)
            keys = position_keys(samples)
            first = np.zeros(len(keys), np.bool_)
            first[np.unique(keys, return_index=True)[1]] = True
            for others in (*known, *fresh):
                first &= ~_contains(others, keys)
            held_out = _held_out_games(samples, held_out_share)
            parts[_TRAINING].append(samples.take(np.flatnonzero(first & ~held_out)))
            parts[_HELD_OUT].append(samples.take(np.flatnonzero(first & held_out)))
            fresh.append(np.sort(keys[first]))
            names.append(name)
            kept += int(first.sum())
            if sum(map(len, fresh)) >= shard:
                self._add(parts, names)
                known.append(np.sort(np.concatenate(fresh)))
                parts, fresh, names = {part: [] for part in _PARTS}, [], []
            yield number, read, kept
        if names:
            self._add(parts, names)

    def _add(self, parts: Mapping[str, Sequence[Packed]], sources: Iterable[str]) -> None:
        """Write a shard, and open it."""
        metadata = {"sources": sorted(sources), "rules": asdict(self.rules)}
        for part in _PARTS:
            write_samples(self._path(part), Packed.concatenate(parts[part]), metadata)
        self._open()


def position_keys(samples: Packed) -> NDArray[np.int64]:
    """Return [B] keys of the positions, the same for all symmetric ones; last moves are no part of them."""
    moved = targets(round(samples.cells**0.5)).T
    table = np.stack((STONE_KEYS[1][moved], STONE_KEYS[0][moved]), axis=1)  # [A, 2, 8]
    found = np.empty(len(samples), np.int64)
    for first in range(0, len(samples), _CHUNK):
        batch = samples.rows(slice(first, first + _CHUNK)).positions
        row, cell = np.nonzero(batch.stones)
        keys = np.zeros((len(batch), table.shape[-1]), np.int64)
        if len(row):
            begins = np.flatnonzero(np.diff(row, prepend=-1))
            stones = table[cell, (batch.stones[row, cell] == BLACK).astype(np.intp)]
            keys[row[begins]] = np.bitwise_xor.reduceat(stones, begins, axis=0)
        found[first : first + _CHUNK] = keys.min(axis=1) ^ np.where(batch.to_move == BLACK, 0, WHITE_TO_MOVE)
    return found


def _contains(others: NDArray[np.int64], keys: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return True for each of the keys that sorted `others` contain."""
    place = np.searchsorted(others, keys)
    found = place < len(others)
    found[found] = others[place[found]] == keys[found]
    return found


def _line_numbers(samples: Packed) -> NDArray[np.intp]:
    """Return [B] the number of each sample's line: positions of a game have the same."""
    return np.cumsum(samples.arrays["facts"] & FIRST > 0) - 1


def _held_out_games(samples: Packed, share: float) -> NDArray[np.bool_]:
    """Return True for the positions of held-out games: a game is drawn by the key of its last position."""
    lines = _line_numbers(samples)
    last = np.flatnonzero(np.diff(lines, append=-1))
    chosen = position_keys(samples.take(last)) % 1_000_003 < share * 1_000_003
    result: NDArray[np.bool_] = chosen[lines]
    return result
