"""Players of a run's games and matches: the model in training, and the players that a configuration names."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from core.errors import UserError
from curriculum.arena.players import NamedPlayer, PlayerSettings
from curriculum.config import Config, Phase
from curriculum.keys import value_of
from curriculum.phases.jobs import evaluator_of
from search.players import Player
from search.tree.player import MctsPlayer


@dataclass(frozen=True)
class ModelPlayer:
    """The recipe (`search.players.Recipe`) of a model in training, with the run's search.

    It plays semi-stochastically (A IV-D).
    """

    config: Config
    model: Path
    name: str
    simulations: int = 0
    """0 takes the search's own number."""

    starts_games = False

    @property
    def files(self) -> tuple[Path, ...]:
        """See `Recipe`."""
        return (self.model,)

    def make(self, files: Mapping[Path, Path]) -> Player:
        """See `Recipe`."""
        config, search = self.config, self.config.search
        if self.simulations:
            search = replace(search, simulations=self.simulations)
        evaluator = evaluator_of(files[self.model])
        return MctsPlayer(evaluator, config.rules, search, switch_stage=config.evaluation.switch_stage, name=self.name)


def named_player(config: Config, spec: str, *, seconds: float | None = None) -> NamedPlayer:
    """Return the recipe of the teacher or opponent that `spec` names, with its own settings.

    A model plays with the search in its file and with tactics, as it does outside of training. Raises
    `PlayerSpecError`.
    """
    settings = PlayerSettings(switch_stage=config.evaluation.switch_stage, seconds=seconds)
    return NamedPlayer.of(spec, config.rules, settings)


def check_players(config: Config) -> None:
    """Raise `PlayerSpecError` or `CheckpointError`, with the setting, for a player of it that cannot play here."""
    others = ["imitation.opponent"] if config.imitation.opponent else []
    imitation = ["imitation.teacher", *others, "imitation.bar_opponent"]
    keys = imitation if Phase.IMITATION in config.phases else []
    specs = [(key, value_of(config, key)) for key in keys]
    finals = config.evaluation.opponents if config.evaluation.final_games else ()
    for key, spec in (*specs, *(("evaluation.opponents", each) for each in finals)):
        try:
            recipe = named_player(config, spec)
            recipe.make({path: path for path in recipe.files})
        except UserError as error:
            raise type(error)(f"{key}: {error}") from error
