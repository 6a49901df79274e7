"""The work and the memory of a run by its configuration alone, for `gomoku train --dry-run`. Needs no torch."""

from curriculum.budget import PLIES_PER_GAME, TREE_ROOM, basics_work, imitation_work, round_work
from curriculum.config import Config, Phase
from curriculum.schedule import at_round
from nets.shapes import parameter_total
from search.tree.forest import bytes_per_node


def describe_work(config: Config) -> list[tuple[str, str]]:
    """Return the work and the memory as rows (name, amount); the length of games is a guess."""
    plies, selfplay = min(PLIES_PER_GAME, config.rules.cells), config.selfplay
    rounds = [round_work(at_round(config, number), plies) for number in range(selfplay.iterations)]
    imitated = config.imitation.games * plies
    work: dict[Phase, list[tuple[str, float]]] = {
        Phase.BASICS: [("positions trained in basics", basics_work(config))],
        Phase.IMITATION: [
            ("positions of the teacher", imitated),
            ("positions trained in imitation, at most", imitation_work(config, plies)),
        ],
        Phase.SELFPLAY: [
            ("simulations of self-play and gates", sum(work.simulations for work in rounds)),
            ("positions trained in self-play", sum(work.trained for work in rounds)),
        ],
    }
    trees = selfplay.concurrent_games * (TREE_ROOM * config.search.simulations + 1) * bytes_per_node(config.rules)
    # The policy target in float32, the stones, the side to move and the last moves, the value target.
    sample_bytes = 5 * config.rules.cells + 9
    held = max(selfplay.window, imitated, basics_work(config) // max(1, config.basics.epochs))
    return [
        ("parameters of all nets", f"{parameter_total(config.net, config.rules):,}"),
        *((name, f"{amount:,.0f}") for phase in config.phases for name, amount in work[phase]),
        ("memory for samples, at most", f"{2 * held * sample_bytes / 2**20:,.0f} MiB"),
        ("memory for search trees, at most", f"{trees / 2**20:,.0f} MiB"),
    ]
