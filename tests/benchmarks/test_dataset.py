"""Sets of distinct positions: every position once, whole games held out, and a collection that goes on after a kill."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.curve.dataset import Dataset, Selection, position_keys
from core.compiled.zobrist import WHITE_TO_MOVE, position_key
from core.rules import BLACK, Rules, Variant
from curriculum.training.files import SamplesError, write_samples
from curriculum.training.packed import pack
from curriculum.training.samples import Samples
from tests.curriculum.training.test_samples import assert_equal, games

RULES = Rules(9, 5)


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Files of games, of which the third repeats the first one, turned."""
    paths = [tmp_path / f"selfplay-{number}.npz" for number in range(5)]
    for number, path in enumerate(paths):
        samples = games(RULES, 12, seed=0 if number == 2 else number)
        write_samples(path, samples.transformed(np.full(len(samples), 5)) if number == 2 else samples, {})
    return paths


def keys(dataset: Dataset) -> list[int]:
    parts = (*dataset.training.parts, *dataset.held_out.parts)
    return [int(key) for part in parts for key in position_keys(part)]


def test_samples_come_back_in_any_order_from_any_parts() -> None:
    plain = games(RULES, 12)
    packed, order = pack(plain), np.random.default_rng(2).permutation(len(plain))
    parts = Selection([packed, packed.take(order), packed])
    chosen = np.random.default_rng(3).permutation(3 * len(plain))
    expected = Samples.concatenate([plain, plain.rows(order), plain]).rows(chosen)
    assert_equal(parts.rows(chosen), expected)
    assert np.array_equal(parts.select(chosen).to_move, expected.to_move)
    assert_equal(Selection(parts.parts[:1]).rows(order), plain.rows(order))
    assert (len(parts.rows(np.arange(0))), len(Selection([]))) == (0, 0)


def test_symmetric_positions_have_the_least_key_of_all_eight(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = games(Rules(9, 5), 8)
    keys = position_keys(pack(plain))
    monkeypatch.setattr("benchmarks.curve.dataset._CHUNK", 7)
    turned = plain.transformed(np.random.default_rng(4).integers(8, size=len(plain)))
    assert np.array_equal(position_keys(pack(turned)), keys)
    for row in range(0, len(plain), 17):
        side = int(plain.positions.to_move[row])
        move = 0 if side == BLACK else int(WHITE_TO_MOVE)
        images = plain.rows(np.full(8, row)).transformed(np.arange(8)).positions.stones
        assert min(position_key(image, side) ^ move for image in images) ^ move == keys[row]


def test_each_position_is_collected_once_and_whole_games_are_held_out(tmp_path: Path, files: list[Path]) -> None:
    dataset = Dataset(tmp_path / "set", RULES)
    reports = list(dataset.collect(files, held_out_share=0.2, shard=100))
    again = Dataset(tmp_path / "set", RULES)
    everything = [games(RULES, 12, seed=seed) for seed in (0, 1, 3, 4)]
    expected = {int(key) for samples in everything for key in position_keys(pack(samples))}
    assert sorted(keys(again)) == sorted(expected)
    assert len(again.training.parts) > 1
    assert reports[-1] == (5, sum(map(len, everything)) + len(everything[0]), len(expected))
    assert 0.05 < len(again.held_out) / len(expected) < 0.4
    chunk = again.training.rows(np.arange(0, len(again.training), 7))
    assert_equal(chunk, dataset.training.rows(np.arange(0, len(dataset.training), 7)))


def test_a_collection_that_was_killed_goes_on_to_the_same_positions(tmp_path: Path, files: list[Path]) -> None:
    whole, part = Dataset(tmp_path / "whole", RULES), tmp_path / "part"
    list(whole.collect(files, held_out_share=0.2, shard=100))
    for number, _, _ in Dataset(part, RULES).collect(files, held_out_share=0.2, shard=100):
        if number == 4:
            break
    last = max(part.glob("training-*"))
    last.unlink()  # as by a kill between the two files of a shard
    for _ in range(2):
        list(Dataset(part, RULES).collect(files, held_out_share=0.2, shard=100))
    assert keys(Dataset(part, RULES)) == keys(whole)


def test_positions_of_other_rules_are_refused(tmp_path: Path, files: list[Path]) -> None:
    list(Dataset(tmp_path / "set", RULES).collect(files, held_out_share=0.0))
    with pytest.raises(SamplesError, match="its positions are not of exactly 5 in a row on 9x9"):
        Dataset(tmp_path / "set", Rules(9, 5, Variant.STANDARD))
