"""Checks of a whole configuration, made before a run begins rather than after hours of work."""

from core.input_limits import MAX_PARAMETERS
from curriculum.config import Config, Phase
from curriculum.games.kinds import check as check_kinds
from curriculum.presets import check_fields
from curriculum.schedule import at_round
from curriculum.stated import ConfigError
from nets.shapes import parameter_total
from search.tree.settings import NODE_ALPHA, Noise


def check(config: Config) -> None:
    """Check the fields of a new run's configuration and the settings that must fit together.

    Runs made before a check existed stay readable: `read_config` does not call it. Raises `ConfigError`, and
    `BasicsError` for basic positions that cannot be drawn.
    """
    check_fields(config)
    if not config.phases or list(config.phases) != [phase for phase in Phase if phase in config.phases]:
        raise ConfigError(
            f"phases is {', '.join(config.phases) or 'empty'}; it must be some of {', '.join(Phase)}, in order"
        )
    if draws_basics(config):
        check_kinds(config.rules, config.basics.kinds, config.basics.noise_stones)
    at_round(config, 10**9)  # raises for a stage of the schedule that cannot be read
    parameters = parameter_total(config.net, config.rules)
    if parameters > MAX_PARAMETERS:
        raise ConfigError(f"the nets would have {parameters:,} parameters; the limit is {MAX_PARAMETERS:,}")
    imitation, selfplay = config.imitation, config.selfplay
    if selfplay.concurrent and (not selfplay.epochs or config.gate.games):
        raise ConfigError("selfplay.concurrent needs selfplay.epochs above 0 and gate.games = 0: no match decides then")
    if selfplay.concurrent and selfplay.overlap:
        raise ConfigError("selfplay.concurrent has no rounds to overlap: set selfplay.overlap to false")
    if selfplay.concurrent and selfplay.anneal_each_round:
        raise ConfigError(
            "selfplay.concurrent lets the learning rate fall over the rounds: set selfplay.anneal_each_round to false"
        )
    if Phase.IMITATION in config.phases and imitation.bar_every > imitation.passes:
        raise ConfigError(
            f"imitation.bar_every is {imitation.bar_every}, but imitation.passes is {imitation.passes}: no pass "
            f"would be measured before the end; give {imitation.passes} or less, or 0 to measure at the end alone"
        )
    for stage in ("0:", *config.schedule):
        _check_round(at_round(config, int(stage.partition(":")[0])))


def _check_round(config: Config) -> None:
    """Check the settings of a round of self-play that must fit together. Raises `ConfigError`."""
    selfplay = config.selfplay
    if config.search.simulations < 2:
        raise ConfigError(f"search.simulations is {config.search.simulations}; training needs 2 or more")
    if selfplay.random_share > 0 and selfplay.opening_stones[1] == 0:
        raise ConfigError(
            f"selfplay.random_share is {selfplay.random_share:g}, but selfplay.opening_stones allows no stones"
        )
    if selfplay.noise is Noise.EVERY_NODE and selfplay.dirichlet_alpha not in NODE_ALPHA:
        raise ConfigError(
            f"selfplay.dirichlet_alpha is {selfplay.dirichlet_alpha:g}; with selfplay.noise {Noise.EVERY_NODE} it must "
            f"be {NODE_ALPHA}"
        )
    if selfplay.full_search_share < 1 and not 0 < selfplay.fast_simulations < config.search.simulations:
        raise ConfigError(
            f"selfplay.full_search_share is {selfplay.full_search_share:g}, and selfplay.fast_simulations is "
            f"{selfplay.fast_simulations}; it must be above 0 and below search.simulations, {config.search.simulations}"
        )
    if selfplay.search_value_share + selfplay.short_term_share > 1:
        raise ConfigError("selfplay.search_value_share and selfplay.short_term_share together are more than 1")
    if selfplay.balanced_share + selfplay.random_share > 1:
        raise ConfigError("selfplay.balanced_share and selfplay.random_share together are more than 1")


def draws_basics(config: Config) -> bool:
    """Return True if a run draws basic positions: for their phase, or for imitation's batches."""
    return Phase.BASICS in config.phases or (Phase.IMITATION in config.phases and config.imitation.basics_share > 0)
