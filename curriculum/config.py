"""Configuration of a training run: every setting of the three phases, with its default.

A preset, a file, `--set` and flags each replace some of these values (`curriculum.presets`). The result is frozen and
kept in the run folder. A number without bounds of its own is 0 or more. The defaults are the ones recommended for a
2-core machine; the preset `alphagomoku` has the paper's numbers.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Annotated

from core.rules import Rules
from core.setting_bounds import POSITIVE, SHARE, Bounds
from nets.config import NetConfig
from search.tree.settings import Noise, SearchSettings

_REHEARSAL = Bounds(0, 0.95)
"""Bounds of a share of older samples in a batch: new ones must remain."""


class Phase(StrEnum):
    """A phase of the curriculum."""

    BASICS = "basics"
    IMITATION = "imitation"
    SELFPLAY = "selfplay"


class Optimiser(StrEnum):
    """The method of gradient descent."""

    SGD = "sgd"
    """With Nesterov momentum, as paper A."""
    ADAM = "adam"
    """As papers Y and S."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingConfig:
    """Gradient descent, the same in all phases (A eq. 9)."""

    optimiser: Optimiser = Optimiser.SGD
    """The method of gradient descent."""
    batch_size: Annotated[int, POSITIVE] = 256
    """Samples per step and net."""
    momentum: Annotated[float, SHARE] = 0.9
    """Nesterov momentum of SGD."""
    all_symmetries: bool = False
    """A pass holds each sample under all eight symmetries (Y 3.5); false draws one at random each time."""
    l2: float = 1e-4
    """`c` of eq. 9: the loss has `c * |theta|^2`, whose gradient is `2 c theta`."""
    value_weight: float = 1.0
    """Weight of the value's squared error."""
    label_smoothing: Annotated[float, SHARE] = 0.0
    """Share of a policy target spread over all legal cells."""
    z_decay: Annotated[float, SHARE] = 0.9
    """Winning-value decay per ply in the value target (A III-C); 1 is plain AlphaZero."""
    flat_start: bool = False
    """New nets start with a uniform policy and values of 0. Deep nets without batch norms learn sooner then, and die
    less easily (docs/papers/s.md)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BasicsConfig:
    """Phase 1: basic moves (A IV-B)."""

    positions: Annotated[int, POSITIVE] = 80_000
    """Number of positions to draw."""
    kinds: tuple[str, ...] = ("attack-four", "defend-four")
    """Kinds of position, in equal numbers: the paper's two, or some of the eight of its repository."""
    colour_swapped: bool = True
    """Use each position with its colours swapped too, so that both nets attack and defend."""
    noise_stones: tuple[int, int] = (0, 64)
    """Minimum and maximum of other stones on the board, drawn uniformly."""
    epochs: int = 8
    """Passes over the positions."""
    learning_rate: float = 0.06
    """Learning rate of the first step."""
    final_learning_rate: float = 0.003
    """Learning rate of the last step; it falls along half a cosine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImitationConfig:
    """Phase 2: imitation of a teacher (A IV-C)."""

    teacher: str = "mentor"
    """Player to imitate: a level of the mentor, an engine or any other player. It plays with its own settings."""
    opponent: str = ""
    """Player against which it plays, in turn with Black and White, and whose moves are learnt too. A model meets its
    attacks here, which its own games lack. Empty: the teacher plays itself."""
    teacher_seconds: float = 0.0
    """Seconds for each of the teacher's moves; 0 leaves them to the teacher (an engine takes one second)."""
    bar_opponent: str = "mentor:paper"
    """Player that the nets must beat. It plays with its own settings."""
    games: Annotated[int, Bounds(2)] = 4_000
    """Games of the teacher."""
    opening_stones: tuple[int, int] = (2, 8)
    """Minimum and maximum of stones placed at random, near each other, before the teacher starts."""
    random_move_share: Annotated[float, SHARE] = 0.1
    """Share of moves played at random; the policy target stays the teacher's."""
    teacher_value_share: Annotated[float, SHARE] = 0.5
    """Share of the teacher's own value in the value target. The rest is the decayed result, which the random moves and
    the teacher's mistakes make noisy."""
    held_out_share: Annotated[float, Bounds(0, 0.5)] = 0.05
    """Share of games kept for measuring agreement, never trained on."""
    passes: Annotated[int, POSITIVE] = 20
    """Maximum of passes over the games, each position under a random symmetry each time."""
    learning_rate: float = 0.06
    """Learning rate of the first step. In batches of 256, three passes reach an agreement of 0.41; in batches of 512 at
    0.02, of 0.35."""
    final_learning_rate: float = 0.002
    """Learning rate after all passes; it falls along half a cosine."""
    basics_share: Annotated[float, _REHEARSAL] = 0.1
    """Share of basics mixed into each batch against forgetting."""
    patience: Annotated[int, POSITIVE] = 6
    """Passes without a better held-out agreement before the phase ends."""
    bar_score: Annotated[float, SHARE] = 0.9
    """Score against the bar opponent that ends the phase: wins plus half the draws, 0 to 1."""
    bar_games: Annotated[int, POSITIVE] = 100
    """Games of each measurement of that score."""
    bar_every: int = 5
    """Passes from one measurement to the next; 0 measures at the end alone."""
    minutes: float = 0.0
    """Maximum minutes of training in this phase; 0 sets no limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfplayConfig:
    """Phase 3: gated self-play (A IV-D)."""

    iterations: int = 10
    """Rounds of games, training and gate."""
    games: Annotated[int, POSITIVE] = 500
    """Games per round."""
    concurrent_games: Annotated[int, POSITIVE] = 128
    """Games played side by side, so that their leaves share batches."""
    cache_megabytes: int = 256
    """Memory of the evaluation cache, which all games of a round share; 0 for none."""
    window: Annotated[int, POSITIVE] = 100_000
    """Maximum of positions in the replay buffer; the oldest leave first."""
    buffer_from: int = 0
    """First round whose games the replay buffer may hold; a schedule clears the buffer with it."""
    start_positions: int = 0
    """Positions in the replay buffer before the first training."""
    draws_per_position: float = 7.0
    """Times that each new position is drawn for training, on average."""
    epochs: int = 0
    """Passes over the whole replay buffer a round (Y 3.4); 0 trains by `draws_per_position`."""
    learning_rate: float = 0.01
    """Learning rate of the first round."""
    final_learning_rate: float = 0.001
    """Learning rate of the last round."""
    anneal_each_round: bool = False
    """The learning rate falls from the first to the last within each round, along half a cosine, so that each candidate
    ends with small steps; false: it falls over the rounds."""
    temperature: float = 1.0
    """tau of eq. 5 for the move and the policy target."""
    raw_target: bool = False
    """The policy target is the share of visits, without `temperature`."""
    switch_stage: int = 10
    """Semi-stochastic policy: moves are sampled while the board holds at most this many stones."""
    noise: Noise = Noise.ROOT
    """Place of the Dirichlet noise: the root's priors, those of every node, or the draw of the move."""
    dirichlet_alpha: Annotated[float, POSITIVE] = 0.05
    """Concentration of the noise."""
    dirichlet_epsilon: Annotated[float, SHARE] = 0.25
    """Share of the noise; 0 turns it off."""
    full_search_share: Annotated[float, Bounds(0, 1, above=True)] = 1.0
    """Share of moves with a full search (playout cap randomisation as in KataGo). The others have no noise and are not
    recorded as samples."""
    fast_simulations: int = 0
    """Simulations of these other moves; unused if all searches are full."""
    search_value_share: Annotated[float, SHARE] = 0.5
    """Share of the search's root value in the value target; the rest is the decayed result."""
    short_term_share: Annotated[float, SHARE] = 0.0
    """Share of the mean of the root values 6 and 16 plies on in the value target, or of the result where the game has
    ended by then (as KataGo's short-term values): nearer than the result, less biased than the root's own value."""
    balanced_share: Annotated[float, SHARE] = 0.5
    """Share of games that start from a balanced opening; from the empty board where none is shipped for the rules."""
    random_share: Annotated[float, SHARE] = 0.25
    """Share of games that start from a few random stones; the rest start from the empty board."""
    opening_stones: tuple[int, int] = (2, 8)
    """Minimum and maximum of these random stones."""
    rehearsal_share: Annotated[float, _REHEARSAL] = 0.15
    """Share of mentor games mixed into each batch against forgetting."""
    concurrent: bool = False
    """Play and train at the same time (Y 4): a round is `epochs` passes, without a number of games and without a gate;
    false takes turns."""
    overlap: bool = False
    """The games of a round are played while the candidate of the round before trains and meets its gate, so by a net
    that is one round older; with workers that leaves nobody idle. false: games come after the gate."""
    push_seconds: float = 15.0
    """Seconds between two updates of the playing nets, where play and training are concurrent."""
    epochs_without_games: Annotated[int, POSITIVE] = 60
    """Passes without a new game after which concurrent training waits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateConfig:
    """The match that decides if the candidate becomes the best model (A IV-D)."""

    games: int = 100
    """Games of the match, half with each colour if their number is even; 0 accepts every candidate."""
    threshold: Annotated[float, SHARE] = 0.5
    """The candidate needs more than this share of the decisive games; without a decisive game it is rejected."""
    paired_openings: bool = True
    """Each opening is played with both colours; false starts from the empty board, as the paper does."""
    simulations: int = 200
    """Simulations per move; 0 takes the search's own number."""
    keep_rejected: bool = False
    """Keep rejected candidates as `models/rejected-NNNN`; false discards them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationConfig:
    """Settings of play in matches and against people."""

    switch_stage: int = 6
    """Semi-stochastic policy: moves are sampled while the board holds at most this many stones (A II-C)."""
    final_games: int = 20
    """Games against each opponent in the table at the end of `train`, with the run's search; 0 leaves it out."""
    opponents: tuple[str, ...] = ("random", "mentor:paper", "mentor", "pure-mcts:1000")
    """These opponents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """One training run.

    >>> config = gomoku.Config()
    >>> config.rules.size, config.search.simulations
    (15, 400)
    """

    preset: str = "custom"
    """Preset that the run started from; kept in its models."""
    seed: int = 42
    """Seed of every random stream of the run."""
    scale: Annotated[float, Bounds(0, 1, above=True)] = 1.0
    """Share of the stated budget: simulations, games, positions, epochs and passes are multiplied by it."""
    start: str = ""
    """Model whose weights the run starts from: `default`, a model file or a run folder; fresh nets without one. The
    weights of a fully convolutional net fit every size of the board (Y 4.4)."""
    phases: tuple[Phase, ...] = (Phase.BASICS, Phase.IMITATION, Phase.SELFPLAY)
    """Phases of `train`, in order."""
    schedule: tuple[str, ...] = ()
    """Settings that change during self-play, each from a round on (the first is 0), as in
    `40: search.simulations=10000; selfplay.temperature=0.5`."""
    rules: Rules = field(default_factory=Rules)
    net: NetConfig = field(default_factory=NetConfig)
    search: SearchSettings = field(default_factory=SearchSettings)
    training: TrainingConfig = field(default_factory=TrainingConfig)
    basics: BasicsConfig = field(default_factory=BasicsConfig)
    imitation: ImitationConfig = field(default_factory=ImitationConfig)
    selfplay: SelfplayConfig = field(default_factory=SelfplayConfig)
    gate: GateConfig = field(default_factory=GateConfig)
    evaluation: EvaluationConfig = field(default_factory=EvaluationConfig)


FIXED: frozenset[str] = frozenset(
    {"preset", "seed", "scale", "start", "phases", "rules", "net", "selfplay.concurrent"}
    | {f"training.{name}" for name in ("optimiser", "batch_size", "all_symmetries", "flat_start")}
)
"""Settings and sections that never change during a run: its models, samples and training states are made for them."""

DROPPED: frozenset[str] = frozenset({"selfplay.forced_playouts", "training.average_decay", "training.max_gradient"})
"""Settings of earlier versions, off unless somebody set them: files that hold them are read as if they did not."""

FIXED_BY_SAMPLES: Mapping[Phase, frozenset[str]] = MappingProxyType(
    {
        Phase.BASICS: frozenset({"positions", "kinds", "colour_swapped", "noise_stones"}),
        Phase.IMITATION: frozenset(
            {"teacher", "teacher_seconds", "opponent", "games", "opening_stones", "random_move_share"}
            | {"teacher_value_share", "held_out_share", "basics_share"}
        ),
    }
)
"""Settings of a phase that no longer change when it has begun: they decide what its samples and its steps are.

The others of these two sections change until their phase is over, and all other settings at any time.
"""
