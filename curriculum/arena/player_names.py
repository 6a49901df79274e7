"""Names of players; imports nothing heavy, so that help stays fast."""

import os
import shlex
from collections.abc import Sequence
from pathlib import Path, PurePath

from core.input_limits import MAX_SIMULATIONS
from core.rules import Rules

DEFAULT = "default"
PAPER = "paper"
PAPER_MODELS = ("y-6x6", "y-8x8", "y-12x12", "y-20x20", "s-gp")
"""Built-in models of papers Y and S, by their presets."""
RANDOM = "random"
MENTOR = "mentor"
PAPER_MENTOR = "mentor:paper"
MENTOR_LEVELS = tuple(f"{MENTOR}:{level}" for level in range(1, 6))
"""From the weakest to the strongest; `search.mentor.player.LEVELS` has their limits."""
LEVELS = tuple(f"level:{level}" for level in range(1, 10))
"""From a beginner to the strongest; `curriculum.arena.levels` describes them."""
MODEL_LEVEL = LEVELS[-1]
"""The level of the built-in model."""
NUMBERED = (f"{LEVELS[0]} to {len(LEVELS)}", f"{MENTOR_LEVELS[0]} to {len(MENTOR_LEVELS)}")
PURE_MCTS = "pure-mcts"
ENGINE = "engine"

EXAMPLES = (DEFAULT, PAPER, RANDOM, *LEVELS, MENTOR, *MENTOR_LEVELS, PAPER_MENTOR, f"{PURE_MCTS}:1000", f"{ENGINE}:")
"""A player of every kind without a file; the command of an engine is missing."""
HELP = (
    f"{DEFAULT}, {PAPER}, {', '.join(PAPER_MODELS)}, a model file, a run folder (each also with its own simulations, "
    f"as {DEFAULT}@50), {NUMBERED[0]}, {RANDOM}, {MENTOR}, {NUMBERED[1]}, {PAPER_MENTOR}, "
    f"{PURE_MCTS}:N or {ENGINE}:COMMAND (a program that speaks the Gomocup protocol)"
)
"""All spellings of a player."""


def own_simulations(spec: str) -> tuple[str, int | None]:
    """Return the name of a player and its own number of simulations, as in `default@50`; None without one."""
    name, at, count = spec.rpartition("@")
    is_count = at and name and count.isdecimal() and len(count) <= len(str(MAX_SIMULATIONS))
    return (spec, None) if not is_count or os.path.lexists(spec) else (name, int(count))


def model_of_level(spec: str, rules: Rules) -> Path | None:
    """Return the file of the model that plays a level on a board; None for a level that another player plays."""
    if spec != MODEL_LEVEL:
        return None
    from nets.checkpoint import model_file, read_info

    path = model_file(DEFAULT, rules)
    return path if read_info(path).plays(rules) else None


def short_name(spec: str) -> str:
    """Return a name for tables and reports: of a model file or a run its own name, of an engine that of its program."""
    kind, _, command = spec.partition(":")
    if kind == ENGINE and command:
        try:
            words = shlex.split(command)
        except ValueError:
            words = []
        return (PurePath(words[0]).name if words else "") or spec
    model, own = own_simulations(spec)
    if own is not None:
        return f"{short_name(model)}@{own}"
    path = PurePath(spec)
    if len(path.parts) < 2 and path.suffix != ".safetensors":
        return spec
    name = path.name.removesuffix(".safetensors")
    run = path.parent.parent.name
    if path.parent.name != "models" or not run:
        return name or spec
    return run if name == "best" else f"{run}/{name}"


def short_names(specs: Sequence[str], given: Sequence[str] = ()) -> list[str]:
    """Return distinct names of players: the `given` ones of the first, short ones of the others.

    A player whose short name is that of another one keeps its whole spec. Raises `ValueError` if two have one name.
    """
    if len(given) > len(specs):
        raise ValueError(f"there are {len(given)} names for {len(specs)} players")
    if not all(given):
        raise ValueError("a name is empty")
    rest = specs[len(given) :]
    names = [*given, *map(short_name, rest)]
    names = [*given, *(spec if names.count(short_name(spec)) > 1 else short_name(spec) for spec in rest)]
    for name, spec in zip(names, specs, strict=True):
        if any(name == other and spec != of for other, of in zip(names, specs, strict=True)):
            raise ValueError(f"two players are called {name}")
    return names
