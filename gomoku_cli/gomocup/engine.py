"""The protocol: a manager's lines in, lines of answer out.

Source: https://plastovicka.github.io/protocl2en.htm. Every command has exactly one answer, except INFO and END, which
have none; BOARD and SWAP2BOARD have theirs after DONE. MESSAGE and DEBUG may come before an answer. What cannot be
done is answered with ERROR and changes nothing. Points are column from the left and row from the top, from 0.
"""

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from core.notation import NotationError, parse_point, point_name
from core.position import IllegalMoveError, Position
from core.rules import MAX_SIZE, Cell, Colour, Rules
from core.streams import stream_key
from gomoku_cli.gomocup import swap2
from gomoku_cli.gomocup.clock import GLANCE_S, Clock
from gomoku_cli.gomocup.lines import MAX_LENGTH
from search.players import Decision, Player, never

CONNECT = 5
"""The length of a line that wins, in this protocol."""
_START_S = 5.0
"""START is answered by then, if what cannot wait is done: on a machine that is so busy the rest takes long too."""
_NO_BOARD = "there is no board yet: START comes first"
_OTHER_RULES = {1: "exactly five win", 2: "the game goes on after five", 4: "renju", 8: "caro"}
_WHOLE = re.compile(r"[+-]?[0-9]{1,20}")
_OWN, _OPPONENTS, _OF_A_LINE = 1, 2, 3


class Seats(Protocol):
    """Where the engine gets its players from."""

    notes: list[str]
    """What the user should know and was not told yet; whoever tells it clears it."""

    def waiting(self, rules: Rules) -> str | None:
        """Why the first `seat` for these rules takes long; None where it does not."""

    def prepare(self, rules: Rules, max_simulations: int | None, until: float) -> None:
        """Makes who plays under these rules ready; what is not by `until` of `time.monotonic` goes on afterwards."""

    def seat(self, rules: Rules, max_simulations: int | None, until: float) -> Player:
        """Who plays under these rules, with at most so many simulations a move; as ready as can be by `until`."""

    def limit_memory(self, max_bytes: int | None) -> None:
        """Keeps this process within so much memory from the next move on."""


class _RefusedError(ValueError):
    """A command that cannot be done, in a few words."""


@dataclass(slots=True)
class _Board:
    """The lines of a BOARD or a SWAP2BOARD so far."""

    command: str
    stones: list[tuple[Cell, int]] = field(default_factory=list)
    """Cells with their fields, in the order they came; 0 for the field of a SWAP2BOARD."""
    fault: str | None = None
    """What was wrong first."""

    def add(self, line: str, size: int) -> None:
        """Takes one line of the board, or notes what is wrong with it."""
        if self.fault is not None:
            return
        try:
            point, owner = line, "0"
            if self.command == "BOARD":
                point, comma, owner = line.rpartition(",")
                if not comma or owner.strip() not in ("1", "2", "3"):
                    raise _RefusedError(f"{_shown(line)} is not x,y,field with a field of 1, 2 or 3")
            cell = parse_point(point, size)
            if any(cell == other for other, _ in self.stones):
                raise _RefusedError(f"{point_name(cell, size)} holds two stones")
        except (NotationError, _RefusedError) as error:
            self.fault = str(error)
        else:
            self.stones.append((cell, int(owner)))


class Engine:
    """One side of the protocol: give it each line with `answer`, and `finish` it when there are no more."""

    def __init__(
        self,
        seats: Seats,
        *,
        about: str,
        clock: Clock | None = None,
        seed: int = 0,
        hurry: Callable[[], bool] = never,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`about`: the answer to ABOUT. `hurry` says whether nobody waits for long thoughts any more.

        `seed`: of players that draw their moves. `now`: the clock of all instants, in seconds.
        """
        self._seats = seats
        self._about = about
        self._clock = clock or Clock()
        self._seed = seed
        self._hurry = hurry
        self._now = now
        self._rules: Rules | None = None
        self._position = Position(Rules())
        self._ours: Colour | None = None
        """Our colour, where it is known."""
        self._games = 0
        self._board: _Board | None = None
        self._max_bytes: int | None = None
        self._max_simulations: int | None = None
        self._commands: dict[str, Callable[[str, float], Iterator[str]]] = {
            "START": self._start,
            "RECTSTART": self._rectstart,
            "RESTART": self._restart,
            "BEGIN": self._begin,
            "TURN": self._turn,
            "BOARD": self._begin_board,
            "SWAP2BOARD": self._begin_swap2,
            "DONE": self._done,
            "PLAY": self._play,
            "TAKEBACK": self._takeback,
            "ABOUT": self._tell_about,
        }
        # thread_num, game_type, folder and evaluate ask for nothing that would be done otherwise here.
        self._infos: dict[str, Callable[[int], None]] = {
            "timeout_turn": self._clock.set_turn,
            "timeout_match": self._clock.set_match,
            "time_left": self._clock.set_left,
            "max_memory": self._set_memory,
            "max_node": self._set_simulations,
            "rule": self._set_rule,
        }

    def answer(self, line: str, read_at: float | None = None) -> Iterator[str]:
        """Does what a line says and yields the lines of the answer, each of which is to be sent at once.

        `read_at`: when it came, from which its time counts; None for now. END is the caller's to heed.
        """
        name, rest = (*line.split(None, 1), "", "")[:2]
        name, rest = name.upper(), rest.strip()
        read_at = self._now() if read_at is None else read_at
        if not name:
            return
        if name == "INFO":
            if len(line) <= MAX_LENGTH:
                self._inform(rest)
            return
        command = self._commands.get(name)
        if self._board is not None and name != "DONE":
            if command is None:
                self._board.add(line.strip(), self._rules.size if self._rules else 0)
                return
            yield from self.finish()
        if len(line) > MAX_LENGTH:
            yield f"UNKNOWN a line of more than {MAX_LENGTH} characters"
        elif command is None:
            yield f"UNKNOWN {_shown(name)} is no command"
        else:
            try:
                yield from command(rest, read_at)
            except (_RefusedError, NotationError, IllegalMoveError) as refusal:
                yield f"ERROR {refusal}"

    def finish(self) -> Iterator[str]:
        """Ends the input: answers a board that never came to its DONE, which changes nothing."""
        if self._board is not None:
            unfinished, self._board = self._board.command, None
            yield f"ERROR {unfinished} was not ended by DONE"

    # Commands that set up a game.

    def _start(self, rest: str, read_at: float) -> Iterator[str]:
        size = _whole(rest)
        if size is None:
            raise _RefusedError(f"START takes the board's size, not {_shown(rest)}")
        yield from self._set_up(size, read_at)

    def _rectstart(self, rest: str, read_at: float) -> Iterator[str]:
        sides = [_whole(side.strip()) for side in rest.split(",")]
        width, height = sides if len(sides) == 2 else (None, None)
        if width is None or height is None:
            raise _RefusedError(f"RECTSTART takes width,height, not {_shown(rest)}")
        if width != height:
            raise _RefusedError(f"only square boards are played, not {width}x{height}")
        yield from self._set_up(width, read_at)

    def _set_up(self, size: int, read_at: float) -> Iterator[str]:
        if not CONNECT <= size <= MAX_SIZE:
            raise _RefusedError(f"boards of {CONNECT} to {MAX_SIZE} are played, not of {size}")
        rules = Rules(size, CONNECT)
        why = self._seats.waiting(rules)
        if why is not None:
            yield f"MESSAGE {why}"
        self._seats.prepare(rules, self._max_simulations, read_at + _START_S)
        self._rules = rules
        yield from self._restart("", read_at)

    def _restart(self, rest: str, read_at: float) -> Iterator[str]:
        self._position = Position(self._need_rules())
        self._ours = None
        self._games += 1
        self._clock.new_game()
        self._clock.charge(self._now() - read_at)
        yield "OK"

    def _begin_board(self, rest: str, read_at: float) -> Iterator[str]:
        self._board = self._new_board("BOARD")
        yield from ()

    def _begin_swap2(self, rest: str, read_at: float) -> Iterator[str]:
        self._board = self._new_board("SWAP2BOARD")
        yield from ()

    def _new_board(self, command: str) -> _Board:
        return _Board(command, fault=None if self._rules else _NO_BOARD)

    def _done(self, rest: str, read_at: float) -> Iterator[str]:
        board, self._board = self._board, None
        if board is None:
            raise _RefusedError("DONE ends a BOARD, and there is none")
        if board.fault is not None:
            raise _RefusedError(board.fault)
        if board.command == "BOARD":
            position = self._in_turn(board.stones)
            self._position, self._ours = position, position.side_to_move
            yield from self._move(read_at)
        else:
            yield from self._swap2([cell for cell, _ in board.stones], read_at)

    def _in_turn(self, stones: list[tuple[Cell, int]]) -> Position:
        """The position with these stones and us to move: each side's in the order they came, played in turn."""
        own, opponents, of_a_line = (
            [cell for cell, owner in stones if owner == kind] for kind in (_OWN, _OPPONENTS, _OF_A_LINE)
        )
        if of_a_line:
            raise _RefusedError("field 3 is for games that go on after five, which are not played")
        if len(opponents) - len(own) not in (0, 1):
            raise _RefusedError(f"with {len(own)} own stones and {len(opponents)} of the opponent it is not our turn")
        first, second = (own, opponents) if len(own) == len(opponents) else (opponents, own)
        position = Position(self._need_rules())
        for number in range(len(stones)):
            position.push((first, second)[number % 2][number // 2])
        if position.is_game_over():
            raise _RefusedError("the game is over")
        return position

    # Commands that make moves.

    def _begin(self, rest: str, read_at: float) -> Iterator[str]:
        self._need_rules()
        if self._position.ply:
            raise _RefusedError("BEGIN is for the empty board")
        self._ours = self._position.side_to_move
        yield from self._move(read_at)

    def _turn(self, rest: str, read_at: float) -> Iterator[str]:
        cell = self._cell(rest)
        if self._ours == self._position.side_to_move:
            raise _RefusedError("it is not the opponent's turn")
        self._push(cell)
        self._ours = self._position.side_to_move
        if self._position.is_game_over():
            raise _RefusedError("the game is over")
        yield from self._move(read_at)

    def _play(self, rest: str, read_at: float) -> Iterator[str]:
        cell = self._cell(rest)
        colour = self._position.side_to_move
        if self._ours not in (None, colour):
            raise _RefusedError("it is not our turn")
        self._push(cell)
        self._ours = colour
        yield self._point(cell)

    def _takeback(self, rest: str, read_at: float) -> Iterator[str]:
        cell = self._cell(rest)
        if cell not in self._position.moves:
            raise _RefusedError(f"{self._point(cell)} holds no stone")
        if cell != self._position.moves[-1]:
            raise _RefusedError(
                f"{self._point(cell)} is not the last stone, {self._point(self._position.moves[-1])} is"
            )
        self._position.pop()
        if not self._position.ply:
            self._ours = None
        yield "OK"

    def _tell_about(self, rest: str, read_at: float) -> Iterator[str]:
        yield self._about

    def _push(self, cell: Cell) -> None:
        if cell in self._position.moves:
            raise _RefusedError(f"{self._point(cell)} already holds a stone")
        self._position.push(cell)

    def _move(self, read_at: float) -> Iterator[str]:
        """Thinks about the position, in which it is our turn, and makes the move."""
        player = self._player(read_at)
        yield from self._notes()
        decision = self._choose(player, self._position, lambda: self._clock.deadline(read_at))
        self._position.push(decision.move)
        yield from self._notes()
        yield self._point(decision.move)
        self._clock.answered(self._now() - read_at)

    def _swap2(self, stones: list[Cell], read_at: float) -> Iterator[str]:
        rules = self._need_rules()
        if len(stones) not in swap2.STAGES:
            raise _RefusedError(f"swap2 is about 0, 3 or 5 stones, not {len(stones)}")
        player = self._player(read_at)
        yield from self._notes()

        def deadline() -> float:
            return self._clock.deadline(read_at)

        def judge(position: Position, left: int) -> float:
            now = self._now()
            share = now + (deadline() - now) / left
            return self._choose(player, position, lambda: share).value or 0.0

        if not stones:
            cells = swap2.three_stones(rules, stream_key(self._seed, self._games), judge)
            self._position, self._ours = Position.from_moves(rules, cells), None
            answer = " ".join(map(self._point, cells))
        else:
            self._position = Position.from_moves(rules, stones)
            decision = self._choose(player, self._position, deadline)
            if swap2.swaps(decision):
                self._ours = -self._position.side_to_move
                answer = "SWAP"
            else:
                self._ours = self._position.side_to_move
                self._position.push(decision.move)
                answer = self._point(decision.move)
        yield from self._notes()
        yield answer
        self._clock.answered(self._now() - read_at)

    def _player(self, read_at: float) -> Player:
        """Who plays, within the limits of now."""
        now = self._now()
        until = now + (self._clock.deadline(read_at) - now) / 2
        player = self._seats.seat(self._need_rules(), self._max_simulations, until)
        self._seats.limit_memory(self._max_bytes)
        return player

    def _choose(self, player: Player, position: Position, deadline: Callable[[], float]) -> Decision:
        begun = asked = self._now()

        def stop() -> bool:
            nonlocal asked
            now = self._now()
            self._clock.delayed(now - asked)
            asked = now
            return now >= deadline() or (now >= begun + GLANCE_S and self._hurry())

        seed = stream_key(self._seed, self._games, position.ply)
        decision = player.choose_batch([position], seeds=[seed], stop=stop)[0]
        self._clock.delayed(self._now() - asked)
        return decision

    def _notes(self) -> Iterator[str]:
        notes = self._seats.notes
        while notes:
            yield f"MESSAGE {notes.pop(0)}"

    # What INFO says.

    def _inform(self, rest: str) -> None:
        key, _, value = rest.partition(" ")
        take, number = self._infos.get(key.lower()), _whole(value.strip())
        if take is not None and number is not None:
            take(number)

    def _set_memory(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes if max_bytes > 0 else None

    def _set_simulations(self, nodes: int) -> None:
        self._max_simulations = nodes if nodes > 0 else None

    def _set_rule(self, rule: int) -> None:
        others = [name for bit, name in _OTHER_RULES.items() if rule & bit]
        note = f"five or more in a row win here, whatever rule is asked for ({', '.join(others)})"
        if others and note not in self._seats.notes:
            self._seats.notes.append(note)

    # Words and points.

    def _need_rules(self) -> Rules:
        if self._rules is None:
            raise _RefusedError(_NO_BOARD)
        return self._rules

    def _cell(self, text: str) -> Cell:
        return parse_point(text[:50], self._need_rules().size)

    def _point(self, cell: Cell) -> str:
        return point_name(cell, self._need_rules().size)


def _whole(text: str) -> int | None:
    """The whole number that a text is, None where it is none."""
    return int(text) if _WHOLE.fullmatch(text) else None


def _shown(text: str) -> str:
    """A text of the manager's, so that it can stand in an answer."""
    return repr(text if len(text) <= 30 else f"{text[:30]}...")
