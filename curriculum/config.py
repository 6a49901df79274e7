"""What a training run is made of: every setting of the three phases, with its default.

A preset, a file, `--set` and flags each replace some of these values (`curriculum.presets`); the result is frozen
and kept in the run folder. Defaults here are the ones recommended for a 2-core machine; the paper's own numbers are
the preset `alphagomoku`.
"""

from dataclasses import dataclass, field

from core.rules import Rules
from nets.config import NetConfig
from search.tree.settings import SearchSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingConfig:
    """Gradient descent, the same in all phases (A eq. 9)."""

    batch_size: int = 256
    """Samples a step and net."""
    momentum: float = 0.9
    """Nesterov momentum of SGD."""
    l2: float = 1e-4
    """`c` of eq. 9: the loss has `c * |theta|^2`, whose gradient is `2 c theta`."""
    value_weight: float = 1.0
    """Weight of the value's squared error."""
    label_smoothing: float = 0.0
    """Share of a policy target spread over all legal cells."""
    z_decay: float = 0.9
    """Winning-value decay a ply in the value target (A III-C); 1 is plain AlphaZero."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BasicsConfig:
    """Phase 1: basic moves (A IV-B)."""

    positions: int = 80_000
    """Positions to draw."""
    kinds: tuple[str, ...] = ("attack-four", "defend-four")
    """Kinds of position, in equal numbers: the paper's two, or some of the eight of its repository."""
    colour_swapped: bool = True
    """Train on each position with the colours swapped too, so that both nets attack and defend."""
    noise_stones: tuple[int, int] = (0, 64)
    """Fewest and most other stones on the board, drawn uniformly."""
    epochs: int = 8
    """Passes over the positions."""
    learning_rate: float = 0.06
    """At the start."""
    final_learning_rate: float = 0.003
    """At the end; it falls along half a cosine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImitationConfig:
    """Phase 2: imitating the mentor (A IV-C)."""

    teacher: str = "mentor"
    """The player whose moves are learnt: a level of the mentor, an engine, or anyone else who can be named."""
    teacher_seconds: float = 0.0
    """Time for each of the teacher's moves; 0 leaves it to the teacher (an engine takes one second)."""
    bar_opponent: str = "mentor:paper"
    """The player whom the nets must beat."""
    games: int = 4_000
    """Games the teacher plays against itself."""
    opening_stones: tuple[int, int] = (2, 8)
    """Fewest and most stones placed at random, near each other, before the teacher starts."""
    random_move_share: float = 0.1
    """Share of moves played at random; the sample's label stays the teacher's move."""
    teacher_value_share: float = 0.5
    """Share of the teacher's own value in the value target; the rest is the decayed result, which the random moves and
    the teacher's mistakes make noisy."""
    held_out_share: float = 0.05
    """Share of games kept for measuring agreement, never trained on."""
    passes: int = 20
    """Most passes over the games, each position under a random symmetry each time."""
    learning_rate: float = 0.06
    """At the start. In batches of 256, three passes reach an agreement of 0.41; in batches of 512 at 0.02, of 0.35."""
    final_learning_rate: float = 0.002
    """At the last pass; it falls along half a cosine."""
    basics_share: float = 0.1
    """Share of basics mixed into each batch against forgetting."""
    patience: int = 6
    """Passes without a better held-out agreement before the phase ends."""
    bar_score: float = 0.9
    """Score against the bar opponent that ends the phase, wins plus half the draws, 0 to 1."""
    bar_games: int = 100
    """Games a measurement of that score takes."""
    bar_every: int = 5
    """Passes between two measurements."""
    minutes: float = 0.0
    """Most minutes the phase trains; 0 sets no limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfplayConfig:
    """Phase 3: gated self-play (A IV-D)."""

    iterations: int = 10
    """Rounds of games, training and gate."""
    games: int = 500
    """Games a round."""
    concurrent_games: int = 128
    """Games played side by side, so that their leaves share batches."""
    cache_megabytes: int = 256
    """Memory of the evaluation cache, which all games of a round share; 0 for none."""
    window: int = 100_000
    """Most positions the replay buffer holds; the oldest leave first."""
    draws_per_position: float = 7.0
    """How often each new position is drawn for training, on average."""
    learning_rate: float = 0.01
    """In the first round."""
    final_learning_rate: float = 0.001
    """In the last round."""
    temperature: float = 1.0
    """tau of eq. 5 for the move and the policy target."""
    switch_stage: int = 10
    """Semi-stochastic policy: moves are sampled while the board holds at most this many stones."""
    dirichlet_alpha: float = 0.05
    """Root noise's concentration."""
    dirichlet_epsilon: float = 0.25
    """Root noise's share of the root's priors; 0 turns it off."""
    search_value_share: float = 0.5
    """Share of the search's root value in the value target; the rest is the decayed result."""
    balanced_share: float = 0.5
    """Share of games that start from a balanced opening."""
    random_share: float = 0.25
    """Share of games that start from a few random stones; the rest start from the empty board."""
    rehearsal_share: float = 0.15
    """Share of mentor games mixed into each batch against forgetting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateConfig:
    """Who becomes the best model: candidate against best (A IV-D)."""

    games: int = 100
    """Games of the match, half with each colour."""
    threshold: float = 0.5
    """The candidate needs more than this share of the decisive games; no decisive game is a rejection."""
    paired_openings: bool = True
    """Each opening is played with both colours; false starts from the empty board, as the paper does."""
    simulations: int = 200
    """Simulations a move; 0 takes the search's own number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationConfig:
    """How play is measured, in matches and when a person plays."""

    switch_stage: int = 6
    """Semi-stochastic policy: moves are sampled while the board holds at most this many stones (A II-C)."""
    final_games: int = 20
    """Games against each opponent in the table at the end of `train`; 0 leaves it out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """One training run."""

    preset: str = "custom"
    """The preset that the run began with; kept in the models it makes."""
    seed: int = 42
    """Every random stream of the run grows from it."""
    rules: Rules = field(default_factory=Rules)
    net: NetConfig = field(default_factory=NetConfig)
    search: SearchSettings = field(default_factory=SearchSettings)
    training: TrainingConfig = field(default_factory=TrainingConfig)
    basics: BasicsConfig = field(default_factory=BasicsConfig)
    imitation: ImitationConfig = field(default_factory=ImitationConfig)
    selfplay: SelfplayConfig = field(default_factory=SelfplayConfig)
    gate: GateConfig = field(default_factory=GateConfig)
    evaluation: EvaluationConfig = field(default_factory=EvaluationConfig)
