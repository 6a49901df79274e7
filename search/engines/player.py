"""Engines of the Gomocup protocol as players: programs of their own, trusted in nothing.

The protocol: https://plastovicka.github.io/protocl2en.htm
"""

import re
import shlex
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from core.notation import NotationError, parse_point, point_name
from core.position import Position
from core.rules import Cell, Rules
from search.engines.process import EngineProcess, ProgramEndedError
from search.limits import Limit
from search.players import Decision, ForfeitError, Player, never

GRACE_S = 0.1
"""How much later than its limit an answer may be read: what the pipe and a busy machine may take of its time."""

_UNLIMITED_MS = 2_147_483_647
"""Time left in a match without a limit, as the protocol writes it."""
_OPPONENT_IS_AN_ENGINE = 1
_FREESTYLE = 0
_CONNECT = 5
_POINT = re.compile(r"\s*-?[0-9]+\s*,")
"""How an answer begins that is meant as a move."""
_MAX_QUOTED = 60
"""Characters of an answer that an error quotes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineLimits:
    """What an engine is told that it may use, and what is made of it."""

    turn_seconds: float = 1.0
    """Time for each move; an answer later than that and `GRACE_S` loses."""
    match_seconds: float | None = None
    """Time for all its moves of a game and for its start; None sets no limit."""
    memory_bytes: int = 350_000_000
    """It is told, and not enforced."""
    start_seconds: float = 30.0
    """Time to answer START, in which an engine loads what it needs."""


class EnginePlayer(Player):
    """A program that speaks the protocol.

    At a board (`sit`) it is a process for one game. Asked without a board, it is a process for each thread that asks,
    kept as long as positions continue the game it is in. Seeds mean nothing to it. Its name is its command: ABOUT is
    not asked, since some engines never answer it and a late answer would stand where a move is awaited.
    """

    def __init__(self, command: Sequence[str], rules: Rules, limits: EngineLimits) -> None:
        """`command`: the program and its arguments. Raises `ValueError` for rules that the protocol does not know."""
        if rules.connect != _CONNECT:
            raise ValueError(f"engines play {_CONNECT} in a row, not {rules}")
        self.name = shlex.join(command)
        self._command = tuple(command)
        self._rules = rules
        self._limits = limits
        self._seats: dict[int, _Seat] = {}
        """By thread."""
        weakref.finalize(self, _close_all, self._seats)

    def choose_batch(
        self,
        positions: Sequence[Position],
        *,
        seeds: Sequence[int],
        limit: Limit | None = None,
        stop: Callable[[], bool] = never,
    ) -> list[Decision]:
        """See `Player`; one position after the other. Raises `ForfeitError`.

        An engine has no best move so far to tell. So one that is stopped is ended, and the first empty cell stands for
        its move; `stop` is not heeded while it starts.
        """
        decisions = []
        for position in positions:
            thread = threading.get_ident()
            seat = self._seats.get(thread)
            if seat is None or seat.is_out:
                if seat is not None:
                    seat.close()
                seat = self._seats[thread] = self._new_seat()
            try:
                decisions += seat.choose_batch([position], seeds=[0], stop=stop)
            except ForfeitError as error:  # there is no table that says whose it is
                raise ForfeitError(f"{self.name}: {error}", on_time=error.on_time) from error
        return decisions

    @contextmanager
    def start_game(self) -> Iterator[Player]:
        """See `PlaysGames`. The engine is started here; if that fails, the first `choose` says so."""
        seat = self._new_seat()
        try:
            yield seat
        finally:
            seat.close()

    def close(self) -> None:
        """Ends the processes kept by `choose`; they also end with the player and with this process."""
        _close_all(self._seats)

    def _new_seat(self) -> "_Seat":
        return _Seat(self.name, self._command, self._rules, self._limits)


class _Seat(Player):
    """An engine in one game. It is a `Player` of one position at a time."""

    def __init__(self, name: str, command: Sequence[str], rules: Rules, limits: EngineLimits) -> None:
        self.name = name
        self._rules = rules
        self._limits = limits
        self._used = 0.0
        """Seconds of the match."""
        self._known: list[Cell] = []
        """The moves on the engine's board."""
        self._process: EngineProcess | None = None
        self._over: ForfeitError | None = None
        """Why it is out of the game."""
        try:
            self._start(command)
        except ForfeitError as error:
            self._over = error
            self._end(None)
        except BaseException:
            self._end(None)
            raise

    @property
    def is_out(self) -> bool:
        """Whether it answers no more."""
        return self._over is not None

    def choose_batch(
        self,
        positions: Sequence[Position],
        *,
        seeds: Sequence[int],
        limit: Limit | None = None,
        stop: Callable[[], bool] = never,
    ) -> list[Decision]:
        """See `EnginePlayer.choose`."""
        (position,) = positions
        if self._over is not None:
            raise self._over
        if stop():
            return [_no_decision(position)]
        try:
            return [self._decide(position, stop)]
        except ForfeitError as error:
            self._over = error
            self._end(None)
            raise
        except BaseException:
            self._over = ForfeitError("its thinking was interrupted, and it was ended")
            self._end(None)
            raise

    def close(self) -> None:
        """Asks the engine to end, and ends it."""
        self._over = self._over or ForfeitError("its game is over")
        self._end("END")

    def _end(self, farewell: str | None) -> None:
        if self._process is not None:
            self._process.close(farewell)

    def _start(self, command: Sequence[str]) -> None:
        limits, size = self._limits, self._rules.size
        try:
            process = self._process = EngineProcess(command, _is_talk)
        except OSError as error:
            raise ForfeitError(f"it could not be started: {error.strerror}") from error
        try:
            process.send([f"START {size}"])
            deadline = process.started_at + limits.start_seconds
            while True:
                line = process.next_line(deadline, never)
                if line is None:
                    raise ForfeitError(f"no answer to START {size} within {limits.start_seconds:g} s", on_time=True)
                word = _first_word(line.text)
                if word in ("ERROR", "UNKNOWN"):
                    raise ForfeitError(f"it answered START {size} with {_quoted(line.text)}")
                if word.startswith("OK"):  # what else it says of itself is no answer
                    break
            self._used = line.at - process.started_at
            process.send(
                [
                    f"INFO timeout_turn {_milliseconds(limits.turn_seconds)}",
                    f"INFO timeout_match {_milliseconds(limits.match_seconds or 0)}",
                    f"INFO max_memory {limits.memory_bytes}",
                    f"INFO game_type {_OPPONENT_IS_AN_ENGINE}",
                    f"INFO rule {_FREESTYLE}",
                    f"INFO folder {process.folder}",
                    *([] if limits.match_seconds else [f"INFO time_left {_UNLIMITED_MS}"]),
                ]
            )
        except ProgramEndedError as error:
            raise ForfeitError(f"no answer to START {size}: {error}") from error

    def _decide(self, position: Position, stop: Callable[[], bool]) -> Decision:
        assert self._process is not None, "an engine without a process is out of the game"
        limits = self._limits
        question = self._question(position)
        limit = limits.turn_seconds
        if limits.match_seconds is not None:
            left = limits.match_seconds - self._used
            limit = min(limit, left)
            question = [f"INFO time_left {_milliseconds(left)}", *question]
        complaint = ""
        has_suggested = False
        try:
            self._process.forget_lines()
            asked_at = self._process.send(question)
            deadline = asked_at + limit + GRACE_S
            while True:
                line = self._process.next_line(deadline, stop)
                if line is None and stop():
                    self._over = ForfeitError("its thinking was stopped, and it was ended")
                    self._end(None)
                    return _no_decision(position)
                if line is None or line.at > deadline:
                    whose = "" if limit == limits.turn_seconds else " that were left of its game"
                    raise ForfeitError(f"no move within the {max(limit, 0.0):.3g} s{whose}{complaint}", on_time=True)
                word = _first_word(line.text)
                if word == "SUGGEST" and not has_suggested:  # one that keeps suggesting would fill its own pipe
                    has_suggested = True
                    move = self._read_move(line.text[len(word) :], position)
                    self._process.send([f"PLAY {point_name(move, self._rules.size)}"])
                elif word == "ERROR":
                    raise ForfeitError(f"instead of a move it said {_quoted(line.text)}")
                elif _POINT.match(line.text):
                    break
                elif word != "OK":  # what some engines print between, or UNKNOWN to an INFO: the clock runs on
                    complaint = f"; it said {_quoted(line.text)}"
        except ProgramEndedError as error:
            raise ForfeitError(f"no move: {error}") from error
        move = self._read_move(line.text, position)
        seconds = line.at - asked_at
        self._used += seconds
        self._known = [*position.moves, move]
        return Decision(move, seconds=seconds)

    def _question(self, position: Position) -> list[str]:
        """The lines that ask for a move on `position`."""
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
            raise ForfeitError(f"no move: {_shortened(str(error), 2 * _MAX_QUOTED)}") from error
        if not position.is_legal(move):
            raise ForfeitError(f"an illegal move: {_quoted(text)} already holds a stone")
        return move


def _close_all(seats: dict[int, _Seat]) -> None:
    while seats:
        seats.popitem()[1].close()


def _no_decision(position: Position) -> Decision:
    return Decision(int(position.legal_moves()[0]))


def _is_talk(text: str) -> bool:
    return _first_word(text).startswith(("MESSAGE", "DEBUG"))


def _first_word(text: str) -> str:
    return text.split(maxsplit=1)[0].upper()


def _quoted(text: str) -> str:
    return repr(_shortened(text, _MAX_QUOTED))


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."


def _milliseconds(seconds: float) -> int:
    return round(seconds * 1000)
