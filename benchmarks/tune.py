"""Settings of the search tuned by short matches (SPSA): `python -m benchmarks.tune tuned.json c_puct=1.2:0.2 ...`.

Each word is a number of `SearchSettings`, its start and a step. A trial draws a sign for each setting, plays the
settings a step above and a step below where they are now against each other (`--games`, each opening with both
colours), and moves them towards the winner. Steps and moves shrink with the number of trials (Spall 1998: exponents
0.101 and 0.602). The file holds the place and its history, so that a stopped command goes on; several processes on one
file tune together.
"""

import argparse
import fcntl
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.matches import searcher, settings_of, with_words
from benchmarks.measuring import Fault, again, exit_code_of, model_file, parser_of, show
from core.files.atomic import atomic_write_text
from core.setting_bounds import bounds_of
from core.streams import Purpose, generator
from curriculum.arena.opening_sets import load_openings
from curriculum.arena.tournament import play_match
from curriculum.reporting import Context
from gomoku_cli.interruption import interruptible
from nets.checkpoint import DEFAULT_MODEL, read_info
from nets.runtimes.loading import open_model
from search.tree.player import MctsPlayer
from search.tree.settings import SearchSettings

_WARM_TRIALS = 50
"""Trials over which moves hardly shrink yet."""


class Tuning:
    """Trials of a command, whose state in a file other processes may change too."""

    def __init__(self, arguments: argparse.Namespace, start: Mapping[str, float], steps: Mapping[str, float]) -> None:
        self._arguments, self._start, self._steps = arguments, start, steps
        self._plain = replace(settings_of(arguments.model).for_play(), simulations=arguments.simulations)
        self._net, self._rules = open_model(arguments.model), read_info(arguments.model).rules
        with self._changed() as state:
            self._done = len(state["trials"])

    @contextmanager
    def _changed(self) -> Iterator[dict[str, Any]]:
        """Give the state for changes, and write it. Raises `Fault` for that of another start."""
        path: Path = self._arguments.state
        with path.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            state: dict[str, Any] = {"start": self._start, "moved": dict.fromkeys(self._start, 0.0)}
            state |= {"drawn": 0, "trials": []} | (json.loads(path.read_text()) if path.exists() else {})
            if state["start"] != self._start:
                raise Fault(f"{path} tunes from {state['start']}, not from {self._start}: take another file")
            yield state
            atomic_write_text(path, json.dumps(state) + "\n")

    def _place(self, state: Mapping[str, Any]) -> dict[str, float]:
        """Return the settings where the tuning is now."""
        return {name: first + self._steps[name] * state["moved"][name] for name, first in self._start.items()}

    def _player(self, wanted: Mapping[str, float]) -> MctsPlayer:
        bounds = bounds_of(SearchSettings)
        words = [f"{name}={min(max(each, bounds[name].low), bounds[name].high)}" for name, each in wanted.items()]
        settings = with_words(self._plain, words)
        return searcher(self._net, self._rules, settings, self._arguments.seconds, " ".join(words))

    def _trial(self, context: Context) -> dict[str, Any]:
        with self._changed() as state:
            state["drawn"] += 1
        number, now, games = state["drawn"], self._place(state), self._arguments.games
        drawn = generator(number, Purpose.SHUFFLE).choice((-1.0, 1.0), len(self._steps)).tolist()
        signs = dict(zip(self._steps, drawn, strict=True))
        away = {name: number**-0.101 * sign * self._steps[name] for name, sign in signs.items()}
        found = play_match(
            *(self._player({name: now[name] + way * away[name] for name in now}) for way in (1, -1)),
            rules=self._rules,
            openings=load_openings("balanced", self._rules),
            games=games,
            seed=number,
            context=context,
        ).total
        result = (found.wins - found.losses) / games
        move = self._arguments.rate * result * (1 + number / _WARM_TRIALS) ** -0.602
        with self._changed() as state:
            for name, sign in signs.items():
                state["moved"][name] += move * sign
            state["trials"].append({"signs": signs, "result": result})
        self._done = len(state["trials"])
        return {"trial": self._done, "result": result, **self._place(state)}

    def trials(self, context: Context) -> Iterator[dict[str, Any]]:
        """Play the trials that are left; yield the result of each, and the settings after it."""
        while self._done < self._arguments.trials:
            context.check()
            yield self._trial(context)


def read_words(words: Sequence[str]) -> tuple[dict[str, float], dict[str, float]]:
    """Return the starts and the steps of settings, by name. Raises `Fault`."""
    start, steps, names = {}, {}, bounds_of(SearchSettings)
    for word in words:
        name, _, numbers = word.partition("=")
        if name not in names:
            raise Fault(f"no number of the search: {name}; there are {', '.join(names)}")
        try:
            start[name], steps[name] = map(float, numbers.split(":"))
        except ValueError:
            raise Fault(f"{word} is not of the form NAME=START:STEP, such as c_puct=1.2:0.2") from None
    return start, steps


def main() -> None:
    """Tune, and print the settings after each trial."""
    parser = parser_of(__doc__)
    parser.add_argument("state", type=Path, metavar="FILE")
    parser.add_argument("words", nargs="+", metavar="NAME=START:STEP")
    parser.add_argument("--model", type=model_file, default=DEFAULT_MODEL)
    parser.add_argument("--simulations", type=int, default=400)
    parser.add_argument("--seconds", type=float, help="for each move, in place of a number of simulations")
    parser.add_argument("--games", type=int, default=64, help="of a trial")
    parser.add_argument("--trials", type=int, default=400, help="of all processes together")
    parser.add_argument("--rate", type=float, default=0.4, help="steps that a trial without a loss moves, at first")
    arguments = parser.parse_args()
    with interruptible(resume=again()) as context:
        show(Tuning(arguments, *read_words(arguments.words)).trials(context), arguments.json)


if __name__ == "__main__":
    sys.exit(exit_code_of(main))
