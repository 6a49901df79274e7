"""Foreign text on the terminal: shown, never obeyed."""

import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from core.input_limits import MAX_SHOWN_CHARACTERS
from core.rules import Rules
from gomoku_cli.app import run
from gomoku_cli.console import Lines
from gomoku_cli.notices import print_notice
from gomoku_cli.printable import echo, echo_json, printable, sentence, shown
from gomoku_cli.progress.bars import Bars
from nets.checkpoint import save_model
from nets.config import NetConfig
from nets.dual import make_model
from tests.support.commands import Capsys

HOSTILE = "\x1b]0;title\x07\x1b[2J\x9b31m\u202egpj\u2066\udcff\x00"
SHOWN = r"\x1b]0;title\x07\x1b[2J\x9b31m\u202egpj\u2066\udcff\x00"


def test_a_message_becomes_a_sentence_that_keeps_the_names_of_cells() -> None:
    assert sentence("renju forbids Black 3-3 at h8") == "Renju forbids Black 3-3 at h8."
    assert sentence(ValueError("h8 already holds a stone")) == "h8 already holds a stone."
    assert sentence("'z9' is no cell") == "'z9' is no cell."


def test_control_characters_and_changes_of_direction_are_escaped() -> None:
    assert printable(HOSTILE) == SHOWN
    assert printable("two\nlines\tand\u2028more") == "two lines and more"
    for plain in ("", "mentor:5", "żółw ★ 五目並べ", "[bold]x[/]"):
        assert printable(plain) == plain


def test_long_texts_are_cut() -> None:
    assert len(shown("x" * 10**6)) == MAX_SHOWN_CHARACTERS
    assert shown("short") == "short"


def test_lines_keep_their_ends(capsys: Capsys) -> None:
    echo(f"one\n{HOSTILE}")
    assert capsys.readouterr().out == f"one\n{SHOWN}\n"


def test_notices_and_remarks_are_shown_as_they_are(capsys: Capsys) -> None:
    Lines().say(f"[bold]{HOSTILE}")
    assert capsys.readouterr().err == f"[bold]{SHOWN}\n"
    print_notice(f"[bold]x[/] {HOSTILE}")
    assert capsys.readouterr().err == f"note: [bold]x[/] {SHOWN}\n"


@pytest.mark.parametrize("name", ["[bold]x[/]", "[/]", "[link=https://example.org]x[/link]", HOSTILE])
def test_names_in_progress_bars_are_no_markup(name: str) -> None:
    written = io.StringIO()
    bars = Bars(Console(file=written, force_terminal=True, color_system=None, width=300))
    with bars.task(name, 2, "games") as task:
        task.update(1, opponent=name)
        bars.say(name)
    assert written.getvalue().count(printable(name)) >= 2
    assert "\x1b]" not in written.getvalue()


def test_info_shows_metadata_as_it_is(tmp_path: Path, capsys: Capsys) -> None:
    path = tmp_path / "hostile.safetensors"
    model = make_model(NetConfig.tower(2, 0, hidden=2, dual=False), Rules(7, 4), 0)
    made = {"preset": HOSTILE, HOSTILE: [HOSTILE], "x" * 5_000: 3, "config": f"[rules]\n# {HOSTILE}\n"}
    save_model(path, model, made)
    assert run(["info", str(path)]) == 0
    out = capsys.readouterr().out
    assert all(letter == "\n" or letter.isprintable() for letter in out)
    assert re.search(rf"^preset +{re.escape(SHOWN)}$", out, re.MULTILINE)
    assert f"\n[rules]\n# {SHOWN}\n" in out
    assert re.search("^auxiliary +none$", out, re.MULTILINE)
    assert max(map(len, out.split("\n"))) < 2 * MAX_SHOWN_CHARACTERS + 10
    assert run(["info", str(path), "--json"]) == 0
    assert capsys.readouterr().out.isascii()


def test_error_lines_show_names_as_they_are(tmp_path: Path, capsys: Capsys) -> None:
    path = tmp_path / "\x1b[31mmodel\u202e.safetensors"
    path.write_text("no model")
    for command in (["info", str(path)], ["evaluate", str(path), "--against", "random"]):
        assert run(command) == 3
        error = capsys.readouterr().err
        assert error.count("\n") == 1
        assert error.rstrip("\n").isprintable()
        assert r"\x1b[31mmodel\u202e.safetensors" in error


def test_json_has_null_for_numbers_that_are_not_finite(capsys: Capsys) -> None:
    echo_json({"elo": float("-inf"), "rows": [float("nan"), 1.5]})
    assert capsys.readouterr().out == '{"elo": null, "rows": [null, 1.5]}\n'
