"""The handle over any player: moves, analyses that are read while they run, pondering, and their errors."""

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from core.position import Position
from core.rules import Rules
from search.analysis import Analysis, MoveAnalysis
from search.engine import Engine, NoAnalysisError
from search.limit import Limit
from search.mentor.player import Mentor
from search.players import PLAIN, Decision, ForfeitError, How, Player, RandomPlayer, Searched
from search.tree.player import MctsPlayer
from search.tree.settings import SearchSettings
from tests.support.commands import python
from tests.support.evaluators import ScriptedEvaluator
from tests.support.players import OneByOne
from tests.support.waiting import wait_until

RULES = Rules(9, 5)
ENDLESS = Limit(seconds=math.inf)
PATIENCE_S = 60.0


def view(nodes: int) -> Analysis:
    return Analysis(moves=(MoveAnalysis(0, 0.25),), value=0.25, variation=(0,), nodes=nodes, seconds=0.0)


class Searcher(OneByOne):
    """Searches until its nodes are done or it is stopped; reports each node, and then waits for a reader."""

    name = "searcher"
    limit = Limit(nodes=3)

    def __init__(self, fault: Exception | None = None) -> None:
        self.fault = fault
        self.done = 0
        self.log: list[str] = []
        self.threads: set[int] = set()
        self.positions: list[Position] = []

    def run(self, word: str, position: Position, stop: Callable[[], bool], nodes: float) -> int:
        self.log.append(word)
        self.threads.add(threading.get_ident())
        self.positions.append(position)
        self.done = 0
        began = time.monotonic()
        while self.done < nodes and not stop():
            assert time.monotonic() - began < PATIENCE_S, "nobody stopped the search"
            self.done += 1
            time.sleep(0.001)
        self.log.append(f"{word} ends")
        if self.fault is not None:
            raise self.fault
        return self.done

    def search(self, position: Position, limit: Limit | None = None, how: How = PLAIN) -> Searched:
        seed, stop, report, _ = how
        seen = 0

        def stops() -> bool:
            nonlocal seen
            seen += 1
            if report is not None:
                report(view(seen))
                report(Decision(position.legal_moves()[-1], simulations=seen))
            return stop()

        word = "analyse" if seed is None else "play"
        nodes = self.run(word, position, stops, (limit or self.limit).nodes or math.inf)
        return Decision(position.legal_moves()[seed or 0], simulations=nodes), view(1000 + nodes)

    def decide(self, position: Position, seed: int, stop: Callable[[], bool]) -> Decision:
        raise NotImplementedError

    def ponder(self, position: Position, stop: Callable[[], bool]) -> None:
        self.run("ponder", position, stop, math.inf)


@pytest.fixture
def position() -> Position:
    return Position.from_moves(RULES, ["e5", "d6", "f6", "e7"])


def test_it_plays_on_a_thread_of_its_own(position: Position) -> None:
    player = Searcher()
    with Engine(player) as engine:
        assert (engine.name, engine.limit, engine.can_analyse) == ("searcher", Limit(nodes=3), True)
        assert engine.play(position).simulations == 3
        decision = engine.play(position, Limit(nodes=5), seed=2)
        assert (decision.simulations, decision.move) == (5, position.legal_moves()[2])
    assert threading.get_ident() not in player.threads
    assert player.positions[0] is not position
    assert player.positions[0].moves == position.moves


def test_an_analysis_gives_its_views_and_the_final_one_last(position: Position) -> None:
    with Engine(Searcher()) as engine, engine.analysis(position, Limit(nodes=40)) as analysis:
        nodes = [info.nodes for info in analysis]
        assert nodes[-1] == 1040
        assert len(nodes) > 2
        assert nodes == sorted(nodes)
        assert list(analysis) == []
        assert analysis.wait().nodes == 1040


def test_the_best_move_so_far_needs_no_wait(position: Position) -> None:
    with Engine(Searcher()) as engine, engine.start(position, ENDLESS) as move:
        while move.best is None:
            assert not move.has_ended(0.001)
        assert move.best.move == position.legal_moves()[-1]
        assert move.view is not None
        move.stop()
        assert move.has_ended(PATIENCE_S)
        assert move.wait() == move.best
        assert move.best.move == position.legal_moves()[0]
        assert move.view.nodes >= 1000, "the final one"


def test_a_reader_that_is_slower_gets_the_newest_view(position: Position) -> None:
    player = Searcher()
    with Engine(player) as engine, engine.analysis(position, ENDLESS) as analysis:
        first = next(analysis)
        wait_until(lambda: player.done > first.nodes + 6)
        assert next(analysis).nodes > first.nodes + 5


def test_an_analysis_is_stopped_while_it_is_read(position: Position) -> None:
    with Engine(Searcher()) as engine, engine.analysis(position, ENDLESS) as analysis:
        seen = []
        for info in analysis:
            seen.append(info.nodes)
            analysis.stop()
        assert seen[-1] >= 1000, "the final one comes last"


def test_leaving_the_block_stops_the_search_and_waits(position: Position) -> None:
    player = Searcher()
    with Engine(player) as engine:
        with engine.analysis(position, ENDLESS) as analysis:
            for _ in analysis:
                break
        assert player.log == ["analyse", "analyse ends"]
        assert analysis.wait().nodes >= 1000
        with pytest.raises(KeyError), engine.analysis(position, ENDLESS):
            raise KeyError
        assert player.log == ["analyse", "analyse ends"] * 2


def test_two_analyses_in_a_row_are_one_at_a_time(position: Position) -> None:
    player = Searcher()
    with Engine(player) as engine:
        first = engine.analysis(position, ENDLESS)
        position.push("a1")
        second = engine.analysis(position, ENDLESS)
        assert player.log[:2] == ["analyse", "analyse ends"]
        assert first.wait().nodes >= 1000
        assert next(second).nodes < 1000
    assert second.wait().nodes >= 1000, "closing the engine ends it"
    assert [len(each.moves) for each in player.positions] == [4, 5]


def test_pondering_goes_on_until_the_next_call(position: Position) -> None:
    player = Searcher()
    with Engine(player) as engine:
        engine.ponder(position)
        engine.play(position)
        engine.ponder(position)
        engine.ponder(position)
        engine.analysis(position).wait()
        engine.ponder(position)
    words = ["ponder", "play", "ponder", "ponder", "analyse", "ponder"]
    assert player.log == [each for word in words for each in (word, f"{word} ends")]


def test_a_call_of_another_thread_ends_a_move(position: Position) -> None:
    player, moves = Searcher(), []
    with Engine(player) as engine:
        thread = threading.Thread(target=lambda: moves.append(engine.play(position, ENDLESS)))
        thread.start()
        wait_until(lambda: player.log)
        assert engine.play(position).simulations == 3
        thread.join(PATIENCE_S)
    assert len(moves) == 1, "the best move so far"
    assert player.log == ["play", "play ends"] * 2


def test_errors_of_the_search_are_raised_in_the_caller(position: Position) -> None:
    player = Searcher(OSError("broken"))
    with Engine(player) as engine:
        with pytest.raises(OSError, match="broken"):
            engine.play(position)
        with pytest.raises(OSError, match="broken"):
            for _ in engine.analysis(position):
                pass
        with pytest.raises(OSError, match="broken"):
            engine.analysis(position).wait()
        with pytest.raises(OSError, match="broken"), engine.analysis(position, ENDLESS):
            pass
        with pytest.raises(KeyError), engine.analysis(position, ENDLESS):
            raise KeyError  # an error of the block counts first
        pondering = engine.ponder(position)
        pondering.stop()
        with pytest.raises(OSError, match="broken"):
            pondering.wait()
        player.fault = None
        assert engine.play(position).simulations == 3, "a failed engine plays on"


def test_an_interruption_of_the_caller_ends_its_search(position: Position, monkeypatch: pytest.MonkeyPatch) -> None:
    player, calls = Searcher(), []

    def interrupted(futures: object) -> None:
        calls.append(futures)
        if len(calls) == 1:
            raise KeyboardInterrupt
        wait_until(lambda: player.log == ["play", "play ends"])

    with Engine(player) as engine:
        monkeypatch.setattr("search.running.wait", interrupted)
        with pytest.raises(KeyboardInterrupt):
            engine.play(position, ENDLESS)
        assert player.log == ["play", "play ends"]


def test_a_player_without_a_search_has_no_analysis(position: Position) -> None:
    with Engine(RandomPlayer()) as engine:
        assert (engine.can_analyse, engine.limit) == (False, None)
        with pytest.raises(NoAnalysisError, match="random tells no more than its move"):
            engine.analysis(position)
        assert engine.ponder(position).has_ended(PATIENCE_S), "it cannot, which costs nothing"
        move = engine.start(position, seed=3)
        assert list(move) == []
        assert position.is_legal(move.wait().move)


def test_the_end_of_a_game_and_a_closed_engine_are_refused() -> None:
    over = Position.from_moves(Rules(3, 3), ["a1", "a2", "b1", "b2", "c1"])
    engine = Engine(Searcher())
    for call in (engine.play, engine.analysis, engine.ponder):
        with pytest.raises(ValueError, match="the game is over"):
            call(over)
    engine.close()
    engine.close()
    with pytest.raises(ValueError, match="searcher is closed"):
        engine.play(Position())


class Program(OneByOne):
    """Has a state for each game; stands for an engine process."""

    name = "program"
    starts_games = True

    def __init__(self) -> None:
        self.log: list[str] = []
        self.fails = False
        self.waits = False

    @contextmanager
    def start_game(self) -> Iterator[Player]:
        self.log.append("start")
        yield self
        self.log.append("end")

    def decide(self, position: Position, seed: int, stop: Callable[[], bool]) -> Decision:
        if self.fails:
            raise ForfeitError("it crashed")
        self.log.append(f"move {position.ply}")
        wait_until(lambda: not self.waits or stop())
        return Decision(position.legal_moves()[0])


def test_a_program_plays_within_a_game() -> None:
    program, position = Program(), Position(RULES)
    with Engine(program) as engine:
        for _ in range(2):
            position.push(engine.play(position).move)
            position.push("i9" if position.ply == 1 else "i8")
        for _ in range(3):
            position.pop()
        engine.play(position)  # moves were taken back
        engine.play(Position.from_moves(RULES, ["a2"]))
        engine.play(position)
        program.fails = True
        with pytest.raises(ForfeitError, match="program: it crashed"):
            engine.play(position)
        program.fails = False
        engine.play(position)
    games = "start, move 0, move 2, move 1, end, start, move 1, end, start, move 1, end, start, move 1, end"
    assert ", ".join(program.log) == games


def test_a_program_is_started_before_its_first_move() -> None:
    program, position = Program(), Position.from_moves(RULES, ["e5", "d6"])
    with Engine(program) as engine:
        engine.prepare(RULES).wait()
        engine.play(position)
    assert program.log == ["start", "move 1", "move 2", "end"]


def test_a_program_that_was_stopped_begins_a_new_game() -> None:
    program, position = Program(), Position(RULES)
    with Engine(program) as engine:
        program.waits = True
        thread = threading.Thread(target=lambda: engine.play(position))
        thread.start()
        wait_until(lambda: "move 0" in program.log)
        engine.close()
        thread.join(PATIENCE_S)
    assert program.log == ["start", "move 0", "end"]


def test_the_mentor_streams_about_ten_views_a_second_and_stops_soon(position: Position) -> None:
    with Engine(Mentor(threads=1)) as engine:
        engine.play(position)  # compiled
        started, times = time.monotonic(), []
        with engine.analysis(position, ENDLESS) as analysis:
            for info in analysis:
                times.append(time.monotonic() - started)
                assert info.best_move == info.variation[0]
                assert -1 <= info.value <= 1
                assert info.depth is not None
                if len(times) == 4:
                    break
        assert 0.3 < times[-1] < 10
        assert analysis.wait().nodes >= info.nodes


def test_a_limit_that_the_player_does_not_know_is_an_error(position: Position) -> None:
    player = MctsPlayer(ScriptedEvaluator(RULES), RULES, SearchSettings(simulations=20))
    with Engine(player) as engine:
        with pytest.raises(ValueError, match="no depth"):
            engine.analysis(position, Limit(depth=3)).wait()
        assert engine.analysis(position).wait().nodes == 20


def test_a_tree_search_goes_on_where_it_has_pondered(position: Position) -> None:
    evaluator = ScriptedEvaluator(RULES)
    player = MctsPlayer(evaluator, RULES, SearchSettings(simulations=50), max_bytes=50_000_000)
    with Engine(player) as engine:
        assert engine.play(position).simulations == 50  # compiled
        played = sum(evaluator.batches)
        engine.ponder(position)
        wait_until(lambda: sum(evaluator.batches) > played + 100)
        assert engine.play(position).simulations > 50


def test_a_program_that_ends_waits_for_no_search() -> None:
    code = (
        "import math\n"
        "from core.position import Position\nfrom core.rules import Rules\nfrom search.engine import Engine\n"
        "from search.limit import Limit\nfrom search.mentor.player import Mentor\n"
        "position = Position.from_moves(Rules(9, 5), ['e5', 'd6', 'f6', 'e7'])\n"
        "pondering = Engine(Mentor())\npondering.ponder(position)\n"
        "analysis = Engine(Mentor()).analysis(position, Limit(seconds=math.inf))\nnext(analysis)\nprint('done')\n"
    )
    ended = python(code)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "done\n", "")


def test_a_forked_process_uses_an_engine_of_its_parent() -> None:
    code = (
        "import os, signal, sys\nimport gomoku_cli as gomoku\n"
        "position, limit, engine = gomoku.Position(), gomoku.Limit(nodes=50), gomoku.open_engine('default')\n"
        "move = engine.play(position, limit).move\n"
        "if not (child := os.fork()):\n    signal.alarm(100)\n    os._exit(engine.play(position, limit).move != move)\n"
        "sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    ended = python(code)
    assert ended.returncode == 0, ended.stderr  # Python 3.12 warns of every fork beside threads
