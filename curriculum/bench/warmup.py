"""Warm-up: a little of all work with compiled code, so that later commands find their kernels in the cache.

It also prepares the graphs of the built-in models.
"""

from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from core.compiled.compiler import known_kernels
from core.evaluation import BatchEvaluator, Evaluator, PositionBatch
from core.position import Position
from core.rules import Rules, Variant
from curriculum.bench.compiling import helper_for, watching_compilation
from curriculum.config import Config, SelfplayConfig
from curriculum.games import basics
from curriculum.games.kinds import KINDS
from curriculum.games.selfplay_games import SelfPlay
from curriculum.reporting import Context
from nets.checkpoint import BUILT_IN
from nets.config import NetConfig
from nets.runtimes.lines import LineRuntime
from nets.runtimes.loading import open_model
from nets.runtimes.runtime_evaluator import RuntimeEvaluator
from nets.shapes import tensor_types
from search.mentor.casual import CasualPlayer, Habits
from search.mentor.paper import PaperMentor
from search.mentor.player import Mentor
from search.players import Player
from search.pure_mcts.player import PureMcts
from search.tree.mcts import ForestSearch
from search.tree.player import MctsPlayer
from search.tree.settings import SearchSettings

_RULES = Rules(9)
"""Those of the warm-up's games; `compile_all` sets their variant."""
_SEARCH = SearchSettings(simulations=16)
_CHECK_S = 0.25
"""Interval of the checks while the second process compiles."""


def compile_all(context: Context, variant: Variant = Variant.FREESTYLE) -> int:
    """Compile every kernel for the types of real work, and prepare the graphs of the built-in models.

    A second process compiles the rest of the players meanwhile, if there is a second core and the rules are freestyle.
    Return the number of kernels that were not compiled yet. Raises `Interrupted`.
    """
    global _RULES
    _RULES = Rules(_RULES.size, variant=variant)
    helper = helper_for(compile_rest) if variant is Variant.FREESTYLE else None
    with context.reporter.task("compiling", known_kernels(), "kernels") as task:

        def compiled() -> set[str]:
            return compilation.kernels | (helper.kernels() if helper else set())

        with watching_compilation(
            lambda kernel: task.update(len(compiled()), now=kernel.rpartition(".")[2])
        ) as compilation:
            for evaluator in (_UniformEvaluator(), _line_evaluator()):
                for play in (_play_self_play, _play_against_a_person):
                    context.check()
                    play(evaluator)
            while helper and not helper.join(_CHECK_S):
                task.update(len(compiled()))
                context.check()
            compile_rest()
        _open_the_built_in_models()
        task.update(known_kernels())
    return len(compiled())


def compile_rest() -> None:
    """Compile the kernels of the players without a net, and of the basics."""
    compile_beside_search()
    _decide(PaperMentor())
    _decide(PureMcts(2))
    _decide(CasualPlayer(Habits()))
    samples = basics.draw(_RULES, tuple(KINDS), len(KINDS), (0, 8), 0, Context())
    basics.are_right(_RULES, samples.positions, samples.policies.argmax(axis=1))


def compile_search() -> None:
    """Compile the tree search with a line-pattern net, without the kernels of `compile_beside_search`."""
    settings = replace(_SEARCH.with_tactics(), forced_moves=False, vcf_root_nodes=0)
    search = ForestSearch(_RULES, _line_evaluator(), settings, trees=1)
    search.set_root(0, Position.from_moves(_RULES, [0]))
    search.begin(0, settings.simulations)
    while not search.advance():
        pass


def compile_beside_search() -> None:
    """Compile the kernels of the mentor, those at the root of a tree, and a line-pattern net for a position."""
    _decide(Mentor())
    search = ForestSearch(_RULES, _UniformEvaluator(), _SEARCH.with_tactics(), trees=1)
    search.set_root(0, Position.from_moves(_RULES, [0]))
    search.begin(0, 1)
    search.has_one_reply(0)
    search.visits(0)
    search.value(0)
    search.play(0, 1)
    _line_evaluator().evaluate(PositionBatch.empty(1, _RULES.cells))


def compile_line_play() -> None:
    """Compile all that a model of line-pattern nets needs to play."""
    compile_search()
    compile_beside_search()
    _play_against_a_person(_line_evaluator())


def compile_play() -> None:
    """Compile all that any other model needs to play."""
    compile_beside_search()
    _play_against_a_person(_UniformEvaluator())


class _UniformEvaluator(BatchEvaluator):
    """An evaluator with equal priors and value 0: the kernels do not depend on the runtime of the nets."""

    def evaluate(self, positions: PositionBatch) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """See `BatchEvaluator`."""
        return np.zeros(positions.stones.shape, np.float32), np.zeros(len(positions), np.float32)


@cache
def _line_evaluator() -> RuntimeEvaluator:
    """Return the evaluator of a small line-pattern net, all of whose weights are 0."""
    config = NetConfig(
        trunk=("lines-32:1x1", "spread"), policy_head=("cells",), value_head=("regions-15-16",), dual=False
    )
    arrays = {name: np.zeros(kind.shape, np.float32) for name, kind in tensor_types(config, _RULES).items()}
    return RuntimeEvaluator(LineRuntime(config, _RULES, arrays), config, _RULES.cells, version=0)


def _play_self_play(evaluator: Evaluator) -> None:
    settings = SelfplayConfig(concurrent_games=2, cache_megabytes=1)
    config = Config(rules=_RULES, search=_SEARCH, selfplay=settings)
    list(SelfPlay(config, evaluator, iteration=0, balanced=()).play([0, 1]))


def _play_against_a_person(evaluator: Evaluator) -> None:
    position = Position.from_moves(_RULES, [0])
    player = MctsPlayer(evaluator, _RULES, _SEARCH.with_tactics())
    player.ponder(position, lambda: True)
    position.push(1)
    _decide(player, position)


def _decide(player: Player, position: Position | None = None) -> None:
    player.choose_batch([position or Position.from_moves(_RULES, [0])], seeds=[0])


def _open_the_built_in_models() -> None:
    for file in (BUILT_IN["default"], BUILT_IN["paper"]):
        evaluator = open_model(file)
        evaluator.prepare(1)
        evaluator.close()
