"""Players by their names: `default`, a model file, a run folder, `random`, `mentor`, `pure-mcts:1000`, …"""

import os
import shlex
import shutil
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

from core.arguments import check_kind
from core.errors import BadDataError, UsageError
from core.input_limits import MAX_PLAYER_LENGTH, MAX_SIMULATIONS, quoted
from core.rules import Rules, shipped_variant
from core.setting_bounds import NON_NEGATIVE, POSITIVE, Bounds, check_settings, from_json
from curriculum.arena import player_names
from curriculum.run.folder import best_model, is_run, why_no_model, why_no_run
from search.engine import Engine
from search.players import Player, RandomPlayer
from search.tree.settings import DEFAULT_MAX_BYTES, DEFAULT_SWITCH_STAGE, Policy, SearchSettings

ENGINE_MEMORY = "GOMOKU_ENGINE_MEMORY"
"""The environment variable with the memory of an engine in MB."""
_MAX_MEMORY_DIGITS = 9


class PlayerSpecError(UsageError, ValueError):
    """A text that names no player, or a player that cannot play; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayerSettings:
    """Settings of a player in a game. `settings_of` names the ones that each kind of player reads.

    Raises `ValueError` for a number out of its bounds, and for a name of no policy.

    >>> quick = gomoku.open_engine("default", gomoku.PlayerSettings(simulations=20))
    >>> quick.limit
    Limit(depth=None, nodes=20, seconds=None)
    """

    search: SearchSettings | None = None
    """Search of a model; None takes the settings of its training, with tactics and the leaves in flight of play."""
    simulations: Annotated[int | None, Bounds(0, MAX_SIMULATIONS)] = None
    """New simulations a move; None takes the number of the search."""
    nodes: Annotated[int | None, POSITIVE] = None
    """Largest number of nodes a move of the mentor; None leaves its level or time."""
    seconds: Annotated[float | None, POSITIVE] = None
    """Time of each move, with any number of simulations; None sets no time."""
    engine_seconds: Annotated[float | None, POSITIVE] = None
    """Time of each move of an engine; None takes `seconds`, or one second without those."""
    match_seconds: Annotated[float | None, POSITIVE] = None
    """Time of all moves of an engine in a game; None sets no limit."""
    memory_bytes: Annotated[int | None, POSITIVE] = None
    """Memory limit of the trees of a search; None takes the limit of `search.tree.player`."""
    keeps_tree: bool = False
    """Keep the tree of a decision for the next one of the same game, which then depends on it."""
    policy: Policy = Policy.SEMI_STOCHASTIC
    """The choice of a move after the search. The default draws the first moves, so that games differ."""
    switch_stage: Annotated[int, NON_NEGATIVE] = DEFAULT_SWITCH_STAGE
    """Stones on the board up to which the semi-stochastic policy draws; 0 for the best move always."""
    temperature: Annotated[float, POSITIVE] = 1.0
    """Of drawn moves: they are drawn by visits to the power of 1 / temperature."""
    tactics: bool = True
    """Let the search see forced wins; False is the search of the training (`SearchSettings.literal`)."""
    book: Path | None = None
    """An opening book whose moves come before those of the player; None plays without one."""

    def __post_init__(self) -> None:
        check_settings(self)


_LEVEL_SETTINGS = frozenset({"memory_bytes", "keeps_tree"})
_MODEL_SETTINGS = _LEVEL_SETTINGS.union(
    ("search", "simulations", "seconds", "policy", "switch_stage", "temperature", "tactics", "book")
)
_MENTOR_SETTINGS = frozenset({"nodes", "seconds", "policy", "book"})
_ENGINE_SETTINGS = frozenset({"seconds", "engine_seconds", "match_seconds"})


def settings_of(spec: str) -> frozenset[str]:
    """Return the names of the `PlayerSettings` that a player reads. Raises `PlayerSpecError`."""
    if model_path(spec) is not None:
        return _MODEL_SETTINGS
    if spec in _MENTORS:
        return _MENTOR_SETTINGS
    if spec in player_names.LEVELS:
        return _LEVEL_SETTINGS
    return _ENGINE_SETTINGS if spec.startswith(f"{player_names.ENGINE}:") else frozenset()


def _missing(message: str) -> BadDataError:
    from nets.checkpoint import CheckpointError

    return CheckpointError(message)


def model_path(spec: str, rules: Rules | None = None) -> Path | None:
    """Return the model file that a spec names, None for a player without a net.

    `default` names the net of the variant of `rules`, where there is one (`nets.checkpoint.model_file`).

    Raises `PlayerSpecError`, and `CheckpointError` where there is no such file.
    """
    if len(spec) > MAX_PLAYER_LENGTH:
        raise PlayerSpecError(f"{quoted(spec)} has {len(spec):,} characters; a name has {MAX_PLAYER_LENGTH:,} at most")
    if spec.startswith(f"{player_names.ENGINE}:"):
        return None  # an @ belongs to its command
    spec, own = player_names.own_simulations(spec)
    if spec in player_names.PAPER_MODELS or spec.partition("-")[0] in (player_names.DEFAULT, player_names.PAPER):
        from nets.checkpoint import BUILT_IN, model_file

        if spec in BUILT_IN:
            return model_file(spec, rules)
    if spec in (*_FIXED, *_MENTORS, *player_names.LEVELS) or spec.startswith(player_names.PURE_MCTS):
        if own is not None:
            raise PlayerSpecError(f"{spec} takes no simulations of its own: models do, as {player_names.DEFAULT}@50")
        return None
    path = Path(spec)
    if is_run(path):
        if not best_model(path).is_file():
            raise _missing(why_no_model(path))
        return best_model(path)
    if spec and path.is_dir():
        raise _missing(why_no_run(path))
    if os.path.lexists(spec):
        return path  # `nets.checkpoint` refuses all but files
    if os.sep in spec or path.suffix:
        raise _missing(f"there is no file or folder {spec}")
    kind, _, number = spec.partition(":")
    numbered = [each for each in player_names.NUMBERED if each.startswith(f"{kind}:") and (number or "0").isdecimal()]
    near = numbered or get_close_matches(spec, player_names.EXAMPLES, n=1)
    hint = f" (did you mean {near[0]}?)" if near else ""
    raise PlayerSpecError(f"{spec!r} names no player{hint}: write {player_names.HELP}")


def resolve_rules(specs: Sequence[str], **given: Any) -> Rules:
    """Return the rules of games between these players: the `given` fields, else those of a model, else 15x15.

    Without given ones they are those of the first model whose rules all models play: a fully convolutional net plays
    boards of other sizes than its own.

    Raises `PlayerSpecError` if they cannot meet, `nets.checkpoint.CheckpointError` for a broken model.
    """
    from nets.checkpoint import read_info

    models = [(spec, read_info(path)) for spec in specs if (path := model_path(spec)) is not None]
    meeting = [info.rules for _, info in models if all(other.plays(info.rules) for _, other in models)]
    if models and not meeting and not given:
        one, first = models[0]
        other, second = next((spec, info) for spec, info in models if not info.plays(first.rules))
        raise PlayerSpecError(f"{one} plays {first.rules} and {other} plays {second.rules}: they cannot meet")
    default = meeting[0] if meeting else models[0][1].rules if models else Rules()
    rules = replace(default, **given)
    for spec, info in models:
        if not info.plays(rules):
            others = f"{player_names.MENTOR}, {player_names.RANDOM} and {player_names.PURE_MCTS}:N play on any board"
            raise PlayerSpecError(f"{spec} plays {info.rules}, not {rules}; {others}")
    return rules


@dataclass(frozen=True)
class NamedPlayer:
    """The recipe (`search.players.Recipe`) of a player that a spec names."""

    spec: str
    rules: Rules
    settings: PlayerSettings
    model: Path | None
    """The file of its model, if it has one."""

    @classmethod
    def of(cls, spec: str, rules: Rules, settings: PlayerSettings) -> "NamedPlayer":
        """Return the recipe of a spec. Raises `PlayerSpecError`."""
        return cls(spec, rules, settings, model_path(spec, rules))

    @property
    def name(self) -> str:
        """See `Recipe`."""
        return self.spec

    @property
    def files(self) -> tuple[Path, ...]:
        """See `Recipe`."""
        return tuple(path for path in (self.model, self.settings.book) if path is not None)

    @property
    def starts_games(self) -> bool:
        """See `Recipe`."""
        return self.spec.startswith(f"{player_names.ENGINE}:")

    def make(self, files: Mapping[Path, Path]) -> Player:
        """See `Recipe`. Raises the errors of `parse_player`."""
        spec, rules, settings = self.spec, self.rules, self.settings
        if self.model is not None:
            player = _net_player(spec, files[self.model], rules, settings)
        elif spec in _MENTORS:
            player = _mentor(spec, settings)
        else:
            return _without_book(spec, rules, settings)
        if settings.book is None:
            return player
        from core.book import Book
        from search.book_player import BookPlayer

        book = Book(files[settings.book])
        if book.rules != rules:
            raise PlayerSpecError(f"{settings.book} is a book for {book.rules}, not {rules}")
        return BookPlayer(player, book)


def open_player(spec: str | Path, settings: PlayerSettings | None = None, *, rules: Rules | None = None) -> Player:
    """Return the player that a spec names, by default for the rules of its model, or 15x15 without a model.

    The specs are those of the command line: `default`, a model file, a run folder, `mentor:3`, `pure-mcts:1000`.

    >>> gomoku.open_player("mentor:1").name
    'mentor:1'

    Raises the errors of `parse_player`, and `PlayerSpecError` for a setting that the player does not read.
    """
    spec = str(spec)
    check_kind("settings", settings, PlayerSettings | None, "PlayerSettings, such as PlayerSettings(simulations=100)")
    check_kind("rules", rules, Rules | None, "Rules, such as Rules(15)")
    settings, unset, reads = settings or PlayerSettings(), PlayerSettings(), settings_of(spec)
    for name in (field.name for field in fields(settings)):
        if name not in reads and getattr(settings, name) != getattr(unset, name):
            raise PlayerSpecError(f"{spec} reads no setting {name}: it reads {', '.join(sorted(reads)) or 'none'}")
    return parse_player(spec, rules=rules or resolve_rules([spec]), settings=settings)


def open_engine(spec: str | Path, settings: PlayerSettings | None = None, *, rules: Rules | None = None) -> Engine:
    """Return the handle over the player that `open_player` opens; close it, or use it as a context manager.

    >>> with gomoku.open_engine("mentor:1") as engine:
    ...     engine.play(gomoku.Position()).move
    112

    Raises the errors of `parse_player`.
    """
    return Engine(open_player(spec, settings, rules=rules))


def parse_player(spec: str, *, rules: Rules, settings: PlayerSettings) -> Player:
    """Return the player that a spec names.

    Raises `PlayerSpecError`, and `nets.checkpoint.CheckpointError` for a broken model.
    """
    recipe = NamedPlayer.of(spec, rules, settings)
    return recipe.make({path: path for path in recipe.files})


def _without_book(spec: str, rules: Rules, settings: PlayerSettings) -> Player:
    if spec in _FIXED:
        return _FIXED[spec]()
    if spec in player_names.LEVELS:
        return _level(spec, rules, settings)
    kind, _, count = spec.partition(":")
    if kind == player_names.ENGINE:
        return _engine(spec, rules, settings)
    if kind != player_names.PURE_MCTS or not count.isdecimal():
        raise PlayerSpecError(f"{spec!r} names no player: write {player_names.PURE_MCTS}:N with N playouts a move")
    from search.pure_mcts.player import PureMcts

    try:
        return PureMcts(int(count))
    except ValueError as error:
        raise PlayerSpecError(f"{spec}: {error}") from error


def _net_player(spec: str, path: Path, rules: Rules, settings: PlayerSettings) -> Player:
    from curriculum.workers.shared_evaluator import shared_evaluator
    from nets.checkpoint import CheckpointError, model_file, read_info
    from nets.config import RuntimeNotice
    from nets.runtimes.loading import open_model
    from search.tree.player import MctsPlayer

    info = read_info(path)
    if not info.plays(rules):
        raise PlayerSpecError(f"{spec} plays {info.rules}, not {rules}")
    learnt, wanted = shipped_variant(info.rules.variant), shipped_variant(rules.variant)
    if learnt != wanted:
        built_in = read_info(model_file(player_names.DEFAULT, rules)).rules.variant
        hint = f"; {player_names.DEFAULT} has learned it" if built_in == wanted else ""
        text = f"{spec} learned {learnt}, and plays {rules.variant}, which it may play badly{hint}"
        warnings.warn(text, RuntimeNotice, stacklevel=2)
    if (simulations := player_names.own_simulations(spec)[1]) is not None:
        settings = replace(settings, simulations=simulations, seconds=None)
    try:
        search = settings.search or from_json(SearchSettings, info.made.get("search", {}))
    except (TypeError, ValueError) as error:
        raise CheckpointError(f"{path} was made with a search of another version: {error}") from error
    max_bytes = settings.memory_bytes
    if max_bytes is None and settings.search is None and settings.simulations is None:
        max_bytes = DEFAULT_MAX_BYTES  # the number of simulations is the file's
    if not settings.tactics:
        search = search.literal()  # with the leaves in flight of the training: more take visits from the best move
    elif settings.search is None:
        search = search.for_play()
    if settings.simulations is not None:
        search = replace(search, simulations=settings.simulations)
    if search.simulations == 0 and settings.seconds is None:
        search = search.without_tactics()  # the net alone chooses
    return MctsPlayer(
        shared_evaluator(path, rules) or open_model(path, rules=rules),
        rules,
        search,
        policy=settings.policy,
        switch_stage=settings.switch_stage,
        temperature=settings.temperature,
        seconds=settings.seconds,
        max_bytes=max_bytes,
        keeps_tree=settings.keeps_tree,
        name=spec,
    )


def _level(spec: str, rules: Rules, settings: PlayerSettings) -> Player:
    from curriculum.arena.levels import LEVELS
    from search.mentor.casual import CasualPlayer, Habits
    from search.mentor.player import Mentor

    strength = LEVELS[player_names.LEVELS.index(spec) + 1]
    if isinstance(strength, Habits):
        return CasualPlayer(strength, name=spec)
    if (path := player_names.model_of_level(spec, rules)) is None:
        return Mentor(strength.elsewhere, name=spec)
    settings = PlayerSettings(
        simulations=strength.simulations, memory_bytes=settings.memory_bytes, keeps_tree=settings.keeps_tree
    )
    return _net_player(spec, path, rules, settings)


def _engine(spec: str, rules: Rules, settings: PlayerSettings) -> Player:
    from search.engines.player import EngineLimits, EnginePlayer

    try:
        command = shlex.split(spec.partition(":")[2])
    except ValueError as error:
        raise PlayerSpecError(f"{spec}: {error}") from error
    if not command:
        raise PlayerSpecError(f"{spec!r} names no program: write {player_names.ENGINE}:COMMAND")
    if shutil.which(command[0]) is None:
        missing = "is no program that can be run" if Path(command[0]).exists() else "cannot be found"
        raise PlayerSpecError(f"{spec}: {command[0]} {missing}")
    limits = EngineLimits(
        turn_seconds=settings.engine_seconds or settings.seconds or EngineLimits().turn_seconds,
        match_seconds=settings.match_seconds,
        memory_bytes=_engine_memory_bytes(),
    )
    try:
        return EnginePlayer(command, rules, limits)
    except ValueError as error:
        raise PlayerSpecError(f"{spec}: {error}") from error


def _engine_memory_bytes() -> int:
    from search.engines.player import DEFAULT_MEMORY_BYTES

    text = os.environ.get(ENGINE_MEMORY, "")
    if not text:
        return DEFAULT_MEMORY_BYTES
    if not (text.isdecimal() and len(text) <= _MAX_MEMORY_DIGITS and int(text)):
        raise PlayerSpecError(f"{ENGINE_MEMORY} is a number of MB, not {quoted(text)}")
    return int(text) * 1_000_000


def _mentor(spec: str, settings: PlayerSettings) -> Player:
    from search.limit import Limit
    from search.mentor.player import DEFAULT_LIMIT, LEVELS, VARIETY, Mentor

    limit = DEFAULT_LIMIT
    if level := spec.partition(":")[2]:
        nodes = LEVELS[int(level)]
        limit = Limit(nodes=nodes if settings.nodes is None else min(nodes, settings.nodes), seconds=settings.seconds)
    elif settings.seconds is not None or settings.nodes is not None:
        limit = Limit(nodes=settings.nodes, seconds=settings.seconds)
    variety = 0 if settings.policy is Policy.DETERMINISTIC else VARIETY
    return Mentor(limit, variety=variety, name=spec)


def _paper_mentor() -> Player:
    from search.mentor.paper import PaperMentor

    return PaperMentor()


_MENTORS = (player_names.MENTOR, *player_names.MENTOR_LEVELS)

_FIXED: dict[str, Callable[[], Player]] = {
    player_names.RANDOM: RandomPlayer,
    player_names.PAPER_MENTOR: _paper_mentor,
}
