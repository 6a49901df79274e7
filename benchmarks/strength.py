"""Strength of a run's models by training time: `python -m benchmarks.strength RUN ... --folder games --figure FILE`.

Each model that a run kept (basics, imitation, accepted candidates) meets a fixed pool: random moves, pure MCTS, the
paper's mentor and levels of ours. The pool meets itself once. One rating of all games, in Elo, has 0 at the paper's
mentor, so runs that were rated against the same pool compare. `--folder` keeps the games: a stopped measurement
continues, and a run that went on plays its new models only.

The time is that of work: pauses between a run's last record and its next start are left out.
"""

import json
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from datetime import datetime
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.measuring import parser_of, progress, show
from core.rules import Rules
from curriculum.arena.formats import Format
from curriculum.arena.player_names import DEFAULT
from curriculum.arena.players import PlayerSettings
from curriculum.arena.session import MatchSession, MatchSettings
from curriculum.arena.statistics.ratings import Rating, rate
from curriculum.reporting import Context
from curriculum.run.folder import RunFolderError, read_metrics
from gomoku_cli.reports.plots import BLUE, GREY, WIDTH, clear, drawn, label
from nets.checkpoint import DEFAULT_MODEL, read_info

POOL = ("random", "pure-mcts:1000", "mentor:paper", "mentor:1", "mentor:3", "mentor:5")
ZERO = "mentor:paper"
_COLOURS = (BLUE, "#e08214", "#2f9e62", "#8250df")


class Kept(NamedTuple):
    """A model that a run kept."""

    run: str
    name: str
    path: Path
    minutes: float
    """Minutes of work before it was finished; NaN for a model without a run."""

    @property
    def title(self) -> str:
        """Its name among the players."""
        return f"{self.run} {self.name}".strip()


def working_minutes(starts: Sequence[float], times: Sequence[float], until: float) -> float:
    """Return the minutes of work before `until`, from the starts of a run's processes and the times of its records.

    All are seconds since the epoch, the times in order. A process works from its start to its last record before the
    next one's start.
    """
    worked = 0.0
    for number, start in enumerate(starts):
        end = starts[number + 1] if number + 1 < len(starts) else float("inf")
        seen = min(bisect_left(times, end), bisect_right(times, until))
        worked += max(0.0, times[seen - 1] - start) if seen else 0.0
    return worked / 60


def timed_records(folder: Path) -> list[tuple[float, dict[str, Any]]]:
    """Return the records of a run, each with the minutes of work before it. Raises `RunFolderError`."""
    records = read_metrics(folder)
    environment = json.loads((folder / "environment.json").read_text())
    starts = [_seconds(session["time"]) for session in environment["sessions"]]
    times = [_seconds(record["time"]) for record in records]
    ordered = sorted(times)
    return [(working_minutes(starts, ordered, time), record) for time, record in zip(times, records, strict=True)]


def kept_models(folder: Path) -> list[Kept]:
    """Return the models of a run in the order of their training. Raises `RunFolderError`."""
    records = timed_records(folder)
    found = []
    for path in sorted((folder / "models").glob("*.safetensors")):
        phase, _, number = path.stem.partition("-")
        if phase not in ("basics", "imitation", "selfplay") or (phase == "selfplay") != number.isdigit():
            continue
        own = [
            minutes
            for minutes, record in records
            if record["phase"] == phase and (not number or record["iteration"] == int(number))
        ]
        if own:
            found.append(Kept(folder.resolve().name, path.stem, path, max(own)))
    return sorted(found, key=lambda model: model.minutes)


def _seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def play(
    models: Sequence[Kept], rules: Rules, settings: MatchSettings, folder: Path | None
) -> tuple[list[Rating], list[Rating]]:
    """Play all games; return the ratings of the models, in their order, and of the pool, the best first."""
    session = MatchSession(settings, rules, Context())
    ours = [model.title for model in models]
    results = []
    for name, path in [("pool", None), *((name, model.path) for name, model in zip(ours, models, strict=True))]:
        names = [*POOL] if path is None else [name, *POOL]
        form = Format.ROUND_ROBIN if path is None else Format.GAUNTLET
        kept = folder / name.replace(" ", "-") if folder else None
        tournament = session.play([*POOL] if path is None else [str(path), *POOL], form=form, folder=kept)
        for (first, second), match in tournament.matches.items():
            results.append((names[first], names[second], match.pairs))
            if path is not None:
                progress(f"{name} against {names[second]}: {match.total.score:.2f}")
    ratings = rate([*ours, *POOL], results, anchor=ZERO)
    by_name = {rating.name: rating for rating in ratings}
    return [by_name[name] for name in ours], [rating for rating in ratings if rating.name in POOL]


def draw(
    runs: Sequence[str],
    models: Sequence[Kept],
    ratings: Sequence[Rating],
    pool: Sequence[Rating],
    title: str,
    file: Path,
) -> None:
    """Draw the ratings of each run over its minutes of work, and the pool as lines."""
    with drawn(file, title, width=1.9 * WIDTH, height=4.2) as figure:
        axes = figure.add_subplot()
        clear(axes)
        label(axes, "", "minutes of work", f"Elo, {ZERO} is 0")
        for rating in pool:
            axes.axhline(rating.elo, color=GREY, linewidth=0.8, linestyle=":")
            axes.annotate(
                rating.name, (1, rating.elo), xycoords=("axes fraction", "data"), fontsize=8, color=GREY, va="center"
            )
        for model, rating in zip(models, ratings, strict=True):
            if not model.run:
                axes.axhline(rating.elo, color="black", linewidth=0.8, linestyle="--")
                axes.annotate(model.name, (0.01, rating.elo + 25), xycoords=("axes fraction", "data"), fontsize=8)
        for run, colour in zip(runs, cycle(_COLOURS), strict=False):
            own = [(model, rating) for model, rating in zip(models, ratings, strict=True) if model.run == run]
            elo = [rating.elo for _, rating in own]
            reach = [[rating.elo - rating.low for _, rating in own], [rating.high - rating.elo for _, rating in own]]
            minutes = [model.minutes for model, _ in own]
            axes.errorbar(
                minutes, elo, reach, fmt="o-", markersize=4, linewidth=1.2, capsize=2, color=colour, label=run
            )
        axes.legend(loc="center right", bbox_to_anchor=(0.97, 0.3), frameon=False, fontsize=8)


def main() -> None:
    """Play, rate, print and draw."""
    parser = parser_of(__doc__)
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN")
    parser.add_argument("--games", type=int, default=40, help="games of every two players who meet")
    parser.add_argument("--simulations", type=int, default=400)
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--built-in", action="store_true", help="rate the built-in model too")
    parser.add_argument("--folder", type=Path, help="keep the games here")
    parser.add_argument("--figure", type=Path, help="a picture, .svg or .png")
    arguments = parser.parse_args()
    models = []
    if len({run.resolve().name for run in arguments.runs}) < len(arguments.runs):
        parser.error("give each run once, and runs of different names: their names are those of the curves")
    for run in arguments.runs:
        try:
            models += kept_models(run)
        except (RunFolderError, OSError) as error:
            parser.error(f"{run} is no run that can be read: {error}")
    if not models:
        parser.error("these runs kept no models yet")
    if arguments.built_in:
        models.append(Kept("", DEFAULT, DEFAULT_MODEL, float("nan")))
    settings = MatchSettings(
        games=arguments.games,
        seed=arguments.seed,
        players=PlayerSettings(simulations=arguments.simulations),
    )
    ratings, pool = play(models, read_info(models[0].path).rules, settings, arguments.folder)
    minutes = [round(model.minutes, 2) if model.run else "" for model in models]
    show(
        (
            {"minutes": at, "elo": rating.elo, "from": rating.low, "to": rating.high, "player": rating.name}
            for at, rating in zip([*minutes, *[""] * len(pool)], [*ratings, *pool], strict=True)
        ),
        arguments.json,
    )
    if arguments.figure:
        title = f"Strength by training time, {arguments.simulations} simulations a move"
        draw([run.resolve().name for run in arguments.runs], models, ratings, pool, title, arguments.figure)


if __name__ == "__main__":
    main()
