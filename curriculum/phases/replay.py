"""The replay buffer of self-play: the games of each round in files, and the newest of their samples."""

from collections import deque
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.files.json_text import values_at
from core.records.formats import write_games
from core.rules import BLACK, WHITE
from curriculum.config import SelfplayConfig
from curriculum.games.selfplay_games import Progress, SelfPlayGame
from curriculum.reporting import Context
from curriculum.run.folder import RunFolder
from curriculum.training.files import check_targets, naming_metadata, read_kept_games, write_samples
from curriculum.training.packed import Packed, pack
from curriculum.training.samples import Samples

PHASE = "selfplay"
_GIVEN_UP = -0.7
"""Mean value of White below which it has learnt that it loses (A III-A): worth an alarm."""
_ALARM_GAMES = 64
"""Games of that mean: the first games to end are the shortest, most of them won by Black."""


class Replay:
    """The games of self-play in a run folder."""

    def __init__(self, run: RunFolder, context: Context) -> None:
        self._run, self._context = run, context
        self._cells = run.config.rules.cells
        self._white_values: deque[float] = deque(maxlen=_ALARM_GAMES)

    def done(self, iteration: int) -> set[int]:
        """Return the numbers of the games of a round that are in files. Raises `SamplesError`.

        Games whose samples were not saved, since the process died, are removed.
        """
        for path in self._run.games.glob(f"{PHASE}-{iteration:04d}-*.sgf"):
            if not (self._run.replay / f"{path.stem}.npz").exists():
                path.unlink()
        return {game for path in self._files(iteration) for game in self._read_games(path)[1]}

    def window(self, settings: SelfplayConfig, iteration: int) -> tuple[Packed, int]:
        """Return the newest samples of the rounds up to `iteration`, as many as the buffer holds.

        The second number is that of the samples of this round among them. Raises `SamplesError`.
        """
        parts: list[Packed] = []
        room = settings.window
        for number in range(iteration, min(settings.buffer_from, iteration) - 1, -1):
            samples = self._samples_of(number)
            parts.append(samples.take(slice(max(0, len(samples) - room), None)))
            room -= len(parts[-1])
            if room <= 0:
                break
        return Packed.concatenate(parts), len(parts[0])

    def save(
        self,
        iteration: int,
        games: list[SelfPlayGame],
        since: Progress,
        now: Progress,
        facts: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        """Write finished games, their samples and a line of metrics on the time between `since` and `now`.

        `facts`: further entries of the line. An `age` among them, of the net that played, in rounds, is kept with the
        samples too. Raises `NotFiniteError` before anything is written.
        """
        numbers = [game.number for game in games]
        name = f"{PHASE}-{iteration:04d}-{min(numbers):06d}"
        samples = Samples.concatenate([game.samples for game in games])
        check_targets(self._run.replay / f"{name}.npz", samples)
        decisive = [game.record.winner for game in games if game.record.winner is not None]
        white_values = samples.values[samples.positions.to_move == WHITE]
        white_value = float(white_values.mean()) if len(white_values) else None
        entropies = -(samples.policies * np.log(np.maximum(samples.policies, 1e-12))).sum(axis=1)
        seconds = now.seconds - since.seconds
        record = {
            "phase": PHASE,
            "iteration": iteration,
            "event": "games",
            "file": name,
            "games": len(games),
            "game_length": float(np.mean([len(game.record.moves) for game in games])),
            "black_share": decisive.count(BLACK) / len(decisive) if decisive else None,
            "draws": len(games) - len(decisive),
            "policy_entropy": float(entropies.mean()) if len(entropies) else None,
            "white_value": white_value,
            "simulations_per_second": (now.simulations - since.simulations) / seconds,
            "positions_per_second": (now.evaluations - since.evaluations) / seconds,
            "cache_hit_rate": (now.known - since.known) / max(1, now.leaves - since.leaves),
            "distinct_positions": now.distinct,
            "seconds": seconds,
            **facts,
        }
        metadata = {
            "age": facts.get("age", 0),
            "iteration": iteration,
            "games": numbers,
            "lengths": [len(game.samples) for game in games],
        }
        with self._run.metrics_of(record):
            write_games(self._run.games / f"{name}.sgf", [game.record for game in games])
            write_samples(self._run.replay / f"{name}.npz", samples, metadata)
        self._watch_white(games)

    def _watch_white(self, games: list[SelfPlayGame]) -> None:
        """Report when White's net expects to lose every game, once in as many games as the mean is of."""
        for game in games:
            values = game.samples.values[game.samples.positions.to_move == WHITE]
            self._white_values.extend([float(values.mean())] if len(values) else [])
        mean = float(np.mean(self._white_values)) if self._white_values else 0.0
        if len(self._white_values) == _ALARM_GAMES and mean < _GIVEN_UP:
            self._white_values.clear()
            self._context.reporter.say(
                f"alarm: White's mean value of {_ALARM_GAMES} games is {mean:.2f}: its net expects to lose every game"
            )

    def _files(self, iteration: int) -> list[Path]:
        return sorted(self._run.replay.glob(f"{PHASE}-{iteration:04d}-*.npz"))

    def _samples_of(self, iteration: int) -> Packed:
        """Return the samples of a round in the order of its games; their order in the files depends on timing."""
        parts, places, count = [pack(Samples.none(self._cells))], dict[int, NDArray[np.intp]](), 0
        for path in self._files(iteration):
            samples, games = self._read_games(path)
            places |= {game: rows + count for game, rows in games.items()}
            parts.append(samples)
            count += len(samples)
        order = [np.empty(0, np.intp), *(places[game] for game in sorted(places))]
        return Packed.concatenate(parts).take(np.concatenate(order))

    def _read_games(self, path: Path) -> tuple[Packed, dict[int, NDArray[np.intp]]]:
        """Return the samples of a file, and the rows of each game. Raises `SamplesError`."""
        samples, lengths, metadata = read_kept_games(path, self._cells)
        with naming_metadata(path):
            numbers = values_at(metadata, "games", int, low=0)
            if len(numbers) != len(lengths):
                raise ValueError(f"games has {len(numbers)} numbers, and lengths has {len(lengths)}")
        rows = np.split(np.arange(len(samples)), np.cumsum(lengths)[:-1]) if lengths else []
        return samples, dict(zip(numbers, rows, strict=True))
