"""Players of a run's games and matches: the model in training, and the players that a configuration names."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from core.evaluation import Evaluator
from curriculum.arena.players import NamedPlayer, PlayerSettings
from curriculum.config import Config, Phase
from curriculum.phases.jobs import evaluator_of
from search.players import Player
from search.tree.player import MctsPlayer


def model_player(config: Config, evaluator: Evaluator, *, name: str, simulations: int = 0) -> MctsPlayer:
    """Return the player of a model in training, with the run's search; `simulations` 0 takes the search's own number.

    It plays semi-stochastically (A IV-D).
    """
    search = replace(config.search, simulations=simulations) if simulations else config.search
    return MctsPlayer(evaluator, config.rules, search, switch_stage=config.evaluation.switch_stage, name=name)


@dataclass(frozen=True)
class ModelPlayer:
    """The recipe (`search.players.Recipe`) of `model_player` with the model of a file."""

    config: Config
    model: Path
    name: str
    simulations: int = 0

    starts_games = False

    @property
    def files(self) -> tuple[Path, ...]:
        """See `Recipe`."""
        return (self.model,)

    def make(self, files: Mapping[Path, Path]) -> Player:
        """See `Recipe`."""
        evaluator = evaluator_of(files[self.model])
        return model_player(self.config, evaluator, name=self.name, simulations=self.simulations)


def named_player(config: Config, spec: str, *, seconds: float | None = None) -> NamedPlayer:
    """Return the recipe of the teacher or opponent that `spec` names, with its own settings.

    A model plays with the search in its file and with tactics, as it does outside of training. Raises
    `PlayerSpecError`.
    """
    settings = PlayerSettings(switch_stage=config.evaluation.switch_stage, seconds=seconds)
    return NamedPlayer.of(spec, config.rules, settings)


def check_players(config: Config) -> None:
    """Raise `PlayerSpecError` or `CheckpointError` for a teacher or an opponent that cannot play here."""
    specs = (config.imitation.teacher, config.imitation.bar_opponent) if Phase.IMITATION in config.phases else ()
    finals = config.evaluation.opponents if config.evaluation.final_games else ()
    for spec in (*specs, *finals):
        recipe = named_player(config, spec)
        recipe.make({path: path for path in recipe.files})
