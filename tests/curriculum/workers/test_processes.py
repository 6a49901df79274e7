"""Processes that play, and one that evaluates for all of them: the answers of a net, whoever asks, and every end."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from itertools import count
from multiprocessing import Pipe, get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.evaluation import Slot, Ticket
from core.position import Position
from core.rules import Rules
from curriculum.config import Config, SelfplayConfig
from curriculum.games.selfplay_games import SelfPlayGame
from curriculum.phases.jobs import SelfPlayJob
from curriculum.workers import processes
from curriculum.workers.evaluator_process import ClosableEvaluator, open_evaluator, serve
from curriculum.workers.games import Stream
from curriculum.workers.local import Local
from curriculum.workers.processes import ProcessPool, WorkerProcessError
from curriculum.workers.shared_evaluator import Close, EvaluatorEndedError, EvaluatorLink, SharedEvaluator
from nets.checkpoint import CheckpointError, save_model
from nets.config import Backend, NetConfig, Precision
from nets.dual import make_model
from nets.runtimes.runtime import Piece
from nets.runtimes.runtime_evaluator import RuntimeEvaluator
from search.tree.groups import EvaluationError
from search.tree.mcts import ForestSearch, search_all
from search.tree.settings import SearchSettings
from tests.curriculum.workers.conftest import same
from tests.support.evaluators import ScriptedEvaluator
from tests.support.nets import LINES, RULES, model_of, random_batch, slot_of
from tests.support.searches import assert_sound, nodes_of
from tests.support.waiting import is_alive, wait_until

CONFIG = Config(
    rules=Rules(7, 4),
    net=LINES,
    search=SearchSettings(simulations=16, leaves_in_flight=1, visits_per_leaf=1),
    selfplay=SelfplayConfig(concurrent_games=4, balanced_share=0.0, random_share=0.5, rehearsal_share=0.0),
)
PATIENCE_S = 120.0


class Gate:
    """A runtime that notes its batches, and holds the first one until it is opened."""

    backend, precision = Backend.TORCH, Precision.FP32
    lanes = threads = free_cores = 1
    sizes = (4096,)
    any_thread = large_batches = True

    def __init__(self) -> None:
        self.is_open = threading.Event()
        self.is_held = threading.Event()
        self.batches: list[list[int]] = []

    def evaluate(self, net: str, pieces: Sequence[Piece]) -> None:
        self.batches.append([len(piece.rows) for piece in pieces])
        self.is_held.set()
        assert self.is_open.wait(PATIENCE_S)
        for piece in pieces:
            piece.logits[piece.rows] = piece.positions.stones[piece.rows]
            piece.values[piece.rows] = piece.positions.last_moves[piece.rows, 0] / 100.0


class Failing(ScriptedEvaluator):
    """Fails in its third batch: by an error, or by a logit that is no number."""

    def __init__(self, error: Exception | None) -> None:
        super().__init__(CONFIG.rules)
        self.error = error

    def submit(self, slot: Slot) -> Ticket:
        ticket = super().submit(slot)
        if len(self.batches) == 3:
            if self.error is not None:
                raise self.error
            slot.logits[0, :] = np.nan
        return ticket

    def close(self) -> None:
        pass


class Unreadable(Exception):
    """An error that cannot be read in another process."""

    def __init__(self, one: int, two: int) -> None:
        super().__init__("no memory on the device")


@contextmanager
def links(number: int, opener: Any = open_evaluator) -> Iterator[list[EvaluatorLink]]:
    """The ways of some players to an evaluator, which works on a thread of this process."""
    control, pipes = Pipe(), [Pipe() for _ in range(number)]
    arguments = control[1], [there for _, there in pipes], opener
    thread = threading.Thread(target=serve, args=arguments)
    thread.start()
    try:
        yield [EvaluatorLink(here) for here, _ in pipes]
    finally:
        control[0].close()
        thread.join(PATIENCE_S)
        assert not thread.is_alive()


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.safetensors"
    save_model(path, model_of(), {})
    return path


def test_the_answers_are_those_of_an_evaluator_of_this_process_row_by_row(model: Path) -> None:
    with closing(open_evaluator(model, None, True)) as here, links(2) as (one, other):
        shared = [SharedEvaluator(link, model, None, repeatable=True) for link in (one, other)]
        assert {(each.lanes, each.version, each.last_moves) for each in shared} == {
            (here.lanes, here.version, here.last_moves)
        }
        for rows in (1, 65, 300, 64):
            slots = [slot_of(random_batch(rows, seed=seed)) for seed in (1, 2, 3)]
            tickets = [each.submit(slot) for each, slot in zip([*shared, shared[0]], slots, strict=True)]
            for ticket in reversed(tickets):
                ticket.result()
            for seed, slot in enumerate(slots, 1):
                expected = slot_of(random_batch(rows, seed=seed))
                here.submit(expected).result()
                assert np.array_equal(slot.logits, expected.logits)
                assert np.array_equal(slot.values, expected.values)


def test_a_batch_holds_the_rows_of_two_players_who_wait(model: Path) -> None:
    gate = Gate()
    config = NetConfig.tower(4, 1, hidden=8, dual=False)
    evaluator = RuntimeEvaluator(gate, config, RULES.cells, 1, helped=False)
    with links(2, lambda *arguments: evaluator) as both:
        shared = [SharedEvaluator(link, model, None, repeatable=False) for link in both]
        slots = [slot_of(random_batch(rows)) for rows in (5, 30, 70)]
        tickets = [shared[0].submit(slots[0])]
        assert gate.is_held.wait(PATIENCE_S)
        tickets += [each.submit(slot) for each, slot in zip(shared, slots[1:], strict=True)]
        wait_until(lambda: sum(evaluator._batcher._rows.values()) == 100)
        gate.is_open.set()
        for ticket, slot in zip(tickets, slots, strict=True):
            ticket.result()
            assert np.array_equal(slot.logits, slot.positions.stones)
            assert np.allclose(slot.values, slot.positions.last_moves[:, 0] / 100.0)
    assert [sorted(batch) for batch in gate.batches] == [[5], [30, 70]]


@pytest.mark.parametrize(
    ("error", "kind", "text"),
    [
        (None, EvaluationError, "finite"),
        (ValueError("a defect"), ValueError, "a defect"),
        (Unreadable(1, 2), RuntimeError, "Unreadable: no memory on the device"),
    ],
)
def test_a_failed_evaluation_is_raised_by_the_search_and_leaves_nothing_behind(
    model: Path, error: Exception | None, kind: type[Exception], text: str
) -> None:
    with links(1, lambda *arguments: Failing(error)) as (link,):
        evaluator = SharedEvaluator(link, model, None, repeatable=True)
        search = ForestSearch(CONFIG.rules, evaluator, SearchSettings(simulations=100), trees=1)
        with pytest.raises(kind, match=text):
            search_all(search, [Position(CONFIG.rules)], 100)
        search.halt()
        assert not nodes_of(search)["in_flight"].any()
        search_all(search, [Position(CONFIG.rules)], 100)
        assert_sound(search)


def test_an_evaluator_ends_with_its_last_user_and_rooms_are_used_again(model: Path) -> None:
    opened: list[Path] = []
    closed: list[int] = []

    class Noted(Failing):
        def close(self) -> None:
            closed.append(len(self.batches))

    def opener(path: Path, *others: Any) -> ClosableEvaluator:
        opened.append(path)
        return Noted(ValueError("in the third batch"))

    with links(2, opener) as (one, other):
        evaluators = [SharedEvaluator(link, model, None, repeatable=True) for link in (one, other)]
        for each in evaluators:
            each.submit(slot_of(random_batch(1, CONFIG.rules))).result()
        assert opened == [model]
        evaluators.pop().close()
        again = SharedEvaluator(other, model, None, repeatable=False)
        assert (len(opened), closed) == (2, [])
        del each, evaluators[:]
        one.send(Close(SharedEvaluator(one, model, None, repeatable=False)._number))
        wait_until(lambda: closed == [2])
        again.close()


def test_an_error_of_opening_is_raised_here(model: Path) -> None:
    model.write_bytes(b"no model")
    with links(1) as (link,), pytest.raises(CheckpointError, match="model"):
        SharedEvaluator(link, model, None, repeatable=True)


def test_the_end_of_the_evaluator_is_an_error_and_no_hang(model: Path) -> None:
    with links(1, lambda *arguments: Failing(None)) as (link,):
        evaluator = SharedEvaluator(link, model, None, repeatable=True)
    with pytest.raises(EvaluatorEndedError):
        evaluator.submit(slot_of(random_batch(1, CONFIG.rules))).result()


# Processes


@pytest.mark.slow
@pytest.mark.usefixtures("exact_runtime")
def test_the_games_are_those_of_this_process_until_a_player_ends(
    job: SelfPlayJob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here all processes are forks of one that has imported the program; the next tests start them as it does."""
    forks = get_context("forkserver")
    forks.set_forkserver_preload(["curriculum.phases.jobs", "curriculum.workers.processes"])
    monkeypatch.setattr(processes, "get_context", lambda method: forks)
    newer = tmp_path / "newer.safetensors"
    save_model(newer, make_model(CONFIG.net, CONFIG.rules, 2), {})
    with Local().stream(job, range(6)) as stream:
        expected = dict(stream)

    def is_newer(number: int, game: SelfPlayGame) -> bool:
        with Local().stream(replace(job, model=newer), [number]) as stream:
            return same({number: game}, dict(stream))

    with ProcessPool(2, cpus=1) as pool:
        with pool.stream(job, range(6)) as stream:
            assert same(dict(stream), expected)
            assert stream.counts["simulations"] > 0
            assert (stream.workers.count, sum(stream.workers.games_by_node.values())) == (2, 6)
        with pool.stream(job, count(), beside=True) as stream:
            stream.push(newer)
            wait_until(lambda: any(is_newer(*found) for found in stream.take(0.5)[-1:]))
            pool.players[0][0].kill()
            assert_ends(pool, stream, "a process of games ended")


@pytest.mark.slow
def test_the_end_of_the_process_that_evaluates_ends_the_stream_in_one_line(job: SelfPlayJob) -> None:
    with ProcessPool(1, cpus=1) as pool, pool.stream(job, count()) as stream:
        for process, _ in (*pool.players, pool.evaluator):
            for each in (signal.SIGINT, signal.SIGHUP):  # of the terminal, while they import
                os.kill(process.pid, each)
        wait_until(lambda: [stream.take(0.2), stream.counts.get("simulations")][1])
        pool.evaluator[0].kill()
        assert_ends(pool, stream, "the process that evaluates ended")


def assert_ends(pool: ProcessPool, stream: Stream[SelfPlayGame], text: str) -> None:
    """The stream ends with an error for its killed process, and the pool with all of its processes."""
    processes = [process for process, _ in (*pool.players, pool.evaluator)]
    with pytest.raises(WorkerProcessError, match=rf"{text} by itself \(exit code -9\)"):
        wait_until(lambda: [stream.take(0.2), False][1])
    pool.__exit__()
    assert not any(process.is_alive() for process in processes)


_DRIVER = """
import sys
from itertools import count
from tests.curriculum.workers.test_processes import ProcessPool, CONFIG, Path, SelfPlayJob
if __name__ == "__main__":
    with ProcessPool(1, cpus=1) as pool, pool.stream(SelfPlayJob(CONFIG, 0, [], Path(sys.argv[1])), count()) as stream:
        while not stream.counts.get("simulations"):
            stream.take(0.2)
        print(*(process.pid for process, _ in [*pool.players, pool.evaluator]), flush=True)
        while True:
            stream.take(0.2)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="only Linux shows its shared memory")
def test_nothing_outlives_a_killed_main_process(job: SelfPlayJob, tmp_path: Path) -> None:
    before = set(os.listdir("/dev/shm"))
    script = tmp_path / "driver.py"
    script.write_text(_DRIVER)
    environment = {**os.environ, "PYTHONPATH": os.getcwd()}
    command = [sys.executable, str(script), str(job.model)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as driver:
        pids = [int(word) for word in driver.stdout.readline().split()]
        assert len(pids) == 2
        driver.kill()
    wait_until(lambda: not any(is_alive(pid) for pid in pids))
    assert set(os.listdir("/dev/shm")) <= before
