"""Play of games: side by side for players of this process, on threads for players that are programs."""

import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from core.cores import cores
from core.opening_rules import Choice
from core.position import Position
from core.records.record import Ending
from core.rules import BLACK, WHITE, Colour, Rules, colour_name
from core.streams import stream_key
from curriculum.arena.fixtures import Fixture
from curriculum.arena.results import PlayedGame
from curriculum.reporting import Interrupted
from curriculum.run.json_files import now
from curriculum.workers.game_threads import on_threads
from search.players import Decision, ForfeitError, Player, Recipe, check_decisions, make_move

SIDE_BY_SIDE = 64
"""Games at once between players of this process: the number of positions that a search takes together."""


class _Board:
    """A game in progress, with the values, simulations and times of its moves."""

    def __init__(self, fixture: Fixture, rules: Rules) -> None:
        self.fixture = fixture
        self.position = Position.from_moves(rules, fixture.opening)
        self._values: list[float | None] = []
        self._simulations: list[int] = []
        self._seconds: list[float] = []
        self._lost: tuple[Colour, ForfeitError] | None = None

    @property
    def chooser(self) -> int:
        """Index of the player that places stones or chooses a colour now, before the end of the opening."""
        actor = self.fixture.rule.actor(self.position.ply)
        return (self.fixture.black, self.fixture.white)[actor]

    @property
    def is_open(self) -> bool:
        """True until the colours are chosen."""
        return self._lost is None and not self.fixture.rule.is_over(self.position.ply)

    def open(self, player: Player, stop: Callable[[], bool]) -> None:
        """Let the `chooser` act. Raises `IllegalMoveError` for stones that cannot be placed."""
        fixture, ply = self.fixture, self.position.ply
        found = player.choose_opening(self.position.copy(), fixture.rule, seed=stream_key(self.seed, 1), stop=stop)
        if not isinstance(found, Choice):
            for cell in found:
                fixture.rule.check(self.position, cell)
                self.position.push(cell)
            return
        opening = fixture.rule.after(found)
        self.fixture = replace(fixture, rule=opening)
        if opening.is_chosen:
            self.fixture = fixture.chosen(opening, self.position.moves[:ply])

    @property
    def mover(self) -> int:
        """Index of the player to move."""
        return self.fixture.black if self.position.side_to_move == BLACK else self.fixture.white

    @property
    def seed(self) -> int:
        """Seed of the next decision."""
        return stream_key(self.fixture.seed, self.position.ply)

    @property
    def is_over(self) -> bool:
        """True after the end of the game, on the board or by a forfeit."""
        return self._lost is not None or self.position.is_game_over()

    def play(self, decision: Decision, seconds: float, name: str) -> None:
        """Make the move of a decision of the player of this name. Raises the errors of `make_move`.

        Values and times are rounded here, not in the file of the game, so a game from a file equals the played one.
        """
        make_move(self.position, decision.move, name)
        self._values.append(None if decision.value is None else round(decision.value, 4))
        self._simulations.append(decision.simulations)
        self._seconds.append(round(decision.seconds if decision.seconds is not None else seconds, 6))

    def forfeit(self, colour: Colour, error: ForfeitError) -> None:
        """End the game with a loss of `colour`."""
        self._lost = colour, error

    def result(self) -> PlayedGame:
        """Return the finished game."""
        outcome, opening = self.position.outcome(), self.position.ply - len(self._values)
        winner, ending, why = outcome.winner if outcome else None, Ending.BOARD, ""
        if self._lost:
            loser, error = self._lost
            winner, ending = -loser, Ending.TIME if error.on_time else Ending.FORFEIT
            why = f"{colour_name(loser)} lost: {error}"
        return PlayedGame(
            fixture=self.fixture,
            moves=tuple(self.position.moves),
            winner=winner,
            ending=ending,
            why=why,
            date=now(),
            values=(*[None] * opening, *self._values),
            simulations=(*[0] * opening, *self._simulations),
            seconds=(*[0.0] * opening, *self._seconds),
        )


@dataclass(frozen=True)
class MatchJob:
    """The games of a match or a tournament, by the numbers of their fixtures: see `curriculum.workers.games.Job`."""

    players: Sequence[Recipe]
    rules: Rules
    fixtures: Mapping[int, Fixture]
    at_once: int
    """Games at once between players of one process, with one batch of decisions a move."""
    on_threads: int | None
    """Games at once of players that start each game (`search.players.Player`); None takes one for two cores."""

    @property
    def files(self) -> tuple[Path, ...]:
        """See `curriculum.workers.games.Job`."""
        return tuple(dict.fromkeys(path for player in self.players for path in player.files))

    def open(self, files: Mapping[Path, Path]) -> "MatchGames":
        """See `curriculum.workers.games.Job`."""
        return MatchGames(self, [player.make(files) for player in self.players])


class MatchGames:
    """The games of a match in this process: see `curriculum.workers.games.Games`."""

    def __init__(self, job: MatchJob, players: Sequence[Player]) -> None:
        self._job, self._players = job, tuple(players)
        self._moves = 0
        self._counting = threading.Lock()

    @property
    def counts(self) -> Mapping[str, int]:
        """Moves so far."""
        return {"moves": self._moves}

    def close(self) -> None:
        """Let go of the players."""
        self._players = ()

    def play(self, numbers: Iterator[int | None], stop: Callable[[], bool]) -> Generator[tuple[int, PlayedGame] | None]:
        """See `Games`. Games between players of this process go in waves of `at_once`.

        A game with a player that starts each game has a thread of its own.
        """
        self._load()
        number = next(numbers, None)
        while number is not None and not stop():
            if self._is_apart(number):
                number = yield from self._play_apart(chain((number,), numbers), stop)
                continue
            wave = [number]
            while (number := next(numbers, None) if len(wave) < self._job.at_once else None) is not None:
                if self._is_apart(number):
                    break
                wave.append(number)
            yield from self._play_wave(wave, stop)
            number = next(numbers, None) if number is None else number

    def _load(self) -> None:
        """Load and compile the players' searches, whose times a match measures: a stopped decision does."""
        position = Position.from_moves(self._job.rules, (0,))
        for player in self._players:
            if player.compiles:
                player.choose_batch([position], seeds=[0], stop=lambda: True)

    def _is_apart(self, number: int) -> bool:
        game = self._job.fixtures[number]
        return any(self._job.players[player].starts_games for player in (game.black, game.white))

    def _play_wave(self, numbers: Sequence[int], stop: Callable[[], bool]) -> Generator[tuple[int, PlayedGame] | None]:
        """Play games side by side: in turn each player chooses for all boards on which it is to move."""
        running = [_Board(self._job.fixtures[number], self._job.rules) for number in numbers]
        for board in running:
            while board.is_open and not stop():
                board.open(self._players[board.chooser], stop)
                yield None
        while running:
            if stop():
                return
            for number, player in enumerate(self._players):
                turn = [board for board in running if not board.is_over and board.mover == number]
                if not turn:
                    continue
                start = time.perf_counter()
                decisions = player.choose_batch(
                    [board.position.copy() for board in turn], seeds=[board.seed for board in turn], stop=stop
                )
                if stop():
                    return
                seconds = (time.perf_counter() - start) / len(turn)
                check_decisions(player.name, decisions, len(turn))
                for board, decision in zip(turn, decisions, strict=True):
                    board.play(decision, seconds, player.name)
                self._moves += len(turn)
                yield None
            for board in running:
                if board.is_over:
                    yield board.fixture.number, board.result()
            running = [board for board in running if not board.is_over]

    def _play_apart(
        self, numbers: Iterator[int | None], stop: Callable[[], bool]
    ) -> Generator[tuple[int, PlayedGame] | None, None, int | None]:
        """Play each game on a thread of its own; return the number of a game that needs none, if it came to one."""
        other: int | None = None

        def apart() -> Iterator[int | None]:
            nonlocal other
            for number in numbers:
                if number is not None and not self._is_apart(number):
                    other = number
                    return
                yield number

        with suppress(Interrupted):
            yield from on_threads(apart(), self._job.on_threads or max(1, cores() // 2), self._play_one, stop)
        return other

    def _play_one(self, number: int, stop: Callable[[], bool]) -> PlayedGame:
        """Play one game. Raises `Interrupted`."""
        board = _Board(self._job.fixtures[number], self._job.rules)
        with ExitStack() as stack:
            in_game: dict[int, Player] = {}
            while not board.is_over:
                mover = board.chooser if board.is_open else board.mover
                colour = BLACK if mover == board.fixture.black else WHITE
                try:
                    if mover not in in_game:
                        in_game[mover] = stack.enter_context(self._players[mover].start_game())
                    if board.is_open:
                        board.open(in_game[mover], stop)
                        continue
                    start = time.perf_counter()
                    decision = in_game[mover].choose(board.position.copy(), seed=board.seed, stop=stop)
                    seconds = time.perf_counter() - start
                except ForfeitError as error:
                    board.forfeit(colour, error)
                    continue
                finally:
                    if stop():
                        raise Interrupted
                board.play(decision, seconds, self._players[mover].name)
                with self._counting:
                    self._moves += 1
        return board.result()
