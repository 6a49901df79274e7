"""Games as trees: variations, comments and what other programs wrote, changed, written and read back."""

import copy
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import Notice
from core.notation import parse_cell
from core.position import IllegalMoveError
from core.records.formats import read_games, write_games
from core.records.record import GameRecord, RecordError
from core.records.sgf import parse_sgf, parse_trees, to_sgf
from core.records.tree import GameTree, Node
from core.rules import NO_CELL, WHITE, Rules
from tests.support.game_records import records, texts

HEADER = "(;GM[4]SZ[15]"


def read(text: str) -> GameTree:
    (tree,) = parse_trees(text)
    return tree


def names(nodes: list[Node]) -> str:
    return " ".join(node.position().name_of(node.move) for node in nodes)


def same(one: Node, other: Node) -> bool:
    """Compare two trees node by node."""
    pairs = list(zip(one.nodes(), other.nodes(), strict=True))
    return all((a.move, a.properties, len(a.children)) == (b.move, b.properties, len(b.children)) for a, b in pairs)


@st.composite
def trees(draw: st.DrawFn) -> GameTree:
    """Trees with variations, comments with escapes, names, and properties of other programs."""
    size = draw(st.sampled_from((3, 9, 15)))
    tree = GameTree(Rules(size, min(size, 5)))
    nodes: list[Node] = [tree]
    for _ in range(draw(st.integers(0, 12))):
        node = draw(st.sampled_from(nodes))
        legal = node.position().legal_moves()
        if legal:
            nodes.append(node.add(draw(st.sampled_from(legal))))
    for node in nodes:
        node.comment, node.name = draw(texts), draw(texts.map(lambda text: text.replace("\n", " ")))
        if draw(st.booleans()):
            node.properties["LB"] = "[aa:\\:\\]][bb:2]"
    return tree


@given(trees())
def test_a_tree_that_was_written_is_read_back(tree: GameTree) -> None:
    text = to_sgf(tree)
    again = read(text)
    assert same(tree, again)
    assert to_sgf(again) == text
    assert same(tree, pickle.loads(pickle.dumps(tree)))
    assert parse_sgf(text) == [tree.record()], "a record is the main line of its tree"


@given(trees())
def test_sgfmill_reads_the_same_tree(tree: GameTree) -> None:
    sgf: Any = pytest.importorskip("sgfmill.sgf")
    other = sgf.Sgf_game.from_string(to_sgf(tree))
    waiting: list[tuple[Node, Any]] = [(tree, other.get_root())]
    while waiting:
        ours, theirs = waiting.pop()
        assert (theirs.get("C") if theirs.has_property("C") else "") == ours.comment
        assert len(theirs) == len(ours.children)
        if ours is not tree:
            assert theirs.get_move()[1] == divmod(ours.move, tree.rules.size)
        waiting += zip(ours.children, theirs, strict=True)


@given(records())
def test_a_record_is_a_tree_without_variations(record: GameRecord) -> None:
    tree = GameTree.of(record)
    assert tree.record() == record
    assert all(len(node.children) <= 1 for node in tree.nodes())


def test_variations_branch_off_and_are_walked() -> None:
    tree = read(f"{HEADER};B[hh](;W[hi];B[ii];W[gg])(;W[gh]N[the trap](;B[aa])(;B[bb])))")
    first = tree.variations[0]
    assert names(tree.main_line()) == "h8 h7 i7 g9"
    assert names(first.variations) == "h7 g8"
    trap = first.variations[1]
    assert (trap.name, names(trap.path()), names(trap.variations)) == ("the trap", "h8 g8", "a15 b14")
    assert trap.previous is first
    assert (trap.root, tree.previous) == (tree, None)
    assert (first.is_main(), trap.is_main()) == (True, False)
    of_three = [names(node.path()) for node, position in tree.positions() if position.ply == 3]
    assert of_three == ["h8 h7 i7", "h8 g8 a15", "h8 g8 b14"]
    assert all([node.move for node in node.path()] == position.moves for node, position in tree.positions())


def test_a_psq_file_says_that_it_has_no_variations(tmp_path: Path) -> None:
    tree = GameTree.of(GameRecord(Rules(), (112, 127)))
    write_games(tmp_path / "line.psq", [tree])
    tree.variations[0].add("g7")
    with pytest.warns(Notice, match="branched.psq holds main lines alone: the variations are not in it"):
        write_games(tmp_path / "branched.psq", [tree])
    assert read_games(tmp_path / "branched.psq") == read_games(tmp_path / "line.psq")


def test_moves_are_added_promoted_and_deleted() -> None:
    tree = GameTree(Rules())
    first = tree.add("h8")
    main, other = first.add("i9"), first.add(parse_cell("g7", 15))
    assert first.add("i9") is main, "a move that is there already is no second variation"
    assert first.next("i9") is main and first.next("j9") is None
    with pytest.raises(IllegalMoveError, match="h8 already holds a stone"):
        main.add("h8")
    deep = other.add("a1")
    assert deep.promote()
    assert names(tree.main_line()) == "h8 g7 a1"
    assert not deep.promote(), "it is the main line"
    other.delete()
    assert names(tree.main_line()) == "h8 i9"
    for node in (tree, other):
        with pytest.raises(ValueError, match="cannot be removed"):
            node.delete()
    with pytest.raises(TypeError, match="C is a text, not int"):
        tree.comment = 5  # type: ignore[assignment]


FOREIGN = (
    "(;GM[4]SZ[15]XX[a] [b\\]]PB[Ann]KM[6.5];LB[aa:1][bb:2]B[hh]C[one\\]]"
    "(;W[hi](;C[a node without a move];B[ii])(;C[and one at the end]))"
    "(;W[];B[aa])(;AB[cc];W[dd];B[ee])(;W[hh];B[kk])(;B[gg]))"
)


def test_what_other_programs_wrote_stays() -> None:
    """Nodes without a move, and in variations passes, set-up stones and moves that cannot be played, with theirs."""
    tree = read(FOREIGN)
    assert "".join(to_sgf(tree).split()) == "".join(FOREIGN.split())
    (first,) = tree.variations
    (second,) = first.variations
    assert len(first.children) == 5, "four of them cannot be played"
    assert (tree.text("XX"), first.comment) == ("a", "one]")
    assert names(second.variations) == "i7"
    assert second.children[0].move == NO_CELL
    second.variations[0].add("a1")
    first.add("g7").promote()
    first.add("b2").comment = "added"
    assert names(read(to_sgf(tree)).variations[0].variations) == "g7 h7 b2"
    for written in ("LB[aa:1][bb:2]", "XX[a] [b\\]]", "KM[6.5]", "(;W[]\n;B[aa])", "AB[cc]"):
        assert written in to_sgf(tree)


def test_the_first_move_behind_a_remark_is_the_main_one() -> None:
    tree = read(f"{HEADER};B[hh](;C[no move])(;W[];B[aa]))")
    tree.variations[0].add("i9")
    assert names(tree.main_line()) == "h8 i9"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("(;GM[4];B[hh]C[one]W[hg]C[two])", "h8 h9"),
        ("(;GM[4]B[hh]W[hg]C[two])", "h8 h9"),
        ("(;GM[4](;B[hh]((;W[hg])(;W[aa]))(;W[bb]));B[cc])", "h8 h9"),
        ("(;GM[4](;C[x])(;B[hh]))", ""),
    ],
)
def test_a_tree_has_the_main_line_of_the_record(text: str, line: str) -> None:
    tree = read(text)
    assert names(tree.main_line()) == line
    assert parse_sgf(text) == [tree.record()] == parse_sgf(to_sgf(tree))


def test_a_header_changes_and_the_rest_stays() -> None:
    tree = read(FOREIGN)
    tree.set_header(GameRecord(Rules(), (), WHITE, black="Bob", note="played on"))
    assert tree.record().winner == WHITE
    assert (tree.text("PB"), tree.text("GC"), tree.text("KM")) == ("Bob", "played on", "6.5")


@pytest.mark.parametrize("why", ["white's turn", "passes"])
def test_a_main_line_that_cannot_be_played_is_refused(why: str) -> None:
    text = f"{HEADER};B[hh];{'B[ii]' if 'turn' in why else 'W[]'})"
    with pytest.raises(RecordError, match=why):
        read(text)


def test_nodes_have_a_limit_and_the_main_line_has_none() -> None:
    text = f"{HEADER};B[hh]" + "(;W[hi])" * 50 + ")"
    with pytest.raises(RecordError, match=r"line 1, column \d+: the limit of games with variations is 51 nodes"):
        list(parse_trees(text, max_nodes=51))
    (tree,) = parse_trees(text, max_nodes=52)
    assert len(tree.variations[0].children) == 50
    assert len(parse_sgf(text)[0].moves) == 2


def test_a_deep_tree_needs_no_deep_stack() -> None:
    text = HEADER + "(;C[x]" * 10_000 + ")" * 10_001
    tree = read(text)
    assert same(tree, pickle.loads(pickle.dumps(tree)))
    assert sum(1 for _ in read(to_sgf(tree)).nodes()) == 10_001
    assert tree.variations == []


def test_a_copy_of_a_tree_goes_its_own_way() -> None:
    tree = GameTree.of(GameRecord(Rules(), (112, 127)))
    twin = copy.copy(tree)
    assert same(tree, twin)
    twin.variations[0].add("g7").comment = "of the copy"
    twin.set_text("GC", "of the copy")
    assert (len(tree.variations[0].variations), tree.text("GC")) == (1, "")
    with pytest.raises(TypeError, match="copy the whole tree"):
        copy.copy(tree.variations[0])
