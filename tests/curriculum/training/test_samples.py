"""Samples, packed and in files: read back as they were, and refused in one line with anything else in them."""

import io
import json
import os
import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from core.evaluation import PositionBatch
from core.input_limits import MAX_JSON_BYTES
from core.position import Position
from core.rules import BLACK, NO_CELL, WHITE, Rules
from curriculum.games.mentor_games import random_move, replay_positions
from curriculum.training import packed as packing
from curriculum.training.files import SamplesError, read_kept_games, read_packed, read_samples, write_samples
from curriculum.training.packed import FIRST, Packed, pack
from curriculum.training.samples import Samples
from nets import targets
from nets.targets import FinishedGame
from tests.curriculum.training.test_trainer import OUTCOME, PLIES_LEFT, REPLY

CELLS = 49
COUNT = 64


def some_samples(cells: int = CELLS) -> Samples:
    chance = np.random.default_rng(1)
    batch = PositionBatch.empty(COUNT, cells)
    batch.stones[:] = chance.choice([-1, 0, 1], p=[0.1, 0.8, 0.1], size=batch.stones.shape)
    batch.to_move[:] = np.where(np.arange(COUNT) % 2 == 0, BLACK, WHITE)
    batch.last_moves[:] = NO_CELL
    for row, stones in enumerate(batch.stones):
        last = chance.permutation(np.flatnonzero(stones))[:2]
        batch.last_moves[row, : len(last)] = last
    batch.last_moves[::5, 0] = batch.last_moves[::7, 1] = NO_CELL
    batch.stones[-1], batch.last_moves[-1] = batch.stones[-2], batch.last_moves[-2]  # they share a line
    policies = chance.dirichlet(np.ones(cells), size=COUNT).astype(np.float32)
    return Samples.plain(batch, policies, chance.uniform(-1, 1, COUNT).astype(np.float32))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file of samples."""
    path = tmp_path / "samples.npz"
    write_samples(path, some_samples(), {"games": [1, 2], "lengths": [COUNT - 4, 4]})
    return path


def refused(path: Path, why: str = "samples") -> None:
    """Check that the file is refused in one line that names it."""
    with pytest.raises(SamplesError, match=why) as caught:
        read_samples(path, CELLS)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def rewrite(path: Path, change: Callable[[dict[str, NDArray[Any]]], None]) -> None:
    """Write the file again with other arrays."""
    with np.load(path) as file:
        arrays = dict(file)
    change(arrays)
    np.savez(path, **arrays)


@pytest.mark.parametrize("cells", [9, CELLS, 625])
def test_samples_come_back_from_disk_as_they_were(cells: int, path: Path) -> None:
    samples = some_samples(cells)
    write_samples(path, samples, {"lengths": [COUNT - 4, 4], "games": [1, 2]})
    again, metadata = read_samples(path, cells)
    assert metadata == {"games": [1, 2], "lengths": [COUNT - 4, 4]}
    assert_equal(again, samples)
    for mapped in (False, True):
        file, _ = read_packed(path, cells, mapped=mapped)
        assert_equal(file.all, samples)
        assert np.array_equal(file.all.policies, again.policies)
    other = path.with_name("b.npz")
    write_samples(other, samples, dict(reversed(metadata.items())))
    assert path.read_bytes() == other.read_bytes()
    write_samples(other, again, metadata)
    assert path.read_bytes() == other.read_bytes(), "what was packed once changes no more"
    write_samples(other, Samples.none(CELLS), {})
    assert len(read_samples(other)[0]) == 0


def test_auxiliary_targets_follow_their_samples(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(targets, "AUXILIARY", [REPLY, OUTCOME, PLIES_LEFT])
    plain = some_samples()
    game = FinishedGame(plain.positions.to_move, tuple(range(COUNT)), WHITE, plain.policies, plain.values)
    samples = Samples.of_game(plain.positions, game, targets.all_targets())
    assert samples.targets["outcome"].argmax(axis=1).tolist() == [2, 1] * (COUNT // 2)
    write_samples(path, samples, {})
    again, _ = read_samples(path)
    both = Samples.concatenate([plain, again])
    for name, rows in samples.targets.items():
        assert np.allclose(again.targets[name], rows, atol=1 / 250)
        assert np.array_equal(both.targets[name][COUNT:], again.targets[name])
        assert name in plain.targets or not both.targets[name][:COUNT].any(), "no target: zeros"
    assert Packed.concatenate([pack(again)]).all.targets.keys() == again.targets.keys()
    packed = Packed.concatenate([pack(plain), pack(again)]).all
    assert packed.targets.keys() == both.targets.keys()
    assert all(np.allclose(packed.targets[name], rows, atol=1 / 250) for name, rows in both.targets.items())
    turned = samples.transformed(np.full(COUNT, 3))
    assert np.array_equal(turned.targets["reply"][:-1], turned.policies[1:])
    assert not np.array_equal(turned.policies, samples.policies)
    assert np.array_equal(turned.targets["outcome"], samples.targets["outcome"])
    rewrite(path, lambda arrays: arrays.update({REPLY.array: arrays[REPLY.array][:-1]}))
    refused(path, "do not belong together")


def test_a_flipped_bit_is_found_or_changes_nothing(path: Path) -> None:
    samples, metadata = read_samples(path)
    data = path.read_bytes()
    chance = random.Random(1)
    places = [*range(0, 8 * 60, 3), *range(8 * (len(data) - 700), 8 * len(data), 41)]
    for place in [*places, *(chance.randrange(8 * len(data)) for _ in range(60))]:
        broken = bytearray(data)
        broken[place // 8] ^= 1 << place % 8
        path.write_bytes(broken)
        try:
            again, same = read_samples(path)
        except SamplesError as error:
            assert str(path) in str(error)
        else:
            assert same == metadata
            assert np.array_equal(again.policies, samples.policies)
            assert np.array_equal(again.positions.stones, samples.positions.stones)


def test_a_file_that_is_cut_short_is_refused(path: Path) -> None:
    data = path.read_bytes()
    for keep in (0, 10, 50, len(data) // 2, len(data) - 20, len(data) - 1):
        path.write_bytes(data[:keep])
        refused(path)


@pytest.mark.parametrize(
    ("name", "place", "value", "why"),
    [
        ("lines", 3, 2 * CELLS, ""),
        ("results", 3, -32_768, ""),
        ("facts", 0, 6, "its first sample is no first one of a line"),
        ("facts", COUNT - 1, 0xFFFF, "do not belong together"),
        ("facts", COUNT - 2, 0xFFFF, "lines has values that no sample has"),
        ("facts", COUNT - 2, 14, ""),
        ("policy_lengths", 3, 0, "do not belong together"),
        ("policy_lengths", slice(0, 2), (0, 46 + 46), ""),
        ("policy_lengths", 3, 200, "do not belong together"),
        ("policy_steps", 3, 200, ""),
        ("policy_weights", 3, 200, ""),
        ("board", 0, 50, "no board has 50"),
    ],
)
def test_a_value_that_no_sample_has_is_refused(name: str, place: Any, value: Any, why: str, path: Path) -> None:
    def change(arrays: dict[str, NDArray[Any]]) -> None:
        arrays[name][place] = value

    rewrite(path, change)
    refused(path, why or f"{name} has values that no sample has")


@pytest.mark.parametrize(
    ("name", "array", "why"),
    [
        ("results", np.zeros(COUNT), "has the type <f8"),
        ("metadata", np.zeros((1, 2), np.uint8), "other shapes"),
        ("results", np.asfortranarray(np.ones((COUNT, CELLS), np.int16)), "another header"),
        ("facts", np.zeros((COUNT, 1), np.uint16), "other shapes"),
        ("facts", np.zeros(COUNT, np.int16), "has the type <i2"),
        ("results", np.zeros(COUNT - 1, np.int16), "do not belong together"),
        ("lines", np.zeros(3, np.uint16), "do not belong together"),
        ("policy_weights", np.zeros(3, np.uint8), "do not belong together"),
        ("board", np.array([64], np.uint16), "those of the run have 49"),
        ("metadata", np.frombuffer(b"[1]", np.uint8), "no JSON object"),
        ("metadata", np.frombuffer(b"[" * 5000, np.uint8), "nested"),
        ("metadata", np.frombuffer(b"\xff", np.uint8), "UTF-8"),
        ("metadata", np.zeros(2 << 20, np.uint8), "larger than the limit"),
        ("more", np.zeros(3), "directory"),
        ("results", np.array([{}], dtype=object), "another header|has the type"),
    ],
)
def test_other_arrays_are_refused(name: str, array: NDArray[Any], why: str, path: Path) -> None:
    rewrite(path, lambda arrays: arrays.update({name: array}))
    refused(path, why)


def test_games_are_kept_with_their_lengths(path: Path) -> None:
    """A game may have no sample; metadata may be as large as its limit."""
    text = json.dumps({"lengths": [COUNT - 4, 0, 4]}).encode().ljust(MAX_JSON_BYTES)
    rewrite(path, lambda arrays: arrays.update(metadata=np.frombuffer(text, np.uint8)))
    samples, lengths, metadata = read_kept_games(path, CELLS)
    assert (lengths, len(samples)) == ([COUNT - 4, 0, 4], COUNT)
    assert metadata == {"lengths": lengths}


@pytest.mark.parametrize("metadata", [{}, {"lengths": 3}, {"lengths": [COUNT + 1]}, {"lengths": [-1, COUNT + 1]}])
def test_lengths_of_other_games_are_refused(metadata: dict[str, Any], path: Path) -> None:
    write_samples(path, some_samples(), metadata)
    with pytest.raises(SamplesError, match=r"samples\.npz: its metadata cannot be used: .*lengths"):
        read_kept_games(path, CELLS)


def _header(text: str) -> bytes:
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


@pytest.mark.parametrize(
    "text",
    [
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }\n",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4000000000, 4000000000), }\n",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }\n",
        "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }\n",
        "{" * 60_000,
        "__import__('os')\n",
        "\0",
        "",
    ],
)
def test_a_crafted_header_is_refused_before_its_array_is_made(text: str, path: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members["facts.npy"] = _header(text) + b"\0" * 64
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    refused(path, "facts has|unpack")


def test_a_file_that_is_compressed_is_refused(path: Path) -> None:
    with np.load(path) as file:
        np.savez_compressed(path.with_name("small.npz"), **file)
    refused(path.with_name("small.npz"), "its arrays are compressed")


def test_a_directory_of_thousands_of_entries_is_refused_unread(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(2000):
            archive.writestr(str(number), b"")
    refused(path, "its directory is of other files")


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    refused(tmp_path, "is no file")
    with pytest.raises(SamplesError, match="there is no file"):
        read_samples(tmp_path / "missing.npz")
    pipe = tmp_path / "pipe.npz"
    if hasattr(os, "mkfifo"):
        os.mkfifo(pipe)
        refused(pipe, "is no file")
    other = io.BytesIO()
    np.save(other, np.zeros(3))
    pipe.with_name("array.npz").write_bytes(other.getvalue())
    refused(pipe.with_name("array.npz"), "directory|cut short")
    (tmp_path / "json.npz").write_text(json.dumps({"a": "b" * 100}))
    refused(tmp_path / "json.npz", "directory")


# Packed samples: what was packed comes back in any order, in few bytes.


def games(rules: Rules, count: int, seed: int = 1) -> Samples:
    """Samples of random games with policies of 400 visits; every other game lacks most of its positions."""
    chance = np.random.default_rng(seed)
    parts: list[Samples] = []
    for game in range(count):
        position = Position(rules)
        while not position.is_game_over() and position.ply < 40:
            position.push(random_move(position, chance))
        batch = replay_positions(position, 4)
        policies = np.zeros((len(batch), rules.cells), np.float32)
        for row, policy in enumerate(policies):
            free = chance.permutation(np.flatnonzero(batch.stones[row] == 0))[: chance.integers(1, 25)]
            policy[free] = chance.multinomial(400, chance.dirichlet(np.full(len(free), 0.5))) / 400
        samples = Samples.plain(batch, policies, chance.uniform(-1, 1, len(batch)).astype(np.float32))
        parts.append(samples.rows(np.arange(game % 3, len(samples), 1 + game % 2 * 4)))
    return Samples.concatenate(parts)


def assert_equal(packed: Samples, plain: Samples) -> None:
    """Check that samples are those that were packed, within the units of policies and values."""
    assert np.array_equal(packed.positions.stones, plain.positions.stones)
    assert np.array_equal(packed.positions.to_move, plain.positions.to_move)
    assert np.array_equal(packed.positions.last_moves, plain.positions.last_moves)
    assert np.abs(packed.policies - plain.policies).max() < 1 / 250
    assert np.allclose(packed.policies.sum(axis=1), 1, atol=1e-5)
    assert np.abs(packed.values - plain.values).max() < 1 / 60_000


@pytest.mark.parametrize("size", [3, 15, 25])
def test_samples_come_back_in_any_order(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = games(Rules(size, 3 if size == 3 else 5), 12)
    packed, order = pack(plain), np.random.default_rng(2).permutation(len(plain))
    assert_equal(packed.all, plain)
    assert_equal(packed.rows(order), plain.rows(order))
    assert_equal(packed.take(order).all, plain.rows(order))
    assert_equal(packed.take(slice(5, 20)).all, plain.rows(slice(5, 20)))
    same = packed.take(slice(None))
    assert all(np.array_equal(array, same.arrays[name]) for name, array in packed.arrays.items()), "one line a game"
    twice = Packed.concatenate([packed, packed.take(order)])
    assert_equal(twice.all, Samples.concatenate([plain, plain.rows(order)]))
    for chunk in (7, len(plain)):
        monkeypatch.setattr(packing, "_CHUNK", chunk)
        assert_equal(pack(plain).all, plain)


def test_a_game_is_one_line_and_a_position_takes_some_thirty_bytes() -> None:
    plain = games(Rules(), 30)
    packed = pack(plain)
    assert len(packed.arrays["lines"]) < 3.5 * len(plain)
    assert np.count_nonzero(packed.arrays["facts"] & FIRST) == 30
    assert sum(array.nbytes for array in packed.arrays.values()) < 45 * len(plain)
