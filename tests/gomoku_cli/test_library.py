"""The library: lazy names, their examples and types, and packages of a user that take the place of ours."""

import doctest
import inspect
import math
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gomoku_cli as gomoku
from tests.support.commands import python

HEAVY = ("numpy", "numba", "torch", "typing_extensions", "rich", "textual")
LIGHT = ("BLACK", "IllegalMoveError", "Limit", "Position", "Record", "Rules", "UserError", "read_games", "record_game")


def installed(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a program with our packages installed, in a folder that it finds modules in too."""
    return python(code, cwd=folder, env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"})


def test_every_name_is_there_and_no_other() -> None:
    assert set(gomoku.__all__) <= set(dir(gomoku))
    for name in gomoku.__all__:
        assert getattr(gomoku, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'Postion'"):
        gomoku.Postion  # noqa: B018


def test_the_game_loads_nothing_heavy(tmp_path: Path) -> None:
    code = (
        "import sys\nbefore = set(sys.modules)\nimport gomoku_cli as gomoku\n"
        "assert set(sys.modules) - before == {'gomoku_cli'}, set(sys.modules) - before\n"
        f"for name in {LIGHT}: getattr(gomoku, name)\n"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    done = installed(code, tmp_path)
    assert (done.stdout, done.stderr) == ("[]\n", "")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name == "train" else ())
        for name in gomoku.__all__
        if name not in ("BLACK", "NO_CELL", "WHITE")
    ],
)
@pytest.mark.usefixtures("here")
def test_every_name_has_an_example_that_runs(name: str) -> None:
    text = inspect.getdoc(getattr(gomoku, name))
    assert text is not None and ">>> " in text
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    test = doctest.DocTestParser().get_doctest(text, {"gomoku": gomoku, "np": np, "math": math}, name, name, 0)
    report: list[str] = []
    doctest.DocTestRunner(optionflags=flags).run(test, out=report.append)
    assert not report, "".join(report)


@pytest.mark.parametrize("file", ["nets.py", "core.py", "search/__init__.py", "curriculum/__init__.py"])
def test_a_package_in_the_place_of_ours_is_named(file: str, tmp_path: Path) -> None:
    path = tmp_path / file
    path.parent.mkdir(exist_ok=True)
    path.write_text("raise AssertionError('it was run')", encoding="utf-8")
    done = installed("import gomoku_cli as gomoku; gomoku.Position()", tmp_path)
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    name = file.partition("/")[0].removesuffix(".py")
    assert last == (
        f"ImportError: gomoku_cli needs its own package {name}, but Python finds {path.resolve()} under this name: "
        "rename that one, or start Python from another folder"
    )
    command = [sys.executable, "-m", "gomoku_cli", "--version"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"gomoku: {last.removeprefix('ImportError: ')}\n"


def test_a_folder_without_modules_takes_no_place(tmp_path: Path) -> None:
    (tmp_path / "nets").mkdir()
    (tmp_path / "core").mkdir()
    done = installed("import gomoku_cli as gomoku; print(gomoku.Position().ply)", tmp_path)
    assert (done.stdout, done.stderr) == ("0\n", "")


def test_a_wrong_argument_is_named_at_once(tmp_path: Path) -> None:
    """The mistakes of people who know other libraries; each was a failure deep inside."""
    position = gomoku.Position()
    with gomoku.Engine(gomoku.open_player("random")) as engine:
        for call in (
            lambda: gomoku.Engine(lambda position: 3),  # type: ignore[arg-type]
            lambda: engine.play(position, 200),  # type: ignore[arg-type]
            lambda: engine.play("h8"),  # type: ignore[arg-type]
            lambda: gomoku.open_engine("random", "fast"),  # type: ignore[arg-type]
            lambda: gomoku.PlayerSettings(search="fast"),  # type: ignore[arg-type]
            lambda: gomoku.Limit(nodes=True),
            lambda: gomoku.open_player("random", rules="renju"),  # type: ignore[arg-type]
            lambda: gomoku.FunctionPlayer(lambda position: 3, "three"),  # type: ignore[arg-type]
            lambda: gomoku.play_match("mentor:1", "random"),  # type: ignore[arg-type]
            lambda: gomoku.play_match(engine, engine),  # type: ignore[arg-type]
            lambda: engine.play(position, seed="x"),  # type: ignore[arg-type]
            *(
                lambda wrong=wrong: gomoku.play_match(engine.player, engine.player, **wrong)  # type: ignore[misc]
                for wrong in ({"rules": 9}, {"seed": "x"}, {"seed": None}, {"games": "2"})
            ),
            lambda: gomoku.record_game("h8"),  # type: ignore[arg-type]
            lambda: gomoku.Rules("renju"),  # type: ignore[arg-type]
            lambda: gomoku.MctsPlayer("default", gomoku.Rules(), gomoku.SearchSettings()),  # type: ignore[arg-type]
            lambda: gomoku.write_games("x.sgf", [3]),  # type: ignore[list-item]
            lambda: gomoku.write_games("x.sgf", gomoku.Record(gomoku.Rules(), [112])),  # type: ignore[arg-type]
            lambda: gomoku.Record(15, [112]),  # type: ignore[arg-type]
            lambda: gomoku.GameTree.of(position),  # type: ignore[arg-type]
            lambda: gomoku.GameTree(gomoku.Rules()).add(1.5),  # type: ignore[arg-type]
            lambda: gomoku.record_game(position, limit=200),  # type: ignore[arg-type]
            lambda: gomoku.analyses_of(position),  # type: ignore[arg-type]
            lambda: gomoku.load_config("smoke", assignments="seed=7"),
            lambda: engine.analysis(position, lines=1.5),  # type: ignore[arg-type]
            lambda: gomoku.Book.create(tmp_path / "book.sqlite", 15),  # type: ignore[arg-type]
            lambda: gomoku.record_game(position, analyses=[engine.start(position)]),  # type: ignore[list-item]
        ):
            with pytest.raises(TypeError, match=r" not |; it must be | as wait"):
                call()
    assert not list(tmp_path.iterdir())
    with gomoku.open_engine("mentor:1") as mentor, pytest.raises(ValueError, match="lines is 0"):
        mentor.analysis(position, lines=0)
    with pytest.raises(ValueError, match="greedy"):
        gomoku.PlayerSettings(policy="greedy")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="memory_bytes is -5; it must be above 0"):
        gomoku.PlayerSettings(memory_bytes=-5)
    forgetful = gomoku.FunctionPlayer("forgetful", lambda position: None)  # type: ignore[arg-type, return-value]
    with pytest.raises(TypeError, match="forgetful answers None: a move is a cell"):
        forgetful.choose(position)


def test_a_text_searches_as_the_member_that_it_names() -> None:
    settings = gomoku.SearchSettings(first_play="zero", decay_form="repository")  # type: ignore[arg-type]
    assert settings.first_play is gomoku.FirstPlay.ZERO
    assert settings.decay_form is gomoku.DecayForm.REPOSITORY
    with pytest.raises(ValueError, match="first_play is 'x'; it must be one of reduced, zero"):
        gomoku.SearchSettings(first_play="x")  # type: ignore[arg-type]
    assert gomoku.Rules(variant="renju").variant.name == "RENJU"  # type: ignore[arg-type]


class Told(gomoku.Player):
    """Returns what it is told to."""

    name = "told"

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def choose_batch(self, positions: Sequence[gomoku.Position], **how: Any) -> list[gomoku.Decision]:
        return self.answer  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        ([], ValueError, "told returns 0 decisions on 1 positions"),
        ([gomoku.Decision(1)] * 2, ValueError, "told returns 2 decisions on 1 positions"),
        ([112], TypeError, r"told returns \[112\]: choose_batch returns a list of Decisions"),
        (None, TypeError, "told returns None: choose_batch returns a list of Decisions"),
        ([gomoku.Decision(81)], gomoku.IllegalMoveError, "told answers 81: cell 81 is off the board of 9x9"),
    ],
)
def test_a_player_that_decides_wrongly_is_named(answer: Any, error: type[Exception], message: str) -> None:
    rules, told = gomoku.Rules(9), Told(answer)
    with gomoku.Engine(told) as engine, pytest.raises(error, match=message):
        engine.play(gomoku.Position(rules))
    with pytest.raises(error, match=message):
        gomoku.play_match(told, gomoku.open_player("random"), games=1, rules=rules)


class Trying(gomoku.Player):
    """Tries moves on the positions that it gets, and leaves them there."""

    name = "trying"

    def choose_batch(self, positions: Sequence[gomoku.Position], **how: Any) -> list[gomoku.Decision]:
        for position in positions:
            position.push(position.legal_moves()[0])
        return [gomoku.Decision(position.moves[-1]) for position in positions]


def test_what_numpy_computes_is_taken_as_what_python_computes(tmp_path: Path) -> None:
    limit = gomoku.Limit(nodes=np.int64(30), seconds=np.float32(60))  # type: ignore[arg-type]
    settings = gomoku.PlayerSettings(simulations=np.int64(20))  # type: ignore[arg-type]
    position, analyses = gomoku.Position(), []
    with gomoku.open_engine("default", settings) as engine:
        analyses.append(engine.analysis(position, limit).wait())
        position.push(engine.play(position).move)
    analysed = gomoku.record_game(position, analyses=[*analyses, None], analyst="default", limit=limit)
    plain = gomoku.Record(gomoku.Rules(), np.array([112, 113]), times_ms=np.array([5, 6]), values=np.zeros(3))  # type: ignore[arg-type]
    gomoku.write_games(tmp_path / "games.sgf", [analysed, plain])
    assert gomoku.read_games(tmp_path / "games.sgf")[1].times_ms == (5, 6)


def test_a_player_may_try_moves_on_its_positions() -> None:
    result = gomoku.play_match(
        Trying(), gomoku.open_player("random"), games=2, rules=gomoku.Rules(9), openings=["e5 e6"]
    )
    assert [game.moves[:2] for game in result.games] == [(40, 49)] * 2


class Boastful(gomoku.BatchEvaluator):
    """Expects more than a win."""

    def evaluate(self, positions: gomoku.PositionBatch) -> tuple[Any, Any]:
        return np.zeros(positions.stones.shape), np.full(len(positions), 7.0)


def test_what_no_game_can_hold_is_named(tmp_path: Path) -> None:
    rules, mentor = gomoku.Rules(9), gomoku.open_player("mentor:1")
    with pytest.raises(ValueError, match="times_ms has 1 entries: a game of 2 moves has 2, or none"):
        gomoku.write_games(tmp_path / "x.sgf", [gomoku.Record(rules, [1, 2], times_ms=[5])])
    with pytest.raises(ValueError, match="values has 2 entries: a game of 2 moves has 3, or none"):
        gomoku.write_games(tmp_path / "x.psq", [gomoku.Record(rules, [1, 2], values=[0.5, 0.5])])
    with pytest.raises(ValueError, match="values lie between -1 and 1"):
        gomoku.write_games(tmp_path / "x.sgf", [gomoku.Record(rules, [1, 2], values=[0.5, None, -1.1])])
    with pytest.raises(ValueError, match="there are no openings"):
        gomoku.play_match(mentor, mentor, rules=rules, openings=[])
    with pytest.raises(ValueError, match="opening 2 ends the game"):
        gomoku.play_match(mentor, mentor, rules=rules, openings=[[40], [0, 9, 1, 10, 2, 11, 3, 12, 4]])
    with pytest.raises(ValueError, match="evaluate returned a value of 7"):
        gomoku.MctsPlayer(Boastful(), rules, gomoku.SearchSettings(simulations=10)).choose(gomoku.Position(rules))
    with pytest.raises(ValueError, match="the evaluator is for a board of 15x15, not for 5 in a row on 9x9"):
        gomoku.MctsPlayer(gomoku.open_model("default"), rules, gomoku.SearchSettings())
    for wrong in ({"winner": 7}, {"ending": "lost"}):
        with pytest.raises(ValueError, match=r"7|lost"):
            gomoku.Record(rules, [40], **wrong)  # type: ignore[arg-type]
    book = gomoku.Book.create(tmp_path / "book", rules)
    with pytest.raises(ValueError, match="plies is -1; it must be 1 or more"):
        book.add([], plies=-1)
    with pytest.raises(TypeError, match="records is 3; it must be a list of Records"):
        book.add(3, plies=1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a game is 3; it must be a Record"):
        book.add([3], plies=1)  # type: ignore[list-item]
    book.close()
    with pytest.raises(ValueError, match="book is closed"):
        book.moves(gomoku.Position(rules))


def test_what_cannot_train_leaves_no_folder(tmp_path: Path) -> None:
    path = tmp_path / "run"
    with pytest.raises(TypeError, match="config is 'smoke'; it must be a Config, such as load_config"):
        gomoku.train(path, "smoke")  # type: ignore[arg-type]
    with pytest.raises(gomoku.UserError, match=r"evaluation\.opponents: 'nope' names no player"):
        gomoku.train(path, gomoku.load_config("smoke", assignments=['evaluation.opponents=["nope"]']))
    assert not path.exists()
    gomoku.Run.create(path, gomoku.Config()).close()
    with pytest.raises(gomoku.UsageError, match="already holds a run: go on with it without config"):
        gomoku.train(path, gomoku.Config())


def test_a_path_names_a_player(tmp_path: Path) -> None:
    with pytest.raises(gomoku.UserError, match=f"there is no file or folder {tmp_path}/run"):
        gomoku.open_engine(tmp_path / "run")
