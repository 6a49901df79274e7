"""Games of self-play: the contents of samples, the subtree that is kept, and the seeds of games."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from core.compiled import stones_of
from core.position import Position
from core.rules import BLACK, Rules
from curriculum.config import Config, SelfplayConfig, TrainingConfig
from curriculum.games.selfplay_games import SelfPlay, SelfPlayGame, mixed_values, opening_of
from curriculum.training.samples import decayed_results
from search.tree.mcts import ForestSearch
from search.tree.settings import Noise, SearchSettings
from tests.support.evaluators import ScriptedEvaluator
from tests.support.runs import same_game

RULES = Rules(7, 4)
CONFIG = Config(
    rules=RULES,
    search=SearchSettings(simulations=24),
    training=TrainingConfig(z_decay=0.9),
    selfplay=SelfplayConfig(concurrent_games=4, dirichlet_epsilon=0.25, switch_stage=8, opening_stones=(2, 4)),
)
BALANCED = [(24, 17, 10), (0, 48, 24, 30)]


def with_selfplay(**changes: object) -> Config:
    return replace(CONFIG, selfplay=replace(CONFIG.selfplay, **changes))  # type: ignore[arg-type]


def played(config: Config = CONFIG, numbers: Sequence[int] = range(4), iteration: int = 0) -> dict[int, SelfPlayGame]:
    player = SelfPlay(config, ScriptedEvaluator(config.rules), iteration=iteration, balanced=BALANCED)
    return dict(item for item in player.play(numbers) if item is not None)


def test_every_position_stands_before_the_move_its_policy_led_to() -> None:
    for game in played(numbers=range(6)).values():
        moves, positions = game.record.moves, game.samples.positions
        assert len(game.samples) == len(moves) - game.first_ply
        for row, ply in enumerate(range(game.first_ply, len(moves))):
            position = Position.from_moves(RULES, moves[:ply])
            assert np.array_equal(positions.stones[row], stones_of(position))
            assert positions.to_move[row] == position.side_to_move
            assert tuple(positions.last_moves[row]) == position.last_moves
            policy = game.samples.policies[row]
            assert policy.sum() == pytest.approx(1.0, abs=1e-5)
            assert not policy[stones_of(position) != 0].any()
            assert policy[moves[ply]] > 0, "the move was one that the search visited"
            if ply > CONFIG.selfplay.switch_stage:
                assert policy[moves[ply]] == policy.max(), "the best one after the switch stage"
        outcome = Position.from_moves(RULES, moves).outcome()
        assert outcome.winner == game.record.winner


def test_values_mix_the_decayed_result_and_the_searchs_value() -> None:
    by_share = [played(with_selfplay(search_value_share=share), range(8)) for share in (0.0, 0.25, 1.0)]
    last, before = [], []
    for number in range(8):
        result, mixed, searched = (games[number].samples.values for games in by_share)
        game = by_share[0][number]
        assert result == pytest.approx(decayed_results(game.record.winner, game.samples.positions.to_move, 0.9))
        assert mixed == pytest.approx(0.75 * result + 0.25 * searched, abs=1e-6)
        assert result[-1] == (0.0 if game.record.winner is None else 1.0), "the side that moves last does not lose"
        last.append(searched[-1])
        before.append(searched[-2])
    # The last searches see the win that the games end with, and count it for the side to move.
    assert np.mean(last) > 0.2 > np.mean(before)


def test_short_term_values_are_means_of_decayed_root_values_or_of_the_result() -> None:
    results, searched = (np.random.default_rng(seed).uniform(-1, 1, 20).astype(np.float32) for seed in (1, 2))
    for count in (1, 6, 7, 20):
        found = mixed_values(results[:count], searched[:count], 0.9, 0.0, 1.0)
        for ply in range(count):
            later = [0.9**h * searched[ply + h] if ply + h < count else results[ply] for h in (6, 16)]
            assert found[ply] == pytest.approx(sum(later) / 2, abs=1e-6)
    plain, mixed = (played(with_selfplay(search_value_share=0.0, short_term_share=share)) for share in (0.0, 0.5))
    own = played(with_selfplay(search_value_share=1.0))
    for number, game in plain.items():
        short = mixed_values(game.samples.values, own[number].samples.values, 0.9, 0.0, 1.0)
        assert mixed[number].samples.values == pytest.approx((game.samples.values + short) / 2, abs=1e-6)


def test_comments_give_blacks_value_at_every_searched_move() -> None:
    game = played(with_selfplay(search_value_share=1.0))[0]
    assert list(game.record.comments[: game.first_ply]) == [""] * game.first_ply
    for row, comment in enumerate(game.record.comments[game.first_ply :]):
        side = int(game.samples.positions.to_move[row])
        assert comment == f"value {side * game.samples.values[row]:+.3f} for black"


@pytest.mark.parametrize("noise", [noise for noise in Noise if noise is not Noise.MOVE])
def test_noise_changes_the_first_search_only_where_it_is_on(noise: Noise) -> None:
    plain = {"switch_stage": 0, "balanced_share": 0.0, "random_share": 0.0, "noise": noise}
    for share in (0.0, 0.25):
        games = played(with_selfplay(dirichlet_epsilon=share, **plain))
        first, *others = (games[number].samples.policies[0] for number in range(4))
        assert all(np.array_equal(first, policy) == (share == 0) for policy in others)


@pytest.mark.parametrize("noise", Noise)
def test_a_game_depends_on_its_number_its_round_and_the_seed_and_not_on_its_company(noise: Noise) -> None:
    config = with_selfplay(noise=noise, dirichlet_alpha=0.1)
    together = played(config, numbers=range(6))
    alone = played(replace(config, selfplay=replace(config.selfplay, concurrent_games=1)), numbers=range(6))
    resumed = played(config, numbers=[5, 2])
    assert all(same_game(together[number], alone[number]) for number in range(6))
    assert all(same_game(together[number], resumed[number]) for number in (2, 5))
    assert len({tuple(game.record.moves) for game in together.values()}) == 6
    for other in (played(replace(config, seed=43)), played(config, iteration=1)):
        assert not any(same_game(together[number], other[number]) for number in range(4))


def test_noise_in_the_move_stays_out_of_tree_and_target() -> None:
    """Moves that the search did not visit are played, while the targets are those of searches without noise."""
    config = with_selfplay(
        noise=Noise.MOVE, dirichlet_epsilon=0.5, switch_stage=100, balanced_share=0.0, random_share=0.0
    )
    games = played(config, range(8))
    assert all(np.array_equal(games[0].samples.policies[0], games[number].samples.policies[0]) for number in range(8))
    unvisited = total = 0
    for game in games.values():
        for row, move in enumerate(game.record.moves[game.first_ply :]):
            total += 1
            unvisited += int(game.samples.policies[row][move] == 0)
    assert 0.1 < unvisited / total < 0.5, "half the draws are from the noise, and some of it is on visited moves"


def test_noise_in_the_move_ends_at_the_switch_stage() -> None:
    config = with_selfplay(noise=Noise.MOVE, dirichlet_epsilon=1.0, switch_stage=0)
    for game in played(config).values():
        for row, move in enumerate(game.record.moves[game.first_ply :]):
            policy = game.samples.policies[row]
            assert policy[move] == policy.max() or game.first_ply + row == 0


@dataclass(slots=True)
class Begun:
    """A search that a game began."""

    simulations: int
    noise: object


def watched(monkeypatch: pytest.MonkeyPatch) -> list[Begun]:
    """Return the searches of the games to come, in order."""
    begun: list[Begun] = []
    plain = ForestSearch.begin

    def begin(search: ForestSearch, tree: int, simulations: int, *, noise: Any = None, **others: Any) -> None:
        begun.append(Begun(simulations, noise))
        plain(search, tree, simulations, noise=noise, **others)

    monkeypatch.setattr(ForestSearch, "begin", begin)
    return begun


@pytest.mark.parametrize("noise", Noise)
def test_fast_searches_have_no_noise_and_leave_no_sample(noise: Noise, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = watched(monkeypatch)
    config = with_selfplay(full_search_share=0.4, fast_simulations=6, noise=noise, search_value_share=1.0)
    games = played(config, numbers=range(24))
    full = [search for search in begun if search.simulations == CONFIG.search.simulations]
    assert {search.simulations for search in begun} == {6, CONFIG.search.simulations}
    assert all(search.noise is None for search in begun if search.simulations == 6)
    assert all((search.noise is None) is (noise is Noise.MOVE) for search in full)
    assert 0.3 < len(full) / len(begun) < 0.5
    assert sum(len(game.samples) for game in games.values()) == len(full)
    for game in games.values():
        moves, comments = game.record.moves, game.record.comments
        assert all(comments[game.first_ply :]), "the record has every search's value"
        row = 0
        for ply in range(game.first_ply, len(moves)):
            position = Position.from_moves(RULES, moves[:ply])
            if row < len(game.samples) and np.array_equal(game.samples.positions.stones[row], stones_of(position)):
                side = position.side_to_move
                assert comments[ply] == f"value {side * game.samples.values[row]:+.3f} for black"
                row += 1
        assert row == len(game.samples)


def test_results_count_the_moves_that_are_not_recorded() -> None:
    config = with_selfplay(full_search_share=0.4, fast_simulations=6, search_value_share=0.0)
    for game in played(config, numbers=range(6)).values():
        for row, result in enumerate(game.samples.values):
            left = len(game.record.moves) - int(np.count_nonzero(game.samples.positions.stones[row])) - 1
            expected = 0.0 if game.record.winner is None else 0.9**left
            assert abs(result) == pytest.approx(expected, rel=1e-5)


def test_the_played_moves_subtree_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search begins with the visits of the subtree and adds the ordered simulations to them."""
    found: list[NDArray[np.int32]] = []
    plain = ForestSearch.policy

    def policy(search: ForestSearch, tree: int, temperature: float = 1.0) -> NDArray[np.float32]:
        found.append(search.visits(tree))
        return plain(search, tree, temperature)

    monkeypatch.setattr(ForestSearch, "policy", policy)
    config = with_selfplay(concurrent_games=1, balanced_share=0.0, random_share=0.0)
    # A search that proves its root makes fewer simulations than were ordered.
    config = replace(config, search=replace(config.search, proven_nodes=False))
    game = played(config, numbers=[0])[0]
    ordered, kept = CONFIG.search.simulations, 0
    assert found[0].sum() == ordered - 1, "the first simulation evaluates the root"
    for before, after, move in zip(found, found[1:], game.record.moves, strict=False):
        assert after.sum() == before[move] - 1 + ordered
        kept += before[move] - 1
    assert kept > 0


def test_openings_come_in_the_configured_shares() -> None:
    config = with_selfplay(balanced_share=0.5, random_share=0.25)
    starts = [opening_of(config, 0, game, BALANCED) for game in range(400)]
    balanced = sum(tuple(start.moves) in BALANCED for start in starts)
    empty = sum(start.ply == 0 for start in starts)
    assert 160 < balanced < 240
    assert 65 < empty < 135
    assert all(2 <= start.ply <= 4 for start in starts if start.ply)
    without = [opening_of(config, 0, game, []) for game in range(100)]
    assert sum(start.ply == 0 for start in without) > 50, "without balanced openings those games start empty"
    assert [start.moves for start in starts[:9]] == [opening_of(config, 0, game, BALANCED).moves for game in range(9)]


def test_stopping_hands_over_finished_games_only() -> None:
    games: list[SelfPlayGame] = []
    player = SelfPlay(CONFIG, ScriptedEvaluator(RULES), iteration=0, balanced=BALANCED)
    for item in player.play(range(40), lambda: len(games) >= 3):
        if item is not None:
            games.append(item[1])
    assert 3 <= len(games) < 10
    whole = played(numbers=range(10))
    assert all(same_game(game, whole[game.number]) for game in games)
    assert all(Position.from_moves(RULES, game.record.moves).is_game_over() for game in games)


def test_counts_of_work_are_those_of_the_evaluator() -> None:
    evaluator = ScriptedEvaluator(RULES)
    player = SelfPlay(CONFIG, evaluator, iteration=0, balanced=BALANCED)
    games = [item[1] for item in player.play(range(8)) if item is not None]
    done = player.progress
    assert done.evaluations == sum(evaluator.batches)
    moves = sum(len(game.samples) for game in games)
    assert 0.5 * moves * CONFIG.search.simulations < done.simulations <= moves * CONFIG.search.simulations
    assert done.evaluations + done.known == done.leaves <= done.simulations
    assert {int(side) for game in games for side in game.samples.positions.to_move} == {BLACK, -BLACK}
