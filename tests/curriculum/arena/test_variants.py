"""Variants of the rules: the built-in model has a net for each that there is a file of; their suites."""

import hashlib
import warnings
from dataclasses import replace
from importlib import resources
from pathlib import Path

import pytest

from core.position import Position
from core.rules import Rules, Variant
from curriculum.arena.levels import LEVELS
from curriculum.arena.players import NamedPlayer, PlayerSettings, model_path, parse_player, resolve_rules
from curriculum.arena.suite import SuiteError, load_suite, score_player
from curriculum.reporting import Context
from nets.checkpoint import BUILT_IN, DEFAULT_MODEL, load_model, save_model
from nets.config import RuntimeNotice
from nets.dual import make_model
from search.mentor.paper import PaperMentor
from search.players import Player
from tests.support.nets import LINES

# Nets

ONE_NET = replace(LINES, dual=False)
SETTINGS = PlayerSettings(simulations=4, switch_stage=0)
"""With simulations, so that the kernels are those of the searches in `tests.search.test_variants`, compiled once."""


@pytest.fixture
def nets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[Variant, Path]:
    """Small nets of renju and caro in place of those that the package ships."""
    for name in [name for name in BUILT_IN if name.startswith("default-")]:
        monkeypatch.delitem(BUILT_IN, name)
    paths = {}
    for seed, variant in enumerate((Variant.RENJU, Variant.CARO)):
        paths[variant] = tmp_path / f"default-{variant}.safetensors"
        save_model(paths[variant], make_model(ONE_NET, Rules(variant=variant), seed), {})
        monkeypatch.setitem(BUILT_IN, f"default-{variant}", paths[variant])
    return paths


def opened(spec: str, variant: Variant) -> tuple[Player, list[str]]:
    """The player under a variant, and the notes about it."""
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always", RuntimeNotice)
        player = parse_player(spec, rules=Rules(9, variant=variant), settings=SETTINGS)
    return player, [str(note.message) for note in notes]


def test_the_built_in_model_plays_with_the_net_of_the_rule(nets: dict[Variant, Path]) -> None:
    shared = {Variant.RENJU: Variant.RENJU, Variant.CARO: Variant.CARO, Variant.CARO_EXACT: Variant.CARO}
    for variant, learnt in shared.items():
        rules = Rules(9, variant=variant)
        player, notes = opened("default", variant)
        assert notes == []
        twin, _ = opened(str(nets[learnt]), variant)
        position = Position.from_moves(rules, ["e5", "d4", "f6"])
        assert player.choose(position).move == twin.choose(position).move
        assert model_path("default", rules) == model_path("default@50", rules) == nets[learnt]
        assert NamedPlayer.of("default", rules, SETTINGS).files == (nets[learnt],)
        assert load_model("default", rules)[1].path == nets[learnt]
        assert resolve_rules(["default"], variant=variant).variant == variant
        assert parse_player(f"level:{max(LEVELS)}", rules=rules, settings=SETTINGS).name == "level:9"


def test_without_a_net_of_the_rule_that_of_freestyle_plays_with_a_note(nets: dict[Variant, Path]) -> None:
    assert model_path("default") == model_path("default", Rules()) == DEFAULT_MODEL
    assert model_path("default", Rules(variant=Variant.STANDARD)) == DEFAULT_MODEL
    assert opened("default", Variant.STANDARD)[1] == [
        "default learned freestyle, and plays standard, which it may play badly"
    ]
    assert opened(str(nets[Variant.RENJU]), Variant.CARO_EXACT)[1][0].endswith("badly; default has learned it")


def test_a_net_of_a_rule_has_a_name(nets: dict[Variant, Path]) -> None:
    assert model_path("default-renju") == nets[Variant.RENJU]
    assert resolve_rules(["default-renju", "default"]) == Rules(variant=Variant.RENJU)
    assert opened("default-renju", Variant.FREESTYLE)[1] == [
        "default-renju learned renju, and plays freestyle, which it may play badly; default has learned it"
    ]


# Suites

FROZEN = {
    Variant.STANDARD: "f629d3326f7de0f48b9108914beea27eb89c77972c2092d63eafbc6a28c0efa5",
    Variant.RENJU: "7129432609ed644a0650381d23ed10000a9fb3fb91a8dfb8e5aeb3f62cf7051b",
    Variant.CARO: "32ae906e8b7dbde8ec7837fc9eae884b57048bf944ab4a5a305a48261eb554d7",
}


@pytest.mark.parametrize("variant", FROZEN)
def test_a_suite_is_frozen(variant: Variant) -> None:
    file = resources.files("curriculum") / "suites" / f"tactics-{variant}.txt"
    assert hashlib.sha256(file.read_bytes()).hexdigest() == FROZEN[variant]


def test_a_player_is_scored_under_the_rule() -> None:
    rules = Rules(variant=Variant.RENJU)
    easy = [puzzle for puzzle in load_suite("tactics", rules) if puzzle.kind in ("win-in-1", "block")][::3]
    assert score_player(PaperMentor(), easy, rules=rules, context=Context()).total.share == 1.0
    with pytest.raises(SuiteError, match="there is no suite hard for renju on 15x15; it is for 5 in a row on 15x15"):
        load_suite("hard", rules)
