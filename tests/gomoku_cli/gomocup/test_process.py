"""The engine as a process: lines in pieces of any size, its end, and only the protocol on its stdout."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import FailedError
from core.input_limits import MAX_COMMAND_LENGTH
from gomoku_cli.exit_codes import ExitCode
from gomoku_cli.gomocup.lines import LineCutter, LineReader
from gomoku_cli.gomocup.process import Answers, protocol_pipes, serve
from gomoku_cli.gomocup.scheduling import wake_up_early
from tests.support.gomocup import Talk
from tests.support.project import ROOT


@given(st.lists(st.binary(max_size=30).map(lambda line: line.translate(None, b"\r\n"))), st.randoms())
def test_lines_do_not_depend_on_the_pieces_in_which_they_arrive(lines: list[bytes], chance: random.Random) -> None:
    sent = b"".join(line + chance.choice((b"\n", b"\r\n", b"\r")) for line in lines)
    cutter, found = LineCutter(), []
    while sent:
        count = chance.randint(1, 40)
        found += cutter.feed(sent[:count])
        sent = sent[count:]
    found += cutter.finish()
    assert [line for line in found if line] == [line for line in lines if line]


def test_a_line_without_end_takes_no_more_memory_than_a_short_one() -> None:
    cutter = LineCutter()
    for _ in range(1000):
        assert cutter.feed(b"x" * 60_000) == []
        assert len(cutter._rest) == MAX_COMMAND_LENGTH + 1
    assert cutter.feed(b"\nTURN 7,7\n") == [b"x" * (MAX_COMMAND_LENGTH + 1), b"TURN 7,7"]


class Pipes:
    """An engine in this process with real pipes."""

    def __init__(self, talk: Talk) -> None:
        self.left = threading.Event()
        self.input, self.output = os.pipe(), os.pipe()
        self.lines = LineReader(self.input[0], leave=self.left.set)
        self.thread = threading.Thread(target=serve, args=(talk.engine, self.lines, Answers(self.output[1])))
        self.thread.start()

    def send(self, text: str) -> None:
        """Send text in one piece."""
        os.write(self.input[1], text.encode("latin-1"))

    def receive(self) -> str:
        """Return the answers so far."""
        return os.read(self.output[0], 1 << 16).decode("ascii")

    def end(self) -> str:
        """End the input and return the remaining answers."""
        os.close(self.input[1])
        self.thread.join(10)
        assert not self.thread.is_alive()
        os.close(self.output[1])
        rest = b""
        while chunk := os.read(self.output[0], 1 << 16):
            rest += chunk
        for descriptor in (self.input[0], self.output[0]):
            os.close(descriptor)
        return rest.decode("ascii")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_answers_come_at_once_and_end_with_a_line_feed(end: str) -> None:
    pipes = Pipes(Talk())
    for line, answer in (("START 15", "OK"), ("BEGIN", "0,14"), ("TURN 7,7", "1,14"), ("FOO", "UNKNOWN")):
        pipes.send(line + end)
        assert pipes.receive().startswith(answer)
    assert pipes.end() == ""


@pytest.mark.parametrize(
    ("last", "answer"),
    [
        *((last, "0,14") for last in ("BEGIN\n", "BEGIN", "BEGIN\r\n\r\n", "BEGIN\nEND\nBEGIN\n", "BEGIN\nend")),
        ("BOARD\n7,7,2\n", "ERROR BOARD was not ended by DONE"),
    ],
)
def test_lines_sent_with_the_end_are_answered_before_it(last: str, answer: str) -> None:
    pipes = Pipes(Talk())
    pipes.send("START 15\n" + last)
    assert pipes.end() == f"OK\n{answer}\n"


def test_an_end_without_a_line_feed_takes_effect_after_the_answers() -> None:
    talk = Talk()
    pipes = Pipes(talk)
    talk.player.while_thinking = lambda stop: pipes.left.wait(0.3)
    pipes.send("START 15\nBEGIN\nEND")
    assert pipes.end() == "OK\n0,14\n"


def test_an_end_during_a_move_ends_the_process_at_once() -> None:
    talk, thinking = Talk(), threading.Event()
    pipes = Pipes(talk)

    def think(stop: object) -> None:
        thinking.set()
        pipes.left.wait(10)

    talk.player.while_thinking = think
    pipes.send("START 15\nBEGIN\n")
    assert thinking.wait(10)
    assert not pipes.left.is_set()
    pipes.send("END\n")
    assert pipes.left.wait(10)
    assert pipes.lines.over
    pipes.end()


def test_an_engine_stops_when_its_answers_have_no_reader() -> None:
    input_end, send = os.pipe()
    listen, output_end = os.pipe()
    os.close(listen)
    os.write(send, b"START 15\n")
    serve(Talk().engine, LineReader(input_end, leave=lambda: None), Answers(output_end))
    for descriptor in (send, output_end):
        os.close(descriptor)


@pytest.mark.parametrize("name", ["stdin", "stdout"])
def test_a_closed_pipe_is_refused_by_its_name(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, name, None)
    with pytest.raises(FailedError, match=f"{name} is closed"), protocol_pipes():
        pass


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is full")
def test_an_answer_that_cannot_be_written_names_stdout() -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    with pytest.raises(OSError, match="stdout"):
        Answers(full).write("OK")
    os.close(full)


def test_a_request_for_short_slices_changes_neither_priority_nor_policy() -> None:
    found = []

    def look() -> None:
        wake_up_early()
        found.append((os.getpriority(os.PRIO_PROCESS, 0), os.sched_getscheduler(0)))

    before = os.getpriority(os.PRIO_PROCESS, 0), os.sched_getscheduler(0)
    interval = sys.getswitchinterval()
    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    sys.setswitchinterval(interval)
    assert found == [before]


# The command


@contextmanager
def engine(*arguments: str, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    """Start `gomoku engine` with pipes."""
    words = [sys.executable, "-m", "gomoku_cli", "engine", *arguments]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen(words, cwd=ROOT, env=os.environ | environment, bufsize=0, **pipes) as process:
        try:
            yield process
        finally:
            process.kill()


def say(process: subprocess.Popen[bytes], *lines: str) -> None:
    """Send lines in one piece."""
    process.stdin.write("".join(f"{line}\r\n" for line in lines).encode())


def hear(process: subprocess.Popen[bytes]) -> str:
    """Return the next answer, without messages."""
    while (line := process.stdout.readline().decode()).startswith(("MESSAGE ", "DEBUG ")):
        pass
    assert line.endswith("\n")
    return line.removesuffix("\n")


@pytest.mark.slow
def test_a_signal_ends_it_quietly() -> None:
    with engine("--model", "random") as process:
        say(process, "START 15")
        assert hear(process) == "OK"
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=30)  # the end of its input would end it too
        assert process.communicate(timeout=30) == (b"", b"")
        assert process.returncode == ExitCode.INTERRUPTED


@pytest.mark.slow
@pytest.mark.parametrize("model", ["default", "mentor", "pure-mcts:1000000"])
def test_the_move_comes_soon_after_it_is_asked_for(model: str) -> None:
    """It takes 0.2 s at most on a quiet machine. Others may work here, and a move has a minute: a third is soon."""
    with engine("--model", model, GOMOKU_BACKEND="auto") as process:
        say(process, "START 15 15", "INFO timeout_turn 60000", "INFO pondering 1")
        assert hear(process) == "OK"
        free = ["3,3", "3,4", "3,5", "3,6"]
        for number, request in enumerate(("YXSTOP", "INFO timeout_turn 0", "YXSTOP")):
            say(process, "INFO timeout_turn 60000", f"TURN {free.pop(0)}" if number else "BEGIN")
            time.sleep(0.2)
            asked = time.monotonic()
            say(process, request)
            answer = hear(process)
            assert answer[0].isdigit(), answer
            assert time.monotonic() - asked < 20.0
            free = [cell for cell in free if cell != answer]
        say(process, "YXBOARD", "7,7,2", "7,8,1", "8,8,2", "DONE", "INFO timeout_turn 60000", "YXNBEST 3")
        time.sleep(0.2)
        asked = time.monotonic()
        say(process, "YXSTOP")
        assert hear(process)[0].isdigit()
        assert time.monotonic() - asked < 20.0
        say(process, "END")
        assert process.wait(30) == ExitCode.DONE


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the memory of a process from /proc")
def test_it_stays_within_the_memory_of_a_tournament() -> None:
    pytest.importorskip("openvino")
    limit = 350_000_000
    with engine("--model", "default", GOMOKU_BACKEND="auto") as process:
        say(process, "START 15", f"INFO max_memory {limit}", "INFO timeout_turn 500", "BEGIN")
        assert hear(process) == "OK"
        for point in ("0,0", "14,0"):
            hear(process)
            say(process, f"TURN {point}")
        hear(process)
        status = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
        max_kb = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
        say(process, "END")
        assert process.wait(30) == ExitCode.DONE
        assert max_kb * 1024 <= limit
