"""The three phases under each variant of the rules, and the presets that teach the built-in model another one."""

from dataclasses import replace
from pathlib import Path

import pytest

from core.position import Position
from core.records.formats import read_games
from core.rules import Rules, Variant
from curriculum.config import Config, Phase
from curriculum.games.kinds import OWN_KINDS, REPOSITORY_KINDS
from curriculum.phases.all import run_all
from curriculum.presets import resolve
from curriculum.reporting import Context
from curriculum.run.folder import RunFolder
from nets.checkpoint import read_info
from tests.support.remarks import Remarks

pytestmark = pytest.mark.slow
TINY = """
search.simulations=12 selfplay.iterations=1 selfplay.games=6 selfplay.concurrent_games=6 selfplay.epochs=1
selfplay.cache_megabytes=0 selfplay.fast_simulations=6 gate.games=2 gate.simulations=4 gate.threshold=0
evaluation.final_games=0
""".split()


def trained(path: Path, config: Config) -> tuple[RunFolder, list[str]]:
    """Train a run; check that its model and its games are of its rules, and return it with its messages."""
    remarks = Remarks()
    with RunFolder.create(path, config) as run:
        run_all(run, Context(remarks))
    assert read_info(run.best_model).rules == config.rules
    records = [record for file in sorted(run.games.glob("*.sgf")) for record in read_games(file)]
    assert len(records) == config.selfplay.games
    for record in records:
        assert record.rules == config.rules
        # No move is recorded that the rule forbids.
        assert Position.from_moves(record.rules, record.moves[:-1]).is_legal(record.moves[-1])
    return run, remarks.lines


def test_all_phases_learn_a_variant_that_forbids_moves(tmp_path: Path) -> None:
    config = resolve("smoke", assignments=[*TINY, "rules.variant=renju", "rules.size=9", "basics.positions=64"])
    config = replace(config, basics=replace(config.basics, kinds=(*REPOSITORY_KINDS, *OWN_KINDS), noise_stones=(0, 8)))
    assert config.phases == tuple(Phase)
    trained(tmp_path / "run", config)


def test_a_preset_of_a_variant_begins_with_the_built_in_model(tmp_path: Path) -> None:
    config = resolve("strongest-standard", assignments=TINY)
    assert config.rules == Rules(variant=Variant.STANDARD)
    run, remarks = trained(tmp_path / "run", config)
    assert f"{config.rules}: the nets start from the weights of default, which learned 5 in a row on 15x15" in remarks
    assert read_info(run.best_model).made["preset"] == "strongest-standard"
