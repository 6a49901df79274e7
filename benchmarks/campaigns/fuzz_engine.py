"""Lines of a manager for the Gomocup engine, half of them sensible.

They go through the protocol in this process with a player that costs nothing, and some scripts through a process with
pipes. Every line must get the answers of the protocol and no others, and the process must end by itself.
"""

import re
import subprocess
import sys
from collections.abc import Iterator, Sequence

from hypothesis import strategies as st

from core.input_limits import MAX_COMMAND_LENGTH
from gomoku_cli.exit_codes import ExitCode
from gomoku_cli.gomocup.commands import Engine
from tests.support.gomocup import FirstCellPlayer, OnePlayer
from tests.support.project import ROOT

_HANG_S = 60.0
_ANSWER = re.compile(r"OK|SWAP|ERROR .+|UNKNOWN .+|MESSAGE .+|name=.+|\d+,\d+( \d+,\d+){0,2}")
_COMMANDS = ["BOARD", "SWAP2BOARD", "START", "RECTSTART", "RESTART", "BEGIN", "TURN", "TAKEBACK", "PLAY", "ABOUT"]
_KEYS = ("timeout_turn", "timeout_match", "time_left", "max_memory", "max_node", "rule", "game_type", "folder", "none")
_VALUES = ("0", "-1", "1000", "2147483647", "9" * 19, "x", "", "1.5", str(-(10**18)))


def as_read(lines: Sequence[str]) -> list[str]:
    """Return lines as the engine reads them."""
    return [line.strip()[: MAX_COMMAND_LENGTH + 1] for line in lines]


def answers_due(lines: Sequence[str]) -> Iterator[int]:
    """Yield the number of answers due to each line, without MESSAGE.

    None are due to INFO and blank lines, one to a command once it is complete.
    """
    in_board = False
    for line in lines:
        name = (line.split() or [""])[0].upper()
        broken_off, is_refused = in_board, len(line) > MAX_COMMAND_LENGTH
        if name in ("", "INFO"):
            yield 0
        elif name in ("BOARD", "SWAP2BOARD") and not is_refused:
            in_board = "DONE" not in line.upper().split()[1:]  # a whole block may stand in one line
            yield int(broken_off) + (not in_board)
        elif name == "DONE":
            in_board = broken_off and is_refused
            yield 1
        elif name in _COMMANDS:
            in_board = False
            yield 1 + broken_off
        else:
            yield int(not broken_off)


def check_answers(line: str, answers: Sequence[str], due: int) -> None:
    """Raise `AssertionError` unless these are the answers due to a line."""
    counted = [answer for answer in answers if not answer.startswith("MESSAGE ")]
    assert len(counted) == due, f"{line[:300]!r} got {len(counted)} answers instead of {due}: {counted}"
    for answer in answers:
        assert _ANSWER.fullmatch(answer) and answer.isprintable(), f"{line[:300]!r} got {answer!r}, which is no answer"


@st.composite
def scripts(draw: st.DrawFn) -> list[str]:
    """Lines of a broken manager: commands, parts of games, and noise; none is END or holds the end of a line."""
    cells = st.one_of(st.integers(0, 14), st.integers(-2, 30))
    point = st.builds("{},{}".format, cells, cells)
    stone = st.builds("{},{}".format, point, st.sampled_from("1212120x"))
    size = st.sampled_from(("5", "6", "15", "20", "x"))
    near = st.builds(
        lambda line, at, what: line[:at] + what + line[at:],
        st.sampled_from(("START 15", "TURN 7,7", "BOARD", "DONE", "INFO rule 1", "TAKEBACK 1,1", "7,7,1")),
        st.integers(0, 8),
        st.sampled_from(("", " ", ",", "-", "\t", "9", "\x00", "x", "\xe9")),
    )
    line = st.one_of(
        st.builds("TURN {}".format, point),
        st.builds("TURN {}".format, point),
        st.builds("{} {}".format, st.sampled_from(("START", "TAKEBACK", "PLAY")), st.one_of(point, size)),
        st.builds("RECTSTART {0},{0}".format, size),
        st.sampled_from(("RESTART", "BEGIN", "BOARD", "SWAP2BOARD", "DONE", "ABOUT")),
        st.one_of(stone, point),
        st.builds("INFO {} {}".format, st.sampled_from(_KEYS), st.sampled_from(_VALUES)),
        near,
        st.text(st.characters(max_codepoint=255, exclude_characters="\r\n"), max_size=40),
        st.builds(lambda a, b, n: a + b * n, near, st.sampled_from((" ", "x", "7,")), st.sampled_from((500, 9_000))),
    )
    board = st.lists(stone, max_size=9).map(lambda stones: ["BOARD", *stones, "DONE"])
    parts = draw(st.lists(st.one_of(line.map(lambda one: [one]), line.map(lambda one: [one]), board), max_size=40))
    lines = ["START 15", *(each for part in parts for each in part)]
    return ["" if (one.split() or [""])[0].upper() == "END" else one for one in lines]


def through_the_protocol(lines: Sequence[str]) -> str:
    """Send lines to an engine in this process. Raises `AssertionError`."""
    engine, lines = Engine(OnePlayer(FirstCellPlayer()), about='name="gomoku"'), as_read(lines)
    for line, due in zip(lines, answers_due(lines), strict=True):
        check_answers(line, list(engine.answer(line)), due)
    return "in this process"


def through_pipes(lines: Sequence[str]) -> str:
    """Send lines to an engine in a process of its own, as fast as it takes them. Raises `AssertionError`.

    A process that does not end raises `TimeoutExpired`.
    """
    sent = "".join(line + ("\n", "\r\n")[number % 2] for number, line in enumerate(lines)).encode("latin-1")
    command = [sys.executable, "-m", "gomoku_cli", "engine", "--model", "random"]
    ended = subprocess.run(command, cwd=ROOT, input=sent, capture_output=True, timeout=_HANG_S)
    assert ended.returncode == ExitCode.DONE and not ended.stderr, (ended.returncode, ended.stderr)
    due = sum(answers_due([*as_read(lines), "ABOUT"])) - 1  # the end of the input breaks off a board
    check_answers("the whole script", ended.stdout.decode("latin-1").splitlines(), due)
    return "through pipes"
