"""Presets of the papers: each has the paper's net and numbers, learns a little, and survives its file."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.position import Position
from core.rules import Rules
from curriculum.config import Config, Optimiser, Phase
from curriculum.games.selfplay_games import SelfPlay, SelfPlayGame
from curriculum.presets import chain_names, chain_of, preset_names, resolve
from curriculum.schedule import at_round
from curriculum.stated import ConfigError
from curriculum.training.samples import Samples
from curriculum.training.trainer import Trainer
from nets.checkpoint import load_model, save_model
from nets.runtimes.net_evaluator import NetEvaluator
from nets.shapes import fits, parameter_total
from search.tree.player import MctsPlayer
from search.tree.settings import Noise
from tests.support.nets import CPU, EXACT

A_NET = 147_053
S_BASIC = 131_132
CONV_128 = 128 * 128 * 9 + 128
RESIDUAL = 2 * CONV_128
FEWER_PLANES = 32 * (4 + 2)  # the heads read 96 channels in place of 128
POOLING = (3 * 32 * 96 + 96) + 2 * 32 - FEWER_PLANES
GARB = (86 * 86 * 9 + 86) + (42 * 42 * 9 + 42) + (86 * 128 * 9 + 128) + (84 * 86 + 86) + 2 * (86 + 42)
PARAMETERS = {
    **{f"alphagomoku{name}": 2 * A_NET for name in ("", "-no-decay", "-no-curriculum", "-no-virtual-loss")},
    **dict.fromkeys(("alphagomoku-one-net", "alphagomoku-plain"), A_NET),
    "alphagomoku-repository": 2 * (A_NET + 2 * (9 * 32 * 32 + 32 + 64)),
    **{"y-3x3": 19_205, "y-6x6": 107_115, "y-20x20-direct": 982_647},
    **dict.fromkeys(("y-8x8", "y-12x12", "y-20x20"), 605_378),
    **dict.fromkeys(("s-basic", "s-pcr", "s-pcr-katago"), S_BASIC),
    **{f"s-{blocks}rb": S_BASIC + blocks * RESIDUAL for blocks in (1, 2, 3, 4)},
    **dict.fromkeys(("s-gp", "s-gp-7000", "s-pcr-gp"), S_BASIC + POOLING),
    **{f"s-{blocks}rb-gp": S_BASIC + blocks * RESIDUAL + POOLING for blocks in (1, 2, 4)},
    **{f"s-{blocks}rb-{blocks - 1}garb": S_BASIC + blocks * RESIDUAL + (blocks - 1) * GARB for blocks in (2, 3)},
    "s-gp-be": S_BASIC + POOLING + (13**2 - 9**2) * (4 * 81 + 2 * 64),
}
"""Trainable parameters, all nets of a model together."""
LEARNING = "alphagomoku-repository alphagomoku-one-net y-3x3 s-gp s-pcr-katago s-2rb-1garb s-gp-be".split()
"""A preset with each kind of net and of training; the others differ in depth, board or one number."""
OURS = {"quick", "smoke", "hour", "strongest", "strongest-standard", "strongest-renju", "strongest-caro"}
SMOKE = ("search.simulations=2", "selfplay.concurrent_games=2", "training.batch_size=16", "selfplay.cache_megabytes=0")


def test_the_papers_presets_are_all_here() -> None:
    assert set(preset_names()) - OURS == PARAMETERS.keys()
    for name, parameters in PARAMETERS.items():
        config = resolve(name)
        assert parameter_total(config.net, config.rules) == parameters, name


@pytest.mark.parametrize("name", LEARNING)
@pytest.mark.slow
def test_a_preset_of_a_paper_learns_and_plays(name: str, tmp_path: Path) -> None:
    config = resolve(name, assignments=SMOKE)
    if config.selfplay.fast_simulations:
        config = replace(config, selfplay=replace(config.selfplay, fast_simulations=4))
    trainer = Trainer(config)
    samples = Samples.concatenate([game.samples for game in played(config, trainer)])
    losses = trainer.train(trainer.batches(samples, 1), 0, 2, np.full(2, 1e-3))
    assert np.isfinite([*losses.values()]).all()
    trainer.refresh_norms(samples, 1)
    path = tmp_path / "model.safetensors"
    save_model(path, trainer.model, {"preset": name})
    model, info = load_model(path)
    assert (info.net, info.rules) == (config.net, config.rules)
    evaluator = NetEvaluator(model, EXACT, device=CPU)
    position = Position(config.rules)
    position.push(MctsPlayer(evaluator, config.rules, config.search).choose(position, seed=1).move)
    assert position.ply == 1
    evaluator.close()


def played(config: Config, trainer: Trainer) -> list[SelfPlayGame]:
    """A game of self-play."""
    evaluator = NetEvaluator(trainer.model, EXACT, device=CPU)
    playing = SelfPlay(config, evaluator, iteration=0, balanced=[]).play([0])
    games = [item[1] for item in playing if item is not None]
    evaluator.close()
    return games


def test_paper_y_has_its_numbers() -> None:
    config = resolve("y-8x8")
    assert config.rules == Rules(8, 5)
    assert (config.search.simulations, config.search.c_puct, config.search.symmetric) == (5000, 4.0, True)
    selfplay, training = config.selfplay, config.training
    assert (training.optimiser, training.batch_size, training.l2) == (Optimiser.ADAM, 1024, 1e-4)
    assert (selfplay.noise, selfplay.dirichlet_alpha, selfplay.dirichlet_epsilon) == (Noise.EVERY_NODE, 0.06, 0.1)
    assert (8 * selfplay.window, selfplay.learning_rate, selfplay.temperature) == (20_480, 5e-4, 1.0)
    assert selfplay.iterations * selfplay.epochs == 60_000
    late = at_round(config, 40)
    assert (late.search.simulations, late.selfplay.temperature, 8 * late.selfplay.window) == (10_000, 0.5, 40_960)
    boards = [resolve(name) for name in ("y-12x12", "y-20x20")]
    assert [board.selfplay.iterations * board.selfplay.epochs for board in boards] == [8_000, 7_000]
    assert [at_round(board, 20).search.simulations for board in boards] == [15_000, 15_000]
    assert at_round(boards[0], 20).selfplay.buffer_from == 20
    small = resolve("y-3x3")
    assert (small.search.simulations, small.selfplay.dirichlet_alpha, 8 * small.selfplay.window) == (100, 0.03, 200_000)
    six = resolve("y-6x6")
    assert (six.search.simulations, six.selfplay.dirichlet_alpha, 8 * six.selfplay.window) == (3000, 0.12, 10_240)


def test_the_weights_of_paper_y_fit_all_boards_of_the_chain() -> None:
    chain = chain_of("y-chain")
    assert chain == ("y-8x8", "y-12x12", "y-20x20")
    assert chain_names() == ["y-chain"]
    first = resolve(chain[0])
    assert all(fits(first.net, first.rules, resolve(name).rules) for name in chain)
    assert all(resolve(name).net == first.net for name in chain)
    with pytest.raises(ConfigError, match="is a chain of y-8x8, y-12x12, y-20x20"):
        resolve("y-chain")


def test_paper_s_has_its_numbers() -> None:
    config = resolve("s-basic")
    assert (config.rules, config.seed, config.phases) == (Rules(9, 5), 42, (Phase.SELFPLAY,))
    assert (config.search.simulations, config.search.c_puct) == (400, 5.0)
    assert config.selfplay.iterations * config.selfplay.games == 1_500
    assert (config.selfplay.noise, config.training.optimiser) == (Noise.MOVE, Optimiser.ADAM)
    assert resolve("s-gp-7000").selfplay.iterations * config.selfplay.games == 7_000
    local = resolve("s-pcr").search
    assert (local.simulations, local.local_playouts) == (200, 0.5)
    fast = resolve("s-pcr-katago")
    assert (fast.search.simulations, fast.selfplay.fast_simulations) == (600, 100)
    assert fast.selfplay.full_search_share == 0.25


@pytest.mark.parametrize(
    ("name", "differing"),
    [
        ("alphagomoku-one-net", {"net.dual"}),
        ("alphagomoku-no-decay", {"search.value_decay", "training.z_decay"}),
        ("alphagomoku-no-virtual-loss", {"search.leaves_in_flight"}),
    ],
)
def test_an_ablation_differs_in_one_thing(name: str, differing: set[str]) -> None:
    full, ablated = resolve("alphagomoku"), resolve(name)
    for section in ("rules", "net", "search", "training", "basics", "imitation", "selfplay", "gate"):
        ours, theirs = getattr(full, section), getattr(ablated, section)
        for key in ours.__dataclass_fields__:
            assert (getattr(ours, key) == getattr(theirs, key)) != (f"{section}.{key}" in differing), key
    assert ablated.phases == full.phases
