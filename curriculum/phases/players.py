"""Players of a run's games and matches: the model in training, and the players that a configuration names."""

from dataclasses import replace

from core.evaluation import Evaluator
from curriculum.arena.players import PlayerSettings, parse_player
from curriculum.config import Config, Phase
from search.players import Player
from search.tree.player import MctsPlayer


def model_player(config: Config, evaluator: Evaluator, *, name: str, simulations: int = 0) -> MctsPlayer:
    """Return the player of a model in training, with the run's search; `simulations` 0 takes the search's own number.

    It plays semi-stochastically (A IV-D).
    """
    search = replace(config.search, simulations=simulations) if simulations else config.search
    return MctsPlayer(evaluator, config.rules, search, switch_stage=config.evaluation.switch_stage, name=name)


def named_player(config: Config, spec: str, *, seconds: float | None = None) -> Player:
    """Return the teacher or opponent that `spec` names, with its own settings.

    A model plays with the search in its file and with tactics, as it does outside of training. Raises
    `PlayerSpecError`, and `CheckpointError` for a broken model.
    """
    settings = PlayerSettings(switch_stage=config.evaluation.switch_stage, seconds=seconds)
    return parse_player(spec, rules=config.rules, settings=settings)


def check_players(config: Config) -> None:
    """Raise `PlayerSpecError` or `CheckpointError` for a teacher or an opponent that cannot play here."""
    specs = (config.imitation.teacher, config.imitation.bar_opponent) if Phase.IMITATION in config.phases else ()
    finals = config.evaluation.opponents if config.evaluation.final_games else ()
    for spec in (*specs, *finals):
        named_player(config, spec)
