"""The place of a run in its curriculum, and the time that the rest will take, from its own measurements."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from curriculum.budget import PLIES_PER_GAME, basics_work, imitation_work, round_work, rows_per_step
from curriculum.config import Config, Phase
from curriculum.presets import read_config
from curriculum.run.progress import Progress
from curriculum.schedule import at_round
from curriculum.stated import ConfigError
from gomoku_cli.console import duration
from gomoku_cli.reports.texts import Json
from gomoku_cli.reports.training.metrics import MetricsTail

_NAMES = {"selfplay": "self-play", "evaluation": "final matches"}
"""Names of phases that are not those of the metrics."""
_SIMULATIONS_PER_TRAINED_POSITION = 8.0
"""Guessed simulations in the time of one trained position, before any was measured: 2 cores, paper A's net."""
_PAUSE_S = 3.0
"""Guessed time around a measurement or a match, before one was made."""
_STOPPED_S = 120.0
"""A longer pause between two lines is one of the run."""
_GAMES_PER_FILE = 64
"""Mentor games in a file of the replay folder."""


class Outlook(NamedTuple):
    """The place of a run, and its rest."""

    phase: str | None
    """`basics`, `imitation`, `selfplay`, `evaluation`, or `done`; None for a run whose configuration cannot be read."""
    text: str
    """`phase 3 of 3, self-play, round 28 of 35`."""
    seconds_left: float | None
    """Working time of the rest of the run, about; None as long as nothing was measured."""

    @property
    def is_done(self) -> bool:
        """True if nothing is left to do."""
        return self.phase == "done"


def outlook(path: Path, config: Config, records: Sequence[Json]) -> Outlook:
    """Return the outlook of the run in `path` with these metrics.

    The time of a step that was not measured yet is estimated from the speed of training. Measurements and matches count
    with the pauses around those before them, in which nets are loaded: all of the time of a tiny run. Files that cannot
    be read count as missing.
    """
    return _Survey(path, config, records).outlook()


def place_of(path: Path, records: Sequence[Json]) -> tuple[Config | None, Outlook]:
    """Return the configuration of the run in `path` and its outlook; None and the reason if it cannot be read."""
    try:
        config = read_config(path / "config.toml")
    except ConfigError as error:
        return None, Outlook(None, str(error).removeprefix(f"{path}/"), None)
    return config, outlook(path, config, records)


def headline_of(path: Path, config: Config, *, whole: bool = True) -> Callable[[], str]:
    """Return a function that returns the place of a run in progress, each time from its new lines.

    `whole`: with the time left of the whole run, for a command that does all of it.
    """
    tail = MetricsTail(path)

    def text() -> str:
        tail.read()
        view = outlook(path, config, tail.records)
        if view.is_done or not whole or view.seconds_left is None:
            return "" if view.is_done else view.text
        return f"{view.text}; about {duration(max(10.0, view.seconds_left))} left of the whole run"

    return text


def phase_name(phase: str) -> str:
    """Return the name of a phase as texts write it."""
    return _NAMES.get(phase, phase)


def last_time(records: Sequence[Json]) -> datetime | None:
    """Return the time of the last record."""
    for record in reversed(records):
        with suppress(ValueError):
            found = datetime.fromisoformat(str(record.get("time")))
            return found if found.tzinfo is not None else found.replace(tzinfo=UTC)
    return None


class _Survey:
    def __init__(self, path: Path, config: Config, records: Sequence[Json]) -> None:
        self._path, self._config, self._records = path, config, records
        progress = Progress(path)
        self._finished, self._rounds = progress.finished, progress.rounds
        self._of_all = config.selfplay.iterations
        rates = [_float(record, "positions_per_second") for record in records if record.get("event") == "train"]
        self._training_rate = next((rate for rate in reversed(rates) if rate), None)
        self._pause = _pause(records)

    def outlook(self) -> Outlook:
        phases = self._config.phases
        estimates = {Phase.BASICS: self._basics, Phase.IMITATION: self._imitation, Phase.SELFPLAY: self._selfplay}
        current, text = "", ""
        seconds: float | None = 0.0
        for number, phase in enumerate(phases, start=1):
            if phase in self._finished and (phase is not Phase.SELFPLAY or self._rounds >= self._of_all):
                continue
            detail, left = estimates[phase]()
            if not current:
                places = (f"phase {number} of {len(phases)}", phase_name(phase), detail)
                current, text = phase, ", ".join(filter(None, places))
            seconds = None if seconds is None or left is None else seconds + left
        detail, left = self._evaluation()
        if current:
            return Outlook(current, text, None if seconds is None or left is None else seconds + left)
        if left == 0:
            return Outlook("done", "done", 0.0)
        return Outlook("evaluation", f"{phase_name('evaluation')}, {detail}", left)

    def _of(self, phase: str, event: str) -> list[Json]:
        return [record for record in self._records if record.get("phase") == phase and record.get("event") == event]

    def _trained(self, positions: float) -> float | None:
        """Return the seconds to train on this many positions."""
        return positions / self._training_rate if self._training_rate else None

    def _mean_of_games(self, key: str) -> float:
        """Return the mean of a figure in the newest files of games; 0 where it is unknown."""
        known = [value for record in self._of("selfplay", "games")[-20:] if (value := _float(record, key))]
        return sum(known) / len(known) if known else 0.0

    def _simulated(self, simulations: float) -> float | None:
        """Return the seconds of this many simulations."""
        guess = (self._training_rate or 0.0) * _SIMULATIONS_PER_TRAINED_POSITION
        rate = self._mean_of_games("simulations_per_second") or guess
        return simulations / rate if rate else None

    @property
    def _plies(self) -> float:
        return self._mean_of_games("game_length") or min(PLIES_PER_GAME, self._config.rules.cells)

    def _last_step(self, phase: str) -> int:
        steps = [_float(record, "step") or 0 for record in self._of(phase, "train")]
        return int(steps[-1]) if steps else 0

    def _basics(self) -> tuple[str, float | None]:
        total = basics_work(self._config)
        done = min(total, self._last_step(Phase.BASICS) * rows_per_step(self._config))
        return "", _sum(self._trained(total - done), self._pause)

    def _imitation(self) -> tuple[str, float | None]:
        settings = self._config.imitation
        files = list((self._path / "replay").glob("mentor-*.npz"))
        step, passes = self._last_step(Phase.IMITATION), len(self._of(Phase.IMITATION, "measure"))
        total = imitation_work(self._config, self._plies)
        pauses = (settings.passes - min(passes, settings.passes) + 2) * self._pause  # two matches at the end
        if not step:
            games = min(settings.games, _GAMES_PER_FILE * len(files))
            times = sorted(file.stat().st_mtime for file in files if file.exists())
            slowness = (times[-1] - times[0]) / (_GAMES_PER_FILE * (len(times) - 1)) if len(times) > 1 else None
            left = _sum(self._trained(total), pauses)
            if slowness is not None and left is not None:
                left += (settings.games - games) * slowness
            return f"game {games:,} of {settings.games:,} to imitate" if games else "", left
        measured = [_float(record, "step") or 0 for record in self._of(Phase.IMITATION, "measure")]
        steps = measured[-1] * settings.passes / passes if passes else 0.0
        share = min(1.0, step / steps) if steps else 0.0
        seconds = sum(_float(record, "seconds") or 0.0 for record in self._of(Phase.IMITATION, "train"))
        left = seconds * (1 - share) / share if share else self._trained(total)
        return f"pass {min(passes + 1, settings.passes)} of {settings.passes}", _sum(left, pauses)

    def _selfplay(self) -> tuple[str, float | None]:
        rounds, done = self._of_all, min(self._of_all, self._rounds)
        seconds: dict[int, dict[str, float]] = {}
        for record in self._records:
            if record.get("phase") == Phase.SELFPLAY and isinstance(record.get("iteration"), int):
                events = seconds.setdefault(record["iteration"], {})
                event = record["event"]
                events[event] = events.get(event, 0.0) + (_float(record, "seconds") or 0.0)
        # Games and training take turns, or run beside each other.
        add = max if self._config.selfplay.concurrent else sum
        took = {number: add(events.values()) for number, events in seconds.items()}
        finished = [number for number in took if number < done][-5:]
        weights = {number: self._weight(number) for number in {*finished, *range(done, rounds)}}
        in_progress = took.get(done, 0.0)
        rest = sum(weights[number] for number in range(done, rounds))
        known: float | None = sum(took[number] for number in finished)
        if not finished:
            known, finished = self._round_seconds(done), [done]
        pace = None if known is None else known / max(1e-9, sum(weights.get(number, 1.0) for number in finished))
        left = None if pace is None else max(0.0, pace * rest - in_progress)
        detail = f"round {min(done + 1, rounds)} of {rounds}" if took or done else ""
        return detail, _sum(left, (rounds - done) * self._pause)

    def _at_round(self, number: int) -> Config:
        """Return the configuration of a round; the run's where the schedule cannot be read."""
        with suppress(ConfigError):
            return at_round(self._config, number)
        return self._config

    def _weight(self, number: int) -> float:
        """Return the relative work of a round."""
        config = self._at_round(number)
        return float(config.selfplay.epochs) if config.selfplay.concurrent else round_work(config, 1.0).simulations

    def _round_seconds(self, number: int) -> float | None:
        """Return the guessed seconds of a round, before one is done."""
        config = self._at_round(number)
        work = round_work(config, self._plies)
        playing, training = self._simulated(work.simulations), self._trained(work.trained)
        if playing is None or training is None:
            return None
        return max(playing, training) if config.selfplay.concurrent else playing + training

    def _evaluation(self) -> tuple[str, float | None]:
        settings = self._config.evaluation
        if not settings.final_games:
            return "", 0.0
        matches = self._of("evaluation", "match")
        played = {match.get("opponent") for match in matches if match.get("iteration", self._rounds) == self._rounds}
        left, count = len(set(settings.opponents) - played), len(settings.opponents)
        if not left:
            return "", 0.0
        simulations = left * settings.final_games * self._plies / 2 * self._config.search.simulations
        return f"match {count - left + 1} of {count}", _sum(self._simulated(simulations), left * self._pause)


def _pause(records: Sequence[Json]) -> float:
    """Return the usual time around measurements and matches that their own seconds leave out."""
    pauses = []
    for before, record in pairwise(records):
        first, last = last_time([before]), last_time([record])
        if record.get("event") in ("measure", "match", "gate") and first is not None and last is not None:
            pause = (last - first).total_seconds() - (_float(record, "seconds") or 0.0)
            if 0 < pause < _STOPPED_S:
                pauses.append(pause)
    return median(pauses) if pauses else _PAUSE_S


def _sum(seconds: float | None, more: float) -> float | None:
    return None if seconds is None else seconds + more


def _float(record: Mapping[str, Any], key: str) -> float | None:
    value = record.get(key)
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
