"""Results at a root, against those that are read from its nodes in plain Python, and forced wins and replies there."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.compiled import legal_moves_of
from core.compiled.jit import lean_kernel
from core.position import Position
from core.rules import Rules
from search.tree.forest import NEW, OPEN, PROVEN, WON, Forest
from search.tree.kernels import roots
from search.tree.leaf_tactics import LeafTactics, make_root_tactics, new_boards
from search.tree.mcts import ForestSearch, RootNoise
from search.tree.settings import SearchSettings
from search.tree.softmax import priors_of
from tests.support.evaluators import ScriptedEvaluator
from tests.support.naive_vcf import NaiveBoard
from tests.support.searches import finish, flat, nodes_of, searched, start_position

RULES = Rules(6, 4)
PLAIN = SearchSettings(leaves_in_flight=4, c_puct=1.5)
KINDS = (
    PLAIN,
    replace(PLAIN, proven_nodes=False, value_decay=0.9),
    replace(PLAIN, transpositions=True, bound_errors=2.0),
    PLAIN.with_tactics(),
)

TACTICS = make_root_tactics(RULES, new_boards(RULES, 1), vcf_nodes=20_000)


class NaiveRoot:
    """The results at the root of a finished search: its nodes, and one rule after the other."""

    def __init__(self, search: ForestSearch, position: Position, options: SearchSettings) -> None:
        self.nodes, self.options = nodes_of(search), options
        self.legal = [int(cell) for cell in position.legal_moves()]
        root, first = self.nodes[0], {int(self.nodes[each]["move"]): each for each in self._below(0)}
        self.children = {move: self.nodes[each] for move, each in first.items()}
        self.lines = {move: self._line([node]) for move, node in first.items()}
        words = priors_of(search.forest.child_priors[0, 0]).tolist()
        has_prior = {cell for cell in self.legal if search.forest.child_priors[0, 0, cell] >= 0}
        is_open = root["state"] == OPEN
        self.priors = {cell: words[cell] for cell in has_prior if is_open}
        self.priors |= {cell: float(child["prior"]) for cell, child in self.children.items() if is_open}
        unlisted = [cell for cell in self.legal if is_open and cell not in has_prior]
        choices = len(has_prior | first.keys())
        self.proofs = dict.fromkeys(unlisted, -2 if choices == 1 else -4)
        self.proofs |= {cell: int(each["proof"]) for cell, each in self.children.items()}
        self.proofs = {cell: proof for cell, proof in self.proofs.items() if proof}
        self.visits = {cell: int(child["visits"]) for cell, child in self.children.items() if child["visits"]}
        self.values = {cell: float(self.children[cell]["value_sum"]) / count for cell, count in self.visits.items()}

    def _below(self, node: int) -> list[int]:
        return [each for each in range(1, len(self.nodes)) if self.nodes[each]["parent"] == node]

    def _line(self, among: list[int]) -> tuple[int, ...]:
        line = []
        while among:

            def rank(each: int) -> tuple[int, int, int]:
                proof, visits = int(self.nodes[each]["proof"]), int(self.nodes[each]["visits"])
                return (2, -proof, each) if proof > 0 else (0, -proof, each) if proof else (1, visits, each)

            best = max(among, key=rank)
            line.append(int(self.nodes[best]["move"]))
            among = [each for each in self._below(best) if self.nodes[each]["visits"]]
        return tuple(line)

    def value(self) -> float:
        wins = [plies for plies in self.proofs.values() if plies > 0]
        if self.options.proven_nodes and (wins or len(self.proofs) == len(self.legal)):
            plies = min(wins) if wins else min(self.proofs.values())
            return math.copysign(self.options.value_decay ** (abs(plies) - 1), plies)
        total = sum(self.values[cell] * count for cell, count in self.visits.items())
        return total / sum(self.visits.values()) if self.visits else float(self.nodes[0]["value"])

    def policy(self) -> dict[int, float]:
        wins = {cell: plies for cell, plies in self.proofs.items() if plies > 0}
        if wins:
            return {min(wins, key=lambda cell: (wins[cell], cell)): 1.0}
        visited = sum(self.priors.get(cell, 0) for cell in self.visits)
        first_value = self.value() - self.options.fpu_reduction * math.sqrt(visited)
        is_worse = any(-(self.options.value_decay ** (-plies - 1)) > first_value for plies in self.proofs.values())
        resists = is_worse and not self.visits.keys() - self.proofs.keys()
        if resists or len(self.proofs) == len(self.legal):
            latest = min(self.proofs.values())
            return {
                max(self.legal, key=lambda cell: (self.proofs.get(cell) == latest, self.priors.get(cell, 0), -cell)): 1
            }
        open_moves = [cell for cell in self.legal if cell not in self.proofs]
        for weights in (self.visits, self.priors, dict.fromkeys(open_moves, 1)):
            if total := sum(weights.get(cell, 0) for cell in open_moves):
                return {cell: weights.get(cell, 0) / total for cell in open_moves}
        raise AssertionError


@settings(max_examples=40)
@given(
    stones=st.integers(0, 14),
    seed=st.integers(0, 1000),
    simulations=st.sampled_from([1, 2, 3, 30, 200]),
    kind=st.sampled_from(KINDS),
)
def test_the_results_at_the_root_are_the_naive_twins(
    stones: int, seed: int, simulations: int, kind: SearchSettings
) -> None:
    options, position = replace(kind, simulations=simulations), start_position(RULES, stones, seed)
    values = np.random.default_rng(seed).dirichlet(np.full(RULES.cells, 0.2)).astype(np.float32)
    begin = {"noise": RootNoise(values, 0.25)}
    search = searched(position, options, begin=begin, capacity=1000)
    twin = NaiveRoot(search, position, options)

    def row(found: dict[int, float]) -> list[float]:
        return [found.get(cell, 0) for cell in range(RULES.cells)]

    assert search.legal(0).tolist() == legal_moves_of(position).tolist()
    assert search.visits(0).tolist() == row(twin.visits)
    assert search.proofs(0).tolist() == row(twin.proofs)
    assert search.priors(0).tolist() == row(twin.priors)
    assert search.value(0) == pytest.approx(twin.value(), rel=1e-6)
    policy, best = twin.policy(), search.best_move(0)
    assert search.policy(0) == pytest.approx(row(policy), rel=1e-5)
    assert options.bound_errors or best == max(policy, key=lambda cell: (policy[cell], -cell))
    analysis = search.analysis(0, 2.5, lines=5)
    order = sorted(
        twin.legal,
        key=lambda cell: (
            *(cell != best, -np.float32(policy.get(cell, 0)), twin.proofs.get(cell, 0) < 0),
            *(-twin.visits.get(cell, 0), -twin.priors.get(cell, 0)),
        ),
    )
    assert [each.move for each in analysis.moves] == order
    for index, each in enumerate(analysis.moves):
        proof = twin.proofs.get(each.move)
        assert (each.visits, each.proof) == (twin.visits.get(each.move, 0), proof)
        assert each.value == (twin.values.get(each.move) if not proof else math.copysign(1, proof))
        assert each.prior == twin.priors.get(each.move, 0)
        assert each.line == (twin.lines.get(each.move, (each.move,)) if index < 5 else ())
    assert (analysis.variation, analysis.seconds) == (analysis.moves[0].line, 2.5)
    assert analysis.nodes == twin.nodes[0]["visits"]


@lean_kernel
def one_reply(forest: Forest, tactics: LeafTactics) -> bool:
    """A board of lean kernels must not leave compiled code."""
    return roots.has_one_reply(forest, 0, tactics)


@settings(max_examples=50)
@given(
    stones=st.integers(4, 24),
    seed=st.integers(0, 10_000),
    before=st.sampled_from([0, 1, 40]),
    is_full=st.booleans(),
)
def test_a_forced_win_at_the_root_is_proven_by_its_first_move(
    stones: int, seed: int, before: int, is_full: bool
) -> None:
    """A root that was not evaluated still is not, and a full tree gets no node."""
    position, options = start_position(RULES, stones, seed), replace(PLAIN, proven_nodes=False, simulations=before or 1)
    board = NaiveBoard(RULES.size, RULES.connect)
    own, enemy = board.of_stones(position.stones.tolist(), position.side_to_move)
    search = ForestSearch(
        RULES, ScriptedEvaluator(RULES), options, trees=1, capacity=max(1, before + 20 * (not is_full))
    )
    search.set_root(0, position)
    if before:
        search.begin(0, before)
        finish(search)
    forest, old, at_once = search.forest, nodes_of(search).copy(), board.wins(own, enemy)
    assert one_reply(forest, TACTICS) == (not at_once and board.wins(enemy, own).bit_count() == 1)
    roots.prove_root(forest, 0, TACTICS)
    nodes = nodes_of(search)
    (won,) = np.flatnonzero(nodes["proof"] > 0).tolist() or (0,)
    if not won:
        assert not board.has_vcf(own, enemy) or len(old) == forest.capacity
        assert nodes.tobytes() == old.tobytes()
        return
    child, stone, plies = nodes[won], 1 << int(nodes["move"][won]), int(nodes["proof"][won])
    assert stone & at_once if plies == 1 else not at_once and board.wins_after_four(own | stone, enemy)
    assert child["parent"] == 0
    assert len(nodes) == max(won + 1, len(old))
    if won == len(old):
        assert child["state"] == (WON if plies == 1 else PROVEN)
        assert not child["visits"]
    assert (nodes[0]["proof"], nodes[0]["state"]) == (-plies - 1, old[0]["state"])
    assert nodes[0]["state"] == (OPEN if before else NEW)
    assert search.policy(0)[child["move"]] == 1.0
    assert search.value(0) == pytest.approx(options.value_decay ** (plies - 1))
    found = nodes.copy()
    roots.prove_root(forest, 0, TACTICS)
    assert nodes_of(search).tobytes() == found.tobytes()


def test_after_a_move_without_an_open_node_the_tree_begins_afresh() -> None:
    """It was won at once, has never been visited, or is proven."""
    position, options = Position.from_moves(RULES, [0, 6, 1, 7, 2, 13]), replace(PLAIN, proven_nodes=False)
    options, evaluator = replace(options, simulations=30), ScriptedEvaluator(RULES, flat)
    children = [node for node in nodes_of(searched(position, options, evaluator)).copy() if node["parent"] == 0]
    assert {int(node["state"]) for node in children} == {OPEN, WON}
    for node in children:
        search = searched(position, options, evaluator)
        search.play(0, int(node["move"]))
        assert (len(nodes_of(search)) > 1) == (node["state"] == OPEN and node["visits"] > 1)
        assert nodes_of(search)["visits"][0] == (node["visits"] if node["state"] == OPEN else 0)
        assert search.forest.root_stones[0, node["move"]] == position.side_to_move
        assert search.forest.trees[["last_move", "move_before"]][0].tolist() == (node["move"], position.moves[-1])
