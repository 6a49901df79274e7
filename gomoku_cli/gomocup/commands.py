"""The engine's side of the protocol: lines of a manager in, lines of answers out. `protocol` has the syntax."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from core.input_limits import MAX_COMMAND_LENGTH, quoted
from core.notation import NotationError, parse_point
from core.opening_rules import Choice
from core.position import IllegalMoveError
from core.rules import Rules, Variant
from gomoku_cli.gomocup import protocol
from gomoku_cli.gomocup.clock import Clock
from gomoku_cli.gomocup.game import EngineGame
from gomoku_cli.gomocup.lines import Line
from gomoku_cli.gomocup.protocol import BoardBlock, CommandError
from gomoku_cli.gomocup.thinking import Thinker
from search.opening_choice import better_colour
from search.players import never

if TYPE_CHECKING:
    from gomoku_cli.gomocup.players import EnginePlayers

_STOPS = ("YXSTOP", "STOP")
"""Commands that end the search for a move, which is then answered."""
_ENDS_OF_TURNS = ("START", "RECTSTART", "RESTART", "TAKEBACK")
"""Commands after which a move does not matter any more. Read during a move they end its search too."""
_SWAP2_STONES = (0, 3, 5)
"""Stones on the board at which a side is to choose by the rule of swap2."""
_WITHOUT_EFFECT = ("YXHASHCLEAR", "YXBLOCKRESET", "YXBLOCKPATHRESET")
"""Commands that ask for nothing that this engine has: it blocks no cells, and no table of it changes a result."""
_TIMES = ("timeout_turn", "timeout_match", "time_left")
"""Keys of INFO that count at once, also for the move in progress."""
_NO_BOARD = "there is no board yet: START comes first"


class Engine:
    """An engine: pass each line to `answer`, and call `finish` after the last one."""

    def __init__(
        self,
        players: "EnginePlayers",
        *,
        about: str,
        clock: Clock | None = None,
        variant: Variant = Variant.FREESTYLE,
        seed: int = 0,
        hurry: Callable[[], bool] = never,
        ahead: Callable[[], Sequence[Line]] = tuple,
        tell: Callable[[str], None] = lambda line: None,
    ) -> None:
        """`about`: the answer to ABOUT. `variant`: the one until INFO rule. `seed`: for players that draw their moves.

        `hurry()`: True if no manager waits for the answer any more, so that a short search is enough. `ahead()`: the
        lines that wait behind the one that is being answered. `tell(line)`: sends a line during a move.
        """
        self._players = players
        self._about = about
        clock = self._clock = clock or Clock()
        self._ahead = ahead
        self._thinker = Thinker(
            players=players, clock=clock, seed=seed, hurry=hurry, is_asked=self._is_asked_for_the_move, tell=tell
        )
        self._read_at = 0.0
        """The instant at which the command in progress was read."""
        self._looked = 0
        """The number of lines ahead of it that have been looked at."""
        self._skips = False
        """True after an unknown command of Yixin's board, which may have a board behind it."""
        self._started_game: EngineGame | None = None
        self._variant = variant
        self._block: BoardBlock | None = None
        self._commands: dict[str, Callable[[str, float], Iterator[str]]] = {
            "START": partial(self._start, protocol.parse_size),
            "RECTSTART": partial(self._start, protocol.parse_square),
            "RESTART": self._restart,
            "BEGIN": self._begin,
            "TURN": self._turn,
            **{name: partial(self._begin_block, name) for name in ("BOARD", "SWAP2BOARD", "YXBOARD")},
            "DONE": self._done,
            "PLAY": self._play,
            "TAKEBACK": self._takeback,
            "ABOUT": lambda argument, read_at: iter([self._about]),
            "YXNBEST": self._n_best,
            "YXSHOWINFO": lambda argument, read_at: iter([f"MESSAGE {self._about}"]),
            "YXSHOWFORBID": self._show_forbidden,
            **dict.fromkeys(_WITHOUT_EFFECT, lambda argument, read_at: iter(())),
        }
        # Other keys change nothing in this engine.
        self._infos: dict[str, Callable[[int], None]] = {
            "timeout_turn": clock.set_move_limit,
            "timeout_match": clock.set_game_limit,
            "time_left": clock.set_time_left,
            "max_memory": partial(self._limit, "max_bytes"),
            "max_node": partial(self._limit, "max_simulations"),
            "rule": self._set_rule,
            # Those of Yixin's board
            "thread_num": self._set_threads,
            "max_depth": partial(self._limit, "max_depth"),
            "time_increment": clock.set_increment,
            "pondering": self._set_pondering,
            "show_detail": self._set_detail,
        }

    def answer(self, line: str, read_at: float | None = None) -> Iterator[str]:
        """Carry out a line and yield the lines of its answer; each of them must be sent at once.

        `read_at`: the instant from which the time of the line counts; None for now. The caller handles END.
        """
        read_at = self._read_at = time.monotonic() if read_at is None else read_at
        self._looked = 0
        name, argument = protocol.parse_command(line)
        if not name:
            return
        if name == "INFO":
            if len(line) <= MAX_COMMAND_LENGTH:
                self._inform(argument)
                yield from self._take_rule(read_at)
            return
        self._thinker.stop_pondering()
        command = self._commands.get(name)
        is_rest = self._skips and (name == "DONE" or name[0].isdigit())
        self._skips = is_rest and name != "DONE"
        if is_rest or name in _STOPS:
            return
        if self._block is not None and name != "DONE":
            if command is None:
                self._block.add(line.strip(), self._started_game.rules.size if self._started_game else 0)
                return
            yield from self.finish()
        if len(line) > MAX_COMMAND_LENGTH:
            yield f"UNKNOWN a line of more than {MAX_COMMAND_LENGTH} characters"
        elif command is None:
            self._skips = name.startswith("YX")
            yield f"UNKNOWN {quoted(name)} is not a command"
        else:
            try:
                yield from command(argument, read_at)
            except (CommandError, NotationError, IllegalMoveError) as error:
                yield f"ERROR {error}"

    def finish(self) -> Iterator[str]:
        """End the input: answer a board without its DONE, which changes nothing."""
        if self._block is not None:
            unfinished, self._block = self._block.command, None
            yield f"ERROR {unfinished} was not ended by DONE"

    # Commands that set up a game

    def _start(self, parse: Callable[[str], int], argument: str, read_at: float) -> Iterator[str]:
        yield from self._new_game(protocol.rules_of_size(parse(argument), self._variant), read_at)

    def _restart(self, argument: str, read_at: float) -> Iterator[str]:
        yield from self._new_game(replace(self._game.rules, variant=self._variant), read_at)

    def _new_game(self, rules: Rules, read_at: float) -> Iterator[str]:
        yield from self._thinker.prepare(rules, read_at)
        self._started_game = EngineGame(rules)
        self._thinker.new_game(read_at)
        yield "OK"

    def _begin_block(self, command: str, argument: str, read_at: float) -> Iterator[str]:
        self._block = BoardBlock(command, fault=None if self._started_game else _NO_BOARD)
        for word in argument.split():  # some boards send the whole block in one line
            if word.upper() == "DONE":
                yield from self._done("", read_at)
                return
            self._block.add(word, self._started_game.rules.size if self._started_game else 0)

    def _done(self, argument: str, read_at: float) -> Iterator[str]:
        block, self._block = self._block, None
        if block is None:
            raise CommandError("DONE ends a BOARD, and there is none")
        if block.fault is not None:
            raise CommandError(block.fault)
        if block.command == "SWAP2BOARD":
            yield from self._swap2(block, read_at)
            return
        self._game.set_board(block)
        if block.command == "BOARD":
            yield from self._move(read_at)

    # Commands that make moves

    def _begin(self, argument: str, read_at: float) -> Iterator[str]:
        self._game.begin()
        yield from self._move(read_at)

    def _turn(self, argument: str, read_at: float) -> Iterator[str]:
        game = self._game
        game.opponent_moves(parse_point(argument, game.rules.size))
        yield from self._move(read_at)

    def _play(self, argument: str, read_at: float) -> Iterator[str]:
        game = self._game
        cell = parse_point(argument, game.rules.size)
        game.engine_moves(cell)
        yield game.point(cell)

    def _takeback(self, argument: str, read_at: float) -> Iterator[str]:
        game = self._game
        game.take_back(parse_point(argument, game.rules.size))
        yield "OK"

    def _n_best(self, argument: str, read_at: float) -> Iterator[str]:
        count = protocol.parse_integer(argument)
        if count is None or count < 1:
            raise CommandError(f"YXNBEST takes a number of moves, not {quoted(argument)}")
        self._game.take_turn()
        yield from self._move(read_at, best=count)

    def _show_forbidden(self, argument: str, read_at: float) -> Iterator[str]:
        position = self._game.position
        points = (divmod(cell, position.rules.size) for cell in position.fouls())
        # Two digits each for the column from the left and the row from the top.
        yield f"FORBID {''.join(f'{column:02}{position.rules.size - 1 - row:02}' for row, column in points)}."

    def _move(self, read_at: float, *, best: int = 0) -> Iterator[str]:
        """Choose the engine's move, play it and answer with it, after messages with the `best` moves."""
        game, thinker = self._game, self._thinker
        engine = thinker.begin_move(game.rules, read_at)
        yield from thinker.messages()
        decision = thinker.decide(engine, game.position, read_at)
        yield from thinker.best_moves(best, game.rules.size)
        game.position.push(decision.move)
        yield from thinker.messages()
        yield game.point(decision.move)
        thinker.record_move(read_at)
        thinker.ponder(engine, game.position)

    def _swap2(self, block: BoardBlock, read_at: float) -> Iterator[str]:
        game, thinker = self._game, self._thinker
        if len(block.stones) not in _SWAP2_STONES:
            raise CommandError(f"swap2 takes 0, 3 or 5 stones, not {len(block.stones)}")
        engine = thinker.begin_move(game.rules, read_at)
        yield from thinker.messages()
        if not block.stones:
            cells = [*thinker.three_stones(engine, game.rules, read_at)]
            game.set_swap2(cells)
            answer = " ".join(map(game.point, cells))
        else:
            game.set_swap2(block.cells)
            side_to_move = game.position.side_to_move
            decision = thinker.decide(engine, game.position, read_at)
            if better_colour(decision.value or 0.0) is Choice.BLACK:
                game.own_colour = -side_to_move
                answer = "SWAP"
            else:
                game.own_colour = side_to_move
                game.position.push(decision.move)
                answer = game.point(decision.move)
        yield from thinker.messages()
        yield answer
        thinker.record_move(read_at)

    @property
    def _game(self) -> EngineGame:
        if self._started_game is None:
            raise CommandError(_NO_BOARD)
        return self._started_game

    # INFO

    def _inform(self, argument: str) -> None:
        key, _, value = argument.partition(" ")
        apply, number = self._infos.get(key.lower()), protocol.parse_integer(value.strip())
        if apply is not None and number is not None:
            apply(number)
        elif key.lower() == "rule":
            self._note(f"rule is a number, not {quoted(value.strip())}: {self._variant} is played")

    def _limit(self, name: str, number: int) -> None:
        """Set a limit of the players, by the name of their attribute; 0 and less set none."""
        setattr(self._players, name, number if number > 0 else None)

    def _set_threads(self, threads: int) -> None:
        if threads > 0:
            self._players.limit_threads(threads)

    def _set_pondering(self, pondering: int) -> None:
        self._thinker.may_ponder = pondering > 0
        if pondering <= 0:
            self._thinker.stop_pondering()

    def _set_detail(self, detail: int) -> None:
        self._thinker.shows_best = detail > 0

    def _is_asked_for_the_move(self) -> bool:
        """Look at the lines that came during a move; return True if the manager wants it at once.

        A time that came with the command or before it is none for this move: a script may set one for each of its
        moves. The lines stay, and are carried out in their turn.
        """
        lines = self._ahead()[self._looked :]
        self._looked += len(lines)
        is_asked = False
        for line in lines:
            name, argument = protocol.parse_command(line.text)
            came_later = line.read_at > self._read_at
            if came_later and name == "INFO" and argument.partition(" ")[0].lower() in _TIMES:
                self._inform(argument)
                is_asked |= self._clock.deadline(self._read_at) <= time.monotonic()
            is_asked |= name in _STOPS or (came_later and name in _ENDS_OF_TURNS)
        return is_asked

    def _set_rule(self, rule: int) -> None:
        self._variant = protocol.variant_of(rule)
        if names := protocol.unsupported_rules(rule):
            self._note(f"{self._variant} is played here; unsupported: {', '.join(names)}")

    def _take_rule(self, read_at: float) -> Iterator[str]:
        """Let a game that has only begun follow the rule: a manager may send it after START.

        Its player is prepared now. That would be in the time of the first move.
        """
        game = self._started_game
        if game is not None and not game.position.ply and game.rules.variant is not self._variant:
            self._started_game = EngineGame(replace(game.rules, variant=self._variant))
            yield from self._thinker.prepare(self._started_game.rules, read_at, within_s=0.0)

    def _note(self, note: str) -> None:
        if note not in self._players.notes:
            self._players.notes.append(note)
