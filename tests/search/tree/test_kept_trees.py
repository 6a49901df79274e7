"""Trees that are kept after a move: they go on like the naive twin, and begin afresh where they must."""

import numpy as np

from core.position import Position
from search.tree.settings import SearchSettings
from tests.support.evaluators import hashed_evaluation
from tests.support.naive_search import NaiveSearch
from tests.support.searches import SMALL, assert_sound, finish, nodes_of, searched, statistics, visits_of


def test_a_rerooted_search_goes_on_like_one_that_was_never_compacted() -> None:
    """The naive twin keeps its nodes where they are; after the same move both must go on alike."""
    options, position = SearchSettings(simulations=60, leaves_in_flight=1), Position(SMALL)
    twin = NaiveSearch(hashed_evaluation, c_puct=options.c_puct, decay=options.value_decay, fpu=options.fpu_reduction)
    search = searched(position, options, capacity=1000)
    for ply in range(4):
        if ply:
            search.begin(0, 60)
            finish(search)
        for _ in range(60):
            twin.simulate(position)
        assert visits_of(search) == twin.visits()
        visits, move = search.visits(0), int(search.visits(0).argmax())
        nodes = nodes_of(search)
        (child,) = np.flatnonzero((nodes["parent"] == 0) & (nodes["move"] == move) & (nodes["visits"] > 0))
        before = [nodes[nodes["parent"] == child][key].tolist() for key in ("move", "visits", "value_sum")]
        search.play(0, move)
        kept = nodes_of(search)
        children = kept[1:][kept[1:]["parent"] == 0]
        assert sorted(zip(*before, strict=True)) == sorted(
            zip(*(children[key].tolist() for key in ("move", "visits", "value_sum")), strict=True)
        )
        assert len(kept) <= visits[move] + 1, "the rest is freed"
        assert statistics(search)[1][0] == visits[move]
        assert_sound(search)
        position.push(move)
        twin.root = twin.root.children[move]


def test_a_kept_tree_that_leaves_no_room_is_forgotten() -> None:
    search = searched(Position(SMALL), SearchSettings(simulations=50), capacity=60)
    search.play(0, int(search.visits(0).argmax()))
    search.begin(0, 50)
    finish(search)
    assert search.visits(0).sum() >= 49
    assert_sound(search)


def test_a_search_that_fills_its_tree_ends_there() -> None:
    search = searched(Position(SMALL), SearchSettings(simulations=50), capacity=10)
    assert search.forest.trees["nodes"][0] == 10
    assert search.visits(0).sum() >= 9
    assert_sound(search)
