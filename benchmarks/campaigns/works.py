"""Commands that write, for the campaign that kills them."""

import random
import shlex
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from core.compiled.jit import KERNELS
from core.records.formats import write_games
from core.records.record import GameRecord
from core.rules import Rules
from curriculum.bench.positions import long_games
from curriculum.run.folder import is_run
from tests.support.project import ROOT

_SETTINGS = (
    *("rules.size=7", "rules.connect=4", "basics.noise_stones=[0,12]", "training.batch_size=32", "imitation.games=6"),
    *("selfplay.iterations=2", "selfplay.games=12", "selfplay.concurrent_games=6"),
)


class Work(NamedTuple):
    """A command that writes."""

    command: str
    """Its command line; `{folder}` and `{seed}` stand for those of the work."""
    share: int
    """Weight among the kills."""
    continues: str = ""
    """The command line for a run that it has begun, if that is another one."""
    prepare: Callable[[Path, int], None] = lambda folder, seed: None
    """Puts its input into a new folder."""
    own_caches: bool = False
    """True for a command whose caches are in the folder."""
    stdin: str = ""

    def words(self, folder: Path, seed: int) -> list[str]:
        """Return the words of its command line in a folder and with a seed; also to continue it."""
        command = self.continues if self.continues and is_run(folder) else self.command
        return [word.format(folder=folder, seed=seed) for word in shlex.split(command)]


def _games_to_convert(folder: Path, seed: int) -> None:
    games = random.Random(seed).sample(long_games(Rules(), 120), 100)
    write_games(folder / "in.sgf", [GameRecord(game.rules, game.moves) for game in games])


def _kernels(folder: Path, seed: int) -> None:
    """Copy a part of this machine's kernels into the caches of the work; it has to compile the rest."""
    shutil.copytree(KERNELS.path, folder / "gomoku" / KERNELS.path.name)
    chance = random.Random(seed)
    for path in sorted((folder / "gomoku" / KERNELS.path.name).iterdir()):
        if chance.random() < 0.1:
            path.unlink()


_SEED, _OUT, _SMALL = "--quiet --seed {seed}", "{folder}/out", "--board-size 9"
_RUN = f"{_SEED} --run {{folder}} --preset smoke {' '.join(f'--set {text}' for text in _SETTINGS)}"
_KEPT = f"{_SEED} --json --run {{folder}}/match"
_REPORTS = f"--games-file {_OUT}.sgf --figure {_OUT}.svg --junit {_OUT}.xml --markdown {_OUT}.md"
_ENGINE = shlex.quote(f"engine:{shlex.quote(sys.executable)} {ROOT}/tests/support/engines/scripted.py")

WORKS = {
    "train": Work(f"train {_RUN}", 24, continues="train --quiet --run {folder} --resume"),
    "generate-basics": Work(f"generate-basics {_RUN}", 7),
    "imitate": Work(f"imitate --new {_RUN}", 8),
    "selfplay": Work(f"selfplay --new {_RUN}", 12),
    "evaluate": Work(f"evaluate random mentor:1 --games 24 {_SMALL} {_KEPT} {_REPORTS}", 10),
    "evaluate (net)": Work(
        f"evaluate default random --games 6 --simulations 8 {_KEPT} --games-file {_OUT}.psq --figure {_OUT}.png", 4
    ),
    "evaluate (engine)": Work(f"evaluate random {_ENGINE} --games 12 {_SMALL} --seconds 5 {_KEPT} {_REPORTS}", 5),
    "tournament": Work(f"tournament random mentor:1 pure-mcts:8 --games 6 {_SMALL} {_KEPT} {_REPORTS}", 8),
    "ladder": Work(
        f"ladder mentor:1 --from 4 --step 4 --to 12 --games 6 --stop-at 0 {_KEPT} --figure {_OUT}.svg "
        f"--markdown {_OUT}.md",
        5,
    ),
    "suite": Work(f"suite mentor:1 {_SEED} --json --junit {_OUT}.xml --markdown {_OUT}.md", 3),
    "openings": Work(f"openings --player mentor:1 {_SMALL} --count 12 {_SEED} --force --output {_OUT}.txt", 3),
    "convert": Work("convert --force {folder}/in.sgf {folder}/out.psq", 3, prepare=_games_to_convert),
    "warmup": Work("warmup --quiet", 5, prepare=_kernels, own_caches=True),
    "engine": Work(
        "engine --model default --simulations 8", 3, prepare=_kernels, own_caches=True, stdin="START 15\nBEGIN\nEND\n"
    ),
}
"""The commands by name."""
