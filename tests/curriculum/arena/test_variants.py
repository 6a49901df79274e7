"""Variants of the rules: the built-in model has a net for each that there is a file of; the claims of their suites."""

import hashlib
import warnings
from collections import Counter
from dataclasses import replace
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from core.position import Position
from core.rules import BLACK, WHITE, Rules, Variant
from curriculum.arena.levels import LEVELS
from curriculum.arena.players import NamedPlayer, PlayerSettings, model_path, parse_player, resolve_rules
from curriculum.arena.suite import SuiteError, load_suite, puzzle_line, score_player
from curriculum.reporting import Context
from nets.checkpoint import BUILT_IN, DEFAULT_MODEL, load_model, save_model
from nets.config import RuntimeNotice
from nets.dual import make_model
from search.mentor.paper import PaperMentor
from search.players import Player
from tests.support import referee
from tests.support.nets import LINES
from tests.support.rule_solver import RuleSolver

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

SHIPPED = (Variant.STANDARD, Variant.RENJU, Variant.CARO)
FROZEN = {
    Variant.STANDARD: "f629d3326f7de0f48b9108914beea27eb89c77972c2092d63eafbc6a28c0efa5",
    Variant.RENJU: "7129432609ed644a0650381d23ed10000a9fb3fb91a8dfb8e5aeb3f62cf7051b",
    Variant.CARO: "32ae906e8b7dbde8ec7837fc9eae884b57048bf944ab4a5a305a48261eb554d7",
}


@pytest.mark.parametrize("variant", SHIPPED)
def test_a_suite_is_frozen(variant: Variant) -> None:
    file = resources.files("curriculum") / "suites" / f"tactics-{variant}.txt"
    assert hashlib.sha256(file.read_bytes()).hexdigest() == FROZEN[variant]


def kind_of(board: RuleSolver, side: int, lines: list[list[int]]) -> str:
    """Return the kind of a position that is won by fours, with the line of each winning move."""
    if board.fives_of_freestyle(side) or board.fives_of_freestyle(-side):
        return "no-five"
    if board.variant == Variant.RENJU:
        legal = board.fours(side)
        board.ignores_fouls = True
        won = {move for move in board.fours(side) if board.line_after(move, side)}
        board.ignores_fouls = False
        if side == WHITE and not won.intersection(line[0] for line in lines):
            return "foul-net"
        if side == BLACK and won - legal:
            return "foul-trap"
    assert board.win_by_fours(-side) is not None, "the other side threatens to win by fours too"
    fours = (len(min(lines, key=len)) + 1) // 2
    return f"fours-{fours}" if fours < 3 else "fours-3+"


@pytest.mark.parametrize("variant", [*SHIPPED, Variant.CARO_EXACT])
def test_the_claims_of_a_suite_hold(variant: Variant) -> None:
    # The maker has proven all of them; these are quick.
    suite = sorted(load_suite("tactics", Rules(variant=variant)), key=lambda puzzle: len(puzzle.moves))
    for kind in {puzzle.kind for puzzle in suite}:
        for puzzle in [puzzle for puzzle in suite if puzzle.kind == kind][:3]:
            board = RuleSolver(puzzle.moves, variant)
            side = BLACK if len(puzzle.moves) % 2 == 0 else WHITE
            wins, threats = board.fives(side), board.fives(-side)
            if wins or threats:
                found = ("win-in-1", wins) if wins else ("block", board.blocks(side))
            else:
                lines = [line for four in board.fours(side) if (line := board.line_after(four, side))]
                found = kind_of(board, side, lines), {line[0] for line in lines}
            assert found == (kind, set(puzzle.answers)), puzzle_line(puzzle)


@pytest.mark.parametrize("variant", [Variant.RENJU, Variant.CARO_EXACT])
def test_the_solver_finds_the_wins_of_the_referee(variant: Variant) -> None:
    rules, random, found = Rules(7, variant=variant), np.random.default_rng(7), Counter[bool]()
    while min(found[True], found[False]) < 4:
        position = Position(rules)
        while position.ply < 20 and not position.is_game_over():
            legal = position.legal_moves()
            position.push(int(legal[random.integers(len(legal))]))
        if position.is_game_over():
            continue
        line = RuleSolver(position.moves, variant, 7, 10_000).win_by_fours(position.side_to_move, 20)
        stones = [int(stone) for stone in position.stones]
        assert (line is not None) == referee.wins_by_fours(stones, position.side_to_move, 7, variant)
        found[line is not None] += 1


def test_a_player_is_scored_under_the_rule() -> None:
    rules = Rules(variant=Variant.RENJU)
    easy = [puzzle for puzzle in load_suite("tactics", rules) if puzzle.kind in ("win-in-1", "block")][::3]
    assert score_player(PaperMentor(), easy, rules=rules, context=Context()).total.share == 1.0
    with pytest.raises(SuiteError, match="there is no suite hard for renju on 15x15; it is for 5 in a row on 15x15"):
        load_suite("hard", rules)
