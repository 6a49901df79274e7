"""Commands that write, for the campaign that kills them."""

import random
import shlex
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from core.compiled.jit import KERNELS
from core.position import Position
from core.records.formats import write_games
from core.records.record import GameRecord
from core.rules import Rules
from curriculum.run.folder import is_run

ROOT = Path(__file__).resolve().parents[2]
_ENGINE = f"engine:{shlex.join((sys.executable, str(ROOT / 'tests' / 'support' / 'engines' / 'scripted.py')))}"
_SETTINGS = (
    *("rules.size=7", "rules.connect=4", "basics.noise_stones=[0, 12]", "training.batch_size=32"),
    *("imitation.games=6", "selfplay.iterations=2", "selfplay.games=12", "selfplay.concurrent_games=6"),
)
_SMALL = ("--board-size", "9")


class Work(NamedTuple):
    """A command that writes."""

    words: Callable[[Path, int], list[str]]
    """The words of its command line, in a folder and with a seed; also to continue it."""
    share: int
    """Weight among the kills."""
    prepare: Callable[[Path, int], None] = lambda folder, seed: None
    """Puts its input into a new folder."""
    own_caches: bool = False
    """True for a command whose caches are in the folder."""
    stdin: str = ""


def _run(command: str) -> Callable[[Path, int], list[str]]:
    def words(folder: Path, seed: int) -> list[str]:
        if command == "train" and is_run(folder):
            return ["train", "--quiet", "--run", str(folder), "--resume"]
        new = ["--new"] if command in ("imitate", "selfplay") else []
        settings = [word for text in _SETTINGS for word in ("--set", text)]
        return [command, *new, "--quiet", "--run", str(folder), "--preset", "smoke", "--seed", str(seed), *settings]

    return words


def _match(command: Sequence[str], reports: Sequence[str]) -> Callable[[Path, int], list[str]]:
    def words(folder: Path, seed: int) -> list[str]:
        files = [word for name in reports for word in (f"--{name.split('.')[0]}", str(folder / f"out-{name}"))]
        kept = ["--run", str(folder / "match")] if command[0] != "suite" else []
        return [*command, "--seed", str(seed), "--quiet", "--json", *kept, *files]

    return words


def _openings(folder: Path, seed: int) -> list[str]:
    options = ["--player", "mentor:1", *_SMALL, "--count", "12", "--seed", str(seed)]
    return ["openings", *options, "--force", "--quiet", "--output", str(folder / "openings.txt")]


def _games_to_convert(folder: Path, seed: int) -> None:
    chance, games = random.Random(seed), []
    for _ in range(100):
        position = Position(Rules())
        while not position.is_game_over() and position.ply < 80:
            position.push(int(chance.choice(position.legal_moves())))
        outcome = position.outcome()
        games.append(GameRecord(Rules(), tuple(position.moves), outcome.winner if outcome else None))
    write_games(folder / "in.sgf", games)


def _kernels(folder: Path, seed: int) -> None:
    """Copy a part of this machine's kernels into the caches of the work; it has to compile the rest."""
    shutil.copytree(KERNELS.path, folder / "gomoku" / KERNELS.path.name)
    chance = random.Random(seed)
    for path in sorted((folder / "gomoku" / KERNELS.path.name).iterdir()):
        if chance.random() < 0.1:
            path.unlink()


_REPORTS = ("games-file.sgf", "figure.svg", "junit.xml", "markdown.md")
_MATCH = ("evaluate", "random", "--against", "mentor:1", "--games", "24", *_SMALL)
_WITH_ENGINE = ("evaluate", "random", "--against", _ENGINE, "--games", "12", *_SMALL, "--seconds", "5")
_NET_MATCH = ("evaluate", "default", "--against", "random", "--games", "6", "--simulations", "8")
_TABLE = ("tournament", "random", "mentor:1", "pure-mcts:8", "--games", "6", *_SMALL)
_LADDER = ("ladder", "mentor:1", "--from", "4", "--step", "4", "--to", "12", "--games", "6", "--stop-at", "0")

WORKS: dict[str, Work] = {
    "train": Work(words=_run("train"), share=24),
    "generate-basics": Work(words=_run("generate-basics"), share=7),
    "imitate": Work(words=_run("imitate"), share=8),
    "selfplay": Work(words=_run("selfplay"), share=12),
    "evaluate": Work(words=_match(_MATCH, _REPORTS), share=10),
    "evaluate (net)": Work(words=_match(_NET_MATCH, ("games-file.psq", "figure.png")), share=4),
    "evaluate (engine)": Work(words=_match(_WITH_ENGINE, _REPORTS), share=5),
    "tournament": Work(words=_match(_TABLE, _REPORTS), share=8),
    "ladder": Work(words=_match(_LADDER, ("figure.svg", "markdown.md")), share=5),
    "suite": Work(words=_match(("suite", "mentor:1"), ("junit.xml", "markdown.md")), share=3),
    "openings": Work(words=_openings, share=3),
    "convert": Work(
        words=lambda f, s: ["convert", "--force", str(f / "in.sgf"), str(f / "out.psq")],
        share=3,
        prepare=_games_to_convert,
    ),
    "warmup": Work(words=lambda f, s: ["warmup", "--quiet"], share=5, prepare=_kernels, own_caches=True),
    "engine": Work(
        words=lambda f, s: ["engine", "--model", "default", "--simulations", "8"],
        share=3,
        prepare=_kernels,
        own_caches=True,
        stdin="START 15\nBEGIN\nEND\n",
    ),
}
"""The commands by name."""
