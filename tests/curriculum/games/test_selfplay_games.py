"""Games of self-play: the contents of samples, the subtree that is kept, and the seeds of games."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from core.position import Position
from core.rules import BLACK, Rules
from curriculum.config import Config, SelfplayConfig, TrainingConfig
from curriculum.games.selfplay_games import SelfPlay, SelfPlayGame, opening_of
from curriculum.training.samples import decayed_results
from search.tree.mcts import ForestSearch
from search.tree.settings import SearchSettings
from tests.support.evaluators import ScriptedEvaluator

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
    games: dict[int, SelfPlayGame] = {}
    player = SelfPlay(config, ScriptedEvaluator(config.rules), iteration=iteration, balanced=BALANCED)
    player.play(list(numbers), lambda game: games.update({game.number: game}), lambda: False)
    return games


def same_game(one: SelfPlayGame, other: SelfPlayGame) -> bool:
    return (
        one.record == other.record
        and np.array_equal(one.samples.policies, other.samples.policies)
        and np.array_equal(one.samples.values, other.samples.values)
    )


def test_every_position_stands_before_the_move_its_policy_led_to() -> None:
    for game in played(numbers=range(6)).values():
        moves, positions = game.record.moves, game.samples.positions
        assert len(game.samples) == len(moves) - game.first_ply
        for row, ply in enumerate(range(game.first_ply, len(moves))):
            position = Position.from_moves(RULES, moves[:ply])
            assert np.array_equal(positions.stones[row], position.stones)
            assert positions.to_move[row] == position.side_to_move
            assert tuple(positions.last_moves[row]) == position.last_moves
            policy = game.samples.policies[row]
            assert policy.sum() == pytest.approx(1.0, abs=1e-5)
            assert not policy[position.stones != 0].any()
            assert policy[moves[ply]] > 0, "the move was one that the search visited"
            if ply > CONFIG.selfplay.switch_stage:
                assert policy[moves[ply]] == policy.max(), "the best one after the switch stage"
        outcome = Position.from_moves(RULES, moves).outcome()
        assert outcome is not None
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


def test_comments_give_blacks_value_at_every_searched_move() -> None:
    game = played(with_selfplay(search_value_share=1.0))[0]
    assert list(game.record.comments[: game.first_ply]) == [""] * game.first_ply
    for row, comment in enumerate(game.record.comments[game.first_ply :]):
        side = int(game.samples.positions.to_move[row])
        assert comment == f"value {side * game.samples.values[row]:+.3f} for black"


def test_a_game_depends_on_its_number_and_not_on_its_company() -> None:
    together = played(numbers=range(6))
    alone = played(with_selfplay(concurrent_games=1), numbers=range(6))
    resumed = played(numbers=[5, 2])
    assert all(same_game(together[number], alone[number]) for number in range(6))
    assert all(same_game(together[number], resumed[number]) for number in (2, 5))
    assert len({tuple(game.record.moves) for game in together.values()}) == 6


def test_rounds_and_seeds_play_other_games() -> None:
    first = played()
    other_round, other_seed = played(iteration=1), played(replace(CONFIG, seed=43))
    assert not any(same_game(first[number], other_round[number]) for number in range(4))
    assert not any(same_game(first[number], other_seed[number]) for number in range(4))


def test_noise_changes_games_only_where_it_is_on() -> None:
    quiet = with_selfplay(dirichlet_epsilon=0.0, switch_stage=0, balanced_share=0.0, random_share=0.0)
    games = played(quiet)
    policies = [games[number].samples.policies[0] for number in range(4)]
    assert all(np.array_equal(policies[0], policy) for policy in policies[1:]), "the first search is the same one"
    noisy = played(replace(quiet, selfplay=replace(quiet.selfplay, dirichlet_epsilon=0.25)))
    assert not np.array_equal(noisy[0].samples.policies[0], noisy[1].samples.policies[0])


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
    player.play(list(range(40)), games.append, lambda: len(games) >= 3)
    assert 3 <= len(games) < 10
    whole = played(numbers=range(10))
    assert all(same_game(game, whole[game.number]) for game in games)
    assert all(Position.from_moves(RULES, game.record.moves).is_game_over() for game in games)


def test_more_games_than_places_take_turns() -> None:
    games = played(with_selfplay(concurrent_games=2), numbers=range(7))
    assert sorted(games) == list(range(7))
    assert played(with_selfplay(concurrent_games=8), numbers=[3]).keys() == {3}


def test_counts_of_work_are_those_of_the_evaluator() -> None:
    evaluator = ScriptedEvaluator(RULES)
    player = SelfPlay(CONFIG, evaluator, iteration=0, balanced=BALANCED)
    games: list[SelfPlayGame] = []
    player.play(range(8), games.append, lambda: False)
    done = player.progress
    assert done.evaluations == sum(evaluator.batches)
    moves = sum(len(game.samples) for game in games)
    assert 0.5 * moves * CONFIG.search.simulations < done.simulations <= moves * CONFIG.search.simulations
    assert done.evaluations + done.known == done.leaves <= done.simulations
    assert {int(side) for game in games for side in game.samples.positions.to_move} == {BLACK, -BLACK}
