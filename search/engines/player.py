"""Players that are Gomocup engines: each is a program of its own, and nothing it writes is trusted.

The protocol: https://plastovicka.github.io/protocl2en.htm
"""

import re
import shlex
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import NamedTuple

from core.input_limits import quoted
from core.notation import NotationError, parse_point, point_name
from core.opening_rules import Choice, Opening, OpeningRule
from core.position import Position
from core.rules import Cell, Rules, Variant
from search.engines.process import EngineProcess, Kind, ProgramEndedError
from search.limit import Limit
from search.opening_choice import drawn_stones
from search.players import Decision, ForfeitError, Player, Stop, never

GRACE_S = 0.1
"""Delay after its limit at which an answer still counts, for the pipe and a busy machine."""

DEFAULT_MEMORY_BYTES = 350_000_000
"""The limit of the Gomocup tournament."""
MEMORY_SLACK = 2
"""An engine counts its tables; the limit that ends it leaves as much again for its program."""

_UNLIMITED_MS = 2_147_483_647
"""The protocol's number for a time without a limit."""
_OPPONENT_IS_AN_ENGINE = 1
_RULES = {Variant.FREESTYLE: 0, Variant.STANDARD: 1, Variant.RENJU: 4, Variant.CARO: 8, Variant.CARO_EXACT: 9}
_CONNECT = 5
_POINT = re.compile(r"\s*-?[0-9]+\s*,")
"""The beginning of an answer that is meant as a move."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineLimits:
    """Limits of an engine's time and memory."""

    turn_seconds: float = 1.0
    """Time for each move; an answer later than that and `GRACE_S` loses."""
    match_seconds: float | None = None
    """Time for all its moves of a game and for its start; None sets no limit."""
    memory_bytes: int = DEFAULT_MEMORY_BYTES
    """The engine is told this number. Where the system shows its memory (Linux), it is ended at `MEMORY_SLACK` times as
    much, with all that it has started."""
    start_seconds: float = 30.0
    """Time to answer START, in which an engine loads what it needs."""


class EnginePlayer(Player):
    """A program that speaks the protocol.

    `start_game` starts a process for one game. `choose` and `choose_batch` use one process for each calling thread; a
    position that does not continue its game is set up anew there. Seeds have no effect. The player's name is its
    command: the program gets no ABOUT, since some engines never answer it, and a late answer would pass for a move.
    """

    starts_games = True

    def __init__(self, command: Sequence[str], rules: Rules, limits: EngineLimits) -> None:
        """`command`: the program and its arguments. Raises `ValueError` for rules that the protocol lacks."""
        if rules.connect != _CONNECT:
            raise ValueError(f"engines play {_CONNECT} in a row, not {rules}")
        self.name = shlex.join(command)
        self._command = tuple(command)
        self._rules = rules
        self._limits = limits
        self._games: dict[int, _EngineGame] = {}
        """By thread."""
        weakref.finalize(self, _close_all, self._games)

    def choose_batch(
        self, positions: Sequence[Position], *, seeds: Sequence[int], limit: Limit | None = None, stop: Stop = never
    ) -> list[Decision]:
        """See `Player`; one position after the other. The seconds of `limit` replace the time for each move.

        An engine does not report its best move so far. So `stop` ends its process, and the first empty cell takes the
        place of its move. `stop` has no effect while the engine starts. Raises `ForfeitError`, and `ValueError` for a
        limit of nodes or depth, for which the protocol has no words.
        """
        decisions = []
        for position in positions:
            thread = threading.get_ident()
            game = self._games.get(thread)
            if game is None or game.is_out:
                if game is not None:
                    game.close()
                game = self._games[thread] = self._new_game()
            try:
                decisions += game.choose_batch([position], seeds=[0], limit=limit, stop=stop)
            except ForfeitError as error:  # the caller has no table of games that names the engine
                raise ForfeitError(f"{self.name}: {error}", on_time=error.on_time) from error
        return decisions

    @contextmanager
    def start_game(self) -> Iterator[Player]:
        """See `Player`. The engine starts here; if that fails, the first `choose_batch` raises the error."""
        game = self._new_game()
        try:
            yield game
        finally:
            game.close()

    def close(self) -> None:
        """End the processes kept by `choose_batch`; they also end with the player and with this process."""
        _close_all(self._games)

    def _new_game(self) -> "_EngineGame":
        return _EngineGame(self.name, self._command, self._rules, self._limits)


class _Answer(NamedTuple):
    text: str
    seconds: float


class _EngineGame(Player):
    """A game with the engine. It is a `Player` of one position at a time."""

    def __init__(self, name: str, command: Sequence[str], rules: Rules, limits: EngineLimits) -> None:
        self.name = name
        self._rules = rules
        self._limits = limits
        self._turn_s = limits.turn_seconds
        """The time for a move that the engine knows."""
        self._used_s = 0.0
        """Time of the match that is spent."""
        self._known: list[Cell] = []
        """The moves on the engine's board."""
        self._placed: tuple[Cell, ...] = ()
        """Two stones of an opening that the engine has answered together with its choice."""
        self._process: EngineProcess | None = None
        self._over: ForfeitError | None = None
        """The reason why it is out of the game."""
        with suppress(ForfeitError), self._ending():
            self._start(command)

    @property
    def is_out(self) -> bool:
        """True if the engine answers no more."""
        return self._over is not None

    def choose_batch(
        self, positions: Sequence[Position], *, seeds: Sequence[int], limit: Limit | None = None, stop: Stop = never
    ) -> list[Decision]:
        """See `EnginePlayer.choose_batch`."""
        (position,) = positions
        turn_s = self._limits.turn_seconds
        if limit is not None:
            if limit.seconds is None or limit.nodes is not None or limit.depth is not None:
                raise ValueError(f"an engine's limit is a time alone, not {limit}")
            turn_s = limit.seconds
        if self._over is not None:
            raise self._over
        if stop():
            return [_no_decision(position)]
        with self._ending():
            return [self._decide(position, turn_s, stop)]

    def choose_opening(
        self, position: Position, opening: Opening, *, seed: int, limit: Limit | None = None, stop: Stop = never
    ) -> Choice | tuple[Cell, ...]:
        """See `Player`: the answer to SWAP2BOARD. By a rule without them, two stones more are a choice of White.

        Programs know no rule of where the first stones stand: there they are drawn.
        """
        if self._over is not None:
            raise self._over
        size, options, placed = self._rules.size, opening.options(position.ply), self._placed
        if opening.rule is OpeningRule.RIF and not options:
            return drawn_stones(position, opening, seed)
        if placed and not options:
            self._placed = ()
            return placed
        stones = [point_name(move, size) for move in position.moves]
        with self._ending():
            answer = self._ask(["SWAP2BOARD", *stones, "DONE"], position, self._limits.turn_seconds, stop)
            if answer is None:
                return Choice.WHITE if options else tuple(position.legal_moves()[: opening.stones])
            after = position.copy()
            for word in answer.text.split() if _first_word(answer.text) != "SWAP" else ():
                after.push(self._read_move(word, after))
            placed = tuple(after.moves[position.ply :])
            if not options and len(placed) != opening.stones - position.ply:
                raise ForfeitError(f"it answered SWAP2BOARD with {quoted(answer.text)}")
        if not options:
            return placed
        self._placed, self._known = placed if len(placed) == 2 else (), []
        if not placed:
            return Choice.BLACK
        return Choice.MORE if len(placed) == 2 and Choice.MORE in options else Choice.WHITE

    @contextmanager
    def _ending(self) -> Iterator[None]:
        """End the engine on an error, which puts it out of the game."""
        try:
            yield
        except ForfeitError as error:
            self._over = error
            self._end(None)
            raise
        except BaseException:
            self._over = ForfeitError("its search was interrupted, and it was ended")
            self._end(None)
            raise

    def close(self) -> None:
        """Ask the engine to end, and end it."""
        self._over = self._over or ForfeitError("its game is over")
        self._end("END")

    def _end(self, farewell: str | None) -> None:
        if self._process is not None:
            self._process.close(farewell)

    def _start(self, command: Sequence[str]) -> None:
        limits, size = self._limits, self._rules.size
        try:
            process = self._process = EngineProcess(command, _kind_of, max_bytes=MEMORY_SLACK * limits.memory_bytes)
        except OSError as error:
            raise ForfeitError(f"it could not be started: {error.strerror}") from error
        complaint, failure = "", f"no answer to START {size}"
        try:
            process.send([f"START {size}"])
            deadline = process.started_at + limits.start_seconds
            while True:
                line = process.next_line(deadline, never)
                if line is None:
                    raise ForfeitError(f"{failure} within {limits.start_seconds:g} s{complaint}", on_time=True)
                word = _first_word(line.text)
                if word in ("ERROR", "UNKNOWN"):
                    raise ForfeitError(f"it answered START {size} with {quoted(line.text)}")
                if word.startswith("OK"):  # anything else it writes is no answer
                    break
                complaint = f"; it said {quoted(line.text)}"
            failure = "no move"
            self._used_s = line.at - process.started_at
            process.send(
                [
                    f"INFO timeout_turn {_milliseconds(limits.turn_seconds)}",
                    f"INFO timeout_match {_milliseconds(limits.match_seconds or 0)}",
                    f"INFO max_memory {limits.memory_bytes}",
                    f"INFO game_type {_OPPONENT_IS_AN_ENGINE}",
                    f"INFO rule {_RULES[self._rules.variant]}",
                    f"INFO folder {process.folder}",
                    *([] if limits.match_seconds else [f"INFO time_left {_UNLIMITED_MS}"]),
                ]
            )
        except ProgramEndedError as error:
            raise ForfeitError(f"{failure}: {error}") from error

    def _decide(self, position: Position, turn_s: float, stop: Stop) -> Decision:
        answer = self._ask(self._request(position), position, turn_s, stop)
        if answer is None:
            return _no_decision(position)
        move = self._read_move(answer.text, position)
        self._known = [*position.moves, move]
        return Decision(move, seconds=answer.seconds)

    def _ask(self, request: list[str], position: Position, turn_s: float, stop: Stop) -> "_Answer | None":
        """Return the answer to a request of moves on `position`; None once stopped. Raises `ForfeitError`."""
        assert self._process is not None, "an engine without a process is out of the game"
        failure = "no answer to SWAP2BOARD" if request[0] == "SWAP2BOARD" else "no move"
        limit_s = turn_s
        if self._limits.match_seconds is not None:
            left_s = self._limits.match_seconds - self._used_s
            limit_s = min(limit_s, left_s)
            request = [f"INFO time_left {_milliseconds(left_s)}", *request]
        if turn_s != self._turn_s:
            self._turn_s = turn_s
            request = [f"INFO timeout_turn {_milliseconds(turn_s)}", *request]
        complaint = ""
        has_suggested = False
        try:
            self._process.forget_lines()
            sent_at = self._process.send(request)
            deadline = sent_at + limit_s + GRACE_S
            while True:
                line = self._process.next_line(deadline, stop)
                if line is None and stop():
                    self._over = ForfeitError("its search was stopped, and it was ended")
                    self._end(None)
                    return None
                if line is None or line.at > deadline:
                    whose = "" if limit_s == turn_s else " that were left of its game"
                    within = f"within the {max(limit_s, 0.0):.3g} s{whose}"
                    raise ForfeitError(f"{failure} {within}{complaint}", on_time=True)
                word = _first_word(line.text)
                if word == "SUGGEST" and not has_suggested:  # one that keeps suggesting would fill its own pipe
                    has_suggested = True
                    move = self._read_move(line.text[len(word) :], position)
                    self._process.send([f"PLAY {point_name(move, self._rules.size)}"])
                elif word == "ERROR":
                    raise ForfeitError(f"it answered {quoted(line.text)} instead of a move")
                elif _POINT.match(line.text) or word == "SWAP":
                    break
                elif word != "OK":  # a remark, or UNKNOWN to an INFO: the clock runs on
                    complaint = f"; it said {quoted(line.text)}"
        except ProgramEndedError as error:
            raise ForfeitError(f"{failure}: {error}") from error
        seconds = line.at - sent_at
        self._used_s += seconds
        return _Answer(line.text, seconds)

    def _request(self, position: Position) -> list[str]:
        """Return the lines that request a move on `position`."""
        size = self._rules.size
        if not position.moves:
            return ["RESTART", "BEGIN"] if self._known else ["BEGIN"]
        if position.moves[:-1] == self._known:
            return [f"TURN {point_name(position.moves[-1], size)}"]
        stones = []
        for ply, move in enumerate(position.moves):
            own = (position.ply - ply) % 2 == 0
            stones.append(f"{point_name(move, size)},{1 if own else 2}")
        return ["BOARD", *stones, "DONE"]

    def _read_move(self, text: str, position: Position) -> Cell:
        try:
            move = parse_point(text, self._rules.size)
        except NotationError as error:
            raise ForfeitError(f"no move: {error}") from error
        if not position.is_legal(move):
            foul = position.foul(move)
            why = "already holds a stone" if foul is None else f"is forbidden, {position.foul_text(foul)}"
            raise ForfeitError(f"an illegal move: {quoted(text)} {why}")
        return move


def _close_all(games: dict[int, _EngineGame]) -> None:
    while games:
        games.popitem()[1].close()


def _no_decision(position: Position) -> Decision:
    return Decision(position.legal_moves()[0])


def _kind_of(text: str) -> Kind:
    word = _first_word(text)
    if word.startswith(("MESSAGE", "DEBUG")):
        return Kind.TALK
    if word == "ERROR":
        return Kind.ERROR
    is_answer = _POINT.match(text) or word in ("SUGGEST", "SWAP") or word.startswith("OK")
    return Kind.ANSWER if is_answer else Kind.OTHER


def _first_word(text: str) -> str:
    return text.split(maxsplit=1)[0].upper()


def _milliseconds(seconds: float) -> int:
    return round(min(1000 * seconds, _UNLIMITED_MS))
