"""The recipes of CONTRIBUTING.md: each is carried out on a copy of the code, touches three files at most, and works."""

import json
import os
import re
import shlex
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from curriculum.run.folder import read_metrics
from nets.tensor_file import open_tensors
from tests.support.commands import python
from tests.support.project import ROOT

PACKAGES = ("core", "nets", "search", "curriculum", "gomoku_cli")
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("\n## Recipes\n")[2].partition("\n## ")[0]
RECIPES = {section.partition("\n")[0]: section for section in TEXT.split("\n### ")[1:]}
QUICK = """
training.batch_size=8 basics.positions=32 basics.epochs=1 imitation.games=2 imitation.bar_games=2 imitation.bar_every=0
imitation.bar_opponent=random imitation.teacher=mentor:1 imitation.opening_stones=[2,4] selfplay.games=2 gate.games=2
selfplay.concurrent_games=2 search.simulations=4 evaluation.final_games=0 rules.size=6 rules.connect=4
basics.noise_stones=[0,6]
""".split()
"""Settings with which every training of a recipe takes some seconds."""
PHASES = {"runs/block": "basics", "runs/target": "selfplay", "runs/preset": "imitation"}
"""The phase that shows what is new, where one is enough."""


def blocks(recipe: str, language: str) -> list[str]:
    """The code blocks of a recipe in a language."""
    found: list[str] = re.findall(rf"^```{language}\n(.*?)^```$", RECIPES[recipe], re.MULTILINE | re.DOTALL)
    return found


def apply(diff: str, root: Path) -> int:
    """Make the changes of a recipe, whose places must be found exactly once; return the number of files."""
    parts = re.split(r"^(?:---|\+\+\+) (\S+)\n", diff, flags=re.MULTILINE)[1:]
    for name, change in zip(parts[::2], parts[1::2], strict=True):
        path = root / name
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        for hunk in re.split(r"^@@.*\n", change, flags=re.MULTILINE):
            lines = hunk.splitlines(keepends=True)
            old, new = ("".join(line[1:] or "\n" for line in lines if line[0] in signs) for signs in (" -\n", " +\n"))
            assert text.count(old) == 1 or not path.exists(), (name, old)
            text = text.replace(old, new) if path.exists() else new
        path.write_text(text, encoding="utf-8")
    return len(parts) // 2


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the packages, with their compiled modules: these are known by the times of their sources."""
    root = tmp_path / "code"
    for name in PACKAGES:
        shutil.copytree(ROOT / name, root / name)
    return root


RUN = "import json, sys; from gomoku_cli import app; sys.exit(max(map(app.run, json.loads(sys.argv[1]))))"


def output(recipes: Iterable[str], root: Path, folder: Path, **environment: str) -> str:
    """Run the commands of recipes with the code in `root`; return what they print."""
    commands = []
    for line in (line for recipe in recipes for line in blocks(recipe, "sh")[0].splitlines()):
        name, *words = shlex.split(line)
        assert name == "gomoku"
        if words[0] == "train":
            phases = PHASES.get(words[words.index("--run") + 1], "basics,imitation,selfplay")
            words += [word for setting in (*QUICK, f"phases={phases}") for word in ("--set", setting)] + ["--quiet"]
        commands.append(words)
    done = python(RUN, json.dumps(commands), cwd=folder, env=os.environ | {"PYTHONPATH": str(root)} | environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def has_a_block(folder: Path, printed: str) -> None:
    with open_tensors(folder / "runs/block/models/best.safetensors", 1 << 24) as file:
        assert file.types["black.trunk.1.squeeze.weight"].shape == (4, 8)


def has_another_target(folder: Path, printed: str) -> None:
    assert "selfplay" in {record["phase"] for record in read_metrics(folder / "runs/target")}


def has_a_head(folder: Path, printed: str) -> None:
    records = [record for record in read_metrics(folder / "runs/head") if record["event"] == "train"]
    losses = {record["phase"]: record["reply_loss"] for record in records}
    assert losses["basics"] == 0 < losses["imitation"]
    assert losses["selfplay"] > 0
    with open_tensors(folder / "runs/head/models/best.safetensors", 1 << 24) as file:
        assert {"black.reply.0.conv.weight", "white.reply.1.linear.bias"} <= file.types.keys()


def has_a_player(folder: Path, printed: str) -> None:
    (result,) = (json.loads(line) for line in printed.splitlines() if line.startswith("{"))
    assert result["player"] == "central"
    assert result["games"] == 4


def has_a_preset(folder: Path, printed: str) -> None:
    config = (folder / "runs/preset/config.toml").read_text()
    assert re.search(r"^label_smoothing = 0\.1$", config, re.MULTILINE)


CHECKS: dict[str, Callable[[Path, str], None]] = {
    "A block": has_a_block,
    "A target": has_another_target,
    "A head": has_a_head,
    "A player": has_a_player,
    "A preset": has_a_preset,
}


def test_six_recipes_are_carried_out_here() -> None:
    assert {*CHECKS, "A term of PUCT"} == RECIPES.keys()


@pytest.mark.slow
def test_recipes_work_on_a_copy_of_the_code(copy: Path, tmp_path: Path) -> None:
    """All at once, since each process imports the whole program."""
    for recipe in CHECKS:
        assert 1 <= apply(blocks(recipe, "diff")[0], copy) <= 3, recipe
    printed = output(CHECKS, copy, tmp_path)
    for check in CHECKS.values():
        check(tmp_path, printed)


@pytest.mark.slow
def test_another_term_of_puct_changes_the_search(copy: Path, tmp_path: Path) -> None:
    """Its commands run without the compiler, so that the change needs no compilation."""
    recipe = "A term of PUCT"
    before = output([recipe], copy, tmp_path, NUMBA_DISABLE_JIT="1")
    assert apply(blocks(recipe, "diff")[0].replace("0.45", "0.9"), copy) == 1
    assert output([recipe], copy, tmp_path, NUMBA_DISABLE_JIT="1") != before
