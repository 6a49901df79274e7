"""Settings of the search tuned by short matches (SPSA): `python -m benchmarks.tune tuned.json c_puct=1.2:0.2 ...`.

Each word is a number of `SearchSettings`, its start and a step. A trial draws a sign for each setting, plays the
settings a step above and a step below where they are now against each other (`--games`, each opening with both
colours), and moves them towards the winner. Steps and moves shrink with the number of trials (Spall 1998: exponents
0.101 and 0.602). The file holds the place and its history, so that a stopped command goes on; several processes on one
file tune together.
"""

import fcntl
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.matches import RULES, with_words
from benchmarks.measuring import parser_of, show
from core.files.atomic import atomic_write_text
from core.setting_bounds import bounds_of, from_json
from core.streams import Purpose, generator
from curriculum.arena.opening_sets import load_openings
from curriculum.arena.tournament import play_match
from curriculum.reporting import Context
from gomoku_cli.interruption import interruptible
from nets.checkpoint import DEFAULT_MODEL, read_info
from nets.runtimes.loading import open_model
from search.tree.player import MctsPlayer
from search.tree.settings import Policy, SearchSettings

_WARM_TRIALS = 50
"""Trials over which moves hardly shrink yet."""


def changed(path: Path, change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    """Change the state in a file that other processes may change too, and return it."""
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        state: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
        change(state)
        atomic_write_text(path, json.dumps(state) + "\n")
        return state


def place_of(state: Mapping[str, Any], steps: Mapping[str, float]) -> dict[str, float]:
    """Return the settings where the tuning is now."""
    return {name: state["start"][name] + steps[name] * state["moved"][name] for name in steps}


def read_words(words: Sequence[str]) -> tuple[dict[str, float], dict[str, float]]:
    """Return the starts and the steps of settings, by name. Raises `ValueError`."""
    start, steps, names = {}, {}, bounds_of(SearchSettings)
    for word in words:
        name, _, numbers = word.partition("=")
        if name not in names:
            raise ValueError(f"no number of the search: {name}; there are {', '.join(names)}")
        try:
            start[name], steps[name] = map(float, numbers.split(":"))
        except ValueError:
            raise ValueError(f"{word} is not of the form NAME=START:STEP, such as c_puct=1.2:0.2") from None
    return start, steps


def main() -> None:
    """Tune, and print the settings after each trial."""
    parser = parser_of(__doc__)
    parser.add_argument("state", type=Path, metavar="FILE")
    parser.add_argument("words", nargs="+", metavar="NAME=START:STEP")
    parser.add_argument("--model", type=Path, default=DEFAULT_MODEL)
    parser.add_argument("--simulations", type=int, default=400)
    parser.add_argument("--seconds", type=float, help="for each move, in place of a number of simulations")
    parser.add_argument("--games", type=int, default=64, help="of a trial")
    parser.add_argument("--trials", type=int, default=400, help="of all processes together")
    parser.add_argument("--rate", type=float, default=0.4, help="steps that a trial without a loss moves, at first")
    arguments = parser.parse_args()
    try:
        start, steps = read_words(arguments.words)
    except ValueError as error:
        parser.error(str(error))
    bounds = bounds_of(SearchSettings)
    made = from_json(SearchSettings, read_info(arguments.model).made.get("search", {})).for_play()
    plain = replace(made, simulations=arguments.simulations)
    evaluator, openings = open_model(arguments.model), load_openings("balanced", RULES)

    def begin(state: dict[str, Any]) -> None:
        for name, first in {"start": start, "moved": dict.fromkeys(start, 0.0), "drawn": 0, "trials": []}.items():
            state.setdefault(name, first)
        if state["start"] != start:
            parser.error(f"{arguments.state} tunes from {state['start']}, not from {start}: take another file")

    def draw(state: dict[str, Any]) -> None:
        state["drawn"] += 1

    def player(signs: Mapping[str, float], now: Mapping[str, float], width: float) -> MctsPlayer:
        wanted = {name: now[name] + width * signs[name] * step for name, step in steps.items()}
        words = [f"{name}={min(max(each, bounds[name].low), bounds[name].high)}" for name, each in wanted.items()]
        settings = with_words(plain, words)
        return MctsPlayer(
            evaluator, RULES, settings, policy=Policy.DETERMINISTIC, seconds=arguments.seconds, name=" ".join(words)
        )

    def trial(context: Context) -> dict[str, Any]:
        state = changed(arguments.state, draw)
        number, now = state["drawn"], place_of(state, steps)
        drawn = generator(number, Purpose.SHUFFLE).choice((-1.0, 1.0), len(steps)).tolist()
        signs = dict(zip(steps, drawn, strict=True))
        width = number**-0.101
        sides = player(signs, now, width), player(signs, now, -width)
        found = play_match(
            *sides, rules=RULES, openings=openings, games=arguments.games, seed=number, context=context
        ).total
        result = (found.wins - found.losses) / arguments.games
        move = arguments.rate * result * (1 + number / _WARM_TRIALS) ** -0.602

        def end(state: dict[str, Any]) -> None:
            for name, sign in signs.items():
                state["moved"][name] += move * sign
            state["trials"].append({"signs": signs, "result": result})

        state = changed(arguments.state, end)
        return {"trial": len(state["trials"]), "result": result, **place_of(state, steps)}

    def trials(context: Context) -> Iterator[dict[str, Any]]:
        done = len(changed(arguments.state, begin)["trials"])
        while done < arguments.trials:
            context.check()
            row = trial(context)
            done = row["trial"]
            yield row

    with interruptible(resume="the same command") as context:
        show(trials(context), arguments.json)


if __name__ == "__main__":
    main()
