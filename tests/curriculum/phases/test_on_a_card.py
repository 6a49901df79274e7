"""Gates, tournaments, and self-play with new weights on a stand-in of a card: captures only before the first use."""

from dataclasses import replace
from pathlib import Path

import pytest

from core.rules import Rules
from curriculum.arena.fixtures import fixtures
from curriculum.arena.tournament import play_tournament
from curriculum.config import Config, GateConfig, SelfplayConfig
from curriculum.phases.gate import play_gate
from curriculum.phases.jobs import SelfPlayJob
from curriculum.phases.players import ModelPlayer
from curriculum.reporting import Context
from nets.checkpoint import save_model
from nets.config import NetConfig
from nets.runtimes import cuda
from nets.runtimes.runtime import Piece
from search.tree.settings import SearchSettings
from tests.support.cards import Card, make_card, settle
from tests.support.nets import model_of

CONFIG = Config(
    rules=Rules(4, 3),
    net=NetConfig.tower(2, 0, hidden=2),
    search=SearchSettings(simulations=2),
    selfplay=SelfplayConfig(games=8, concurrent_games=4, balanced_share=0.0, random_share=0.0),
    gate=GateConfig(games=4, simulations=2),
)
GRAPHS = cuda._LANES * 2 * 2
"""Captures of an evaluator: two nets and, on the stand-in, two sizes."""


@pytest.fixture
def card(monkeypatch: pytest.MonkeyPatch) -> Card:
    """A stand-in that notes the captures at the first and the last batch."""
    card, evaluate = make_card(monkeypatch), cuda.CudaRuntime.evaluate

    def noted(self: cuda.CudaRuntime, net: str, pieces: list[Piece]) -> None:
        before = card.captures
        evaluate(self, net, pieces)
        card.captures_in_use += card.captures - before

    monkeypatch.setattr(cuda.CudaRuntime, "evaluate", noted)
    return card


def models(folder: Path, count: int) -> list[Path]:
    """Files of models with different weights."""
    paths = [folder / f"{number}.safetensors" for number in range(count)]
    for number, path in enumerate(paths):
        save_model(path, model_of(CONFIG.net, CONFIG.rules, number), {})
    return paths


def test_a_gate_captures_once_and_the_next_gate_nothing(card: Card, tmp_path: Path) -> None:
    paths = models(tmp_path, 3)
    for iteration in range(2):
        result = play_gate(CONFIG, paths[iteration + 1], paths[iteration], iteration, Context())
        assert result.total.games == 4
        settle()
        assert card.captures == 2 * GRAPHS
    assert (card.shared, card.captures_in_use, card.streams) == ([], 0, 2 * cuda._LANES)


def test_a_tournament_of_five_shares_no_stream(card: Card, tmp_path: Path) -> None:
    players = [ModelPlayer(CONFIG, path, path.stem) for path in models(tmp_path, 5)]
    schedule = fixtures(5, 1, openings=[()], seed=1, paired=False)
    tournament = play_tournament(players, schedule, rules=CONFIG.rules, context=Context(), paired=False)
    assert tournament.games == len(schedule) == 10
    assert (card.captures, card.streams) == (5 * GRAPHS, 5 * cuda._LANES)
    assert (card.shared, card.captures_in_use) == ([], 0)


def test_weights_that_are_pushed_into_running_games_capture_nothing(card: Card, tmp_path: Path) -> None:
    paths = models(tmp_path, 3)
    job = SelfPlayJob(replace(CONFIG, seed=3), 0, (), paths[0])
    games = job.open({paths[0]: paths[0]})
    versions, finished = {games._evaluator.version}, 0
    captured = card.captures
    for number, item in enumerate(games.play(iter(range(8)), lambda: False)):
        finished += item is not None
        if number % 5 == 0:
            games.push(paths[number // 5 % 3])
        versions.add(games._evaluator.version)
    games.close()
    assert (finished, len(versions)) == (8, 3)
    assert card.captures == captured == GRAPHS
    assert (card.shared, card.captures_in_use) == ([], 0)
