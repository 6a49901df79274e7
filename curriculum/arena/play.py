"""Play of games: side by side for players of this process, on threads for players that are programs."""

import os
import threading
import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice

from core.position import Position
from core.records.record import Ending
from core.rules import BLACK, Colour, Rules, colour_name
from core.streams import stream_key
from curriculum.arena.fixtures import Fixture
from curriculum.arena.results import PlayedGame
from curriculum.reporting import Conduct, Interrupted
from curriculum.run.json_files import now
from search.players import Decision, ForfeitError, Player, PlaysGames

SIDE_BY_SIDE = 64
"""Games at once between players of this process: the number of positions that a search takes together."""
_POLL_S = 0.1


class _Board:
    """A game in progress, with the values, simulations and times of its moves."""

    def __init__(self, fixture: Fixture, rules: Rules) -> None:
        self.fixture = fixture
        self.position = Position.from_moves(rules, fixture.opening)
        opening = len(fixture.opening)
        self._values: list[float | None] = [None] * opening
        self._simulations = [0] * opening
        self._seconds = [0.0] * opening
        self._lost: tuple[Colour, ForfeitError] | None = None

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

    def play(self, decision: Decision, seconds: float) -> None:
        """Make the move of a decision.

        Values and times are rounded here, not in the file of the game, so a game from a file equals the played one.
        """
        self.position.push(decision.move)
        self._values.append(None if decision.value is None else round(decision.value, 4))
        self._simulations.append(decision.simulations)
        self._seconds.append(round(decision.seconds if decision.seconds is not None else seconds, 6))

    def forfeit(self, colour: Colour, error: ForfeitError) -> None:
        """End the game with a loss of `colour`."""
        self._lost = colour, error

    def result(self) -> PlayedGame:
        """Return the finished game."""
        outcome = self.position.outcome()
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
            values=tuple(self._values),
            simulations=tuple(self._simulations),
            seconds=tuple(self._seconds),
        )


def play_games(
    players: Sequence[Player],
    games: Sequence[Fixture],
    *,
    rules: Rules,
    conduct: Conduct,
    finished: Callable[[PlayedGame], None],
    moved: Callable[[int], None] = lambda moves: None,
    is_decided: Callable[[], bool] = lambda: False,
    played: Collection[int] = (),
    side_by_side: int | None = None,
    on_threads: int | None = None,
) -> None:
    """Play the games and give each finished one to `finished`, on the calling thread.

    Games between players of this process go in waves of `side_by_side` (by default 64), with one batch of decisions a
    move; `moved` receives the number of new moves. A game with a player that starts each game
    (`search.players.PlaysGames`) has a thread of its own, `on_threads` (by default one for two cores) at a time.
    `is_decided` is called between waves and after each game on a thread; True ends the play.

    `played`: numbers of the games that are finished already. The last bits of an evaluation depend on the other
    positions of its batch, so a wave is played whole or not at all: equal fixtures give equal games after any number of
    interruptions. Raises `Interrupted` if the conduct stops it.
    """
    work = _Play(players, rules, conduct, finished, moved, is_decided)
    apart: list[Fixture] = []
    together: list[Fixture] = []
    for game in games:
        plays_games = any(isinstance(players[number], PlaysGames) for number in (game.black, game.white))
        (apart if plays_games else together).append(game)
    width = side_by_side or SIDE_BY_SIDE
    for first in range(0, len(together), width):
        wave = together[first : first + width]
        known = sum(game.number in played for game in wave)
        if known == len(wave):
            continue
        # An interrupted wave has finished only its short games: they alone must not end the match.
        if not known and is_decided():
            return
        work.play_wave(wave, played)
    apart = [game for game in apart if game.number not in played]
    if apart and not is_decided():
        work.play_apart(apart, on_threads or max(1, (os.cpu_count() or 1) // 2))


@dataclass(frozen=True, slots=True)
class _Play:
    """The fixed arguments of `play_games`."""

    players: Sequence[Player]
    rules: Rules
    conduct: Conduct
    finished: Callable[[PlayedGame], None]
    moved: Callable[[int], None]
    is_decided: Callable[[], bool]

    def play_wave(self, games: Sequence[Fixture], played: Collection[int]) -> None:
        """Play games side by side: in turn each player chooses for all boards on which it is to move."""
        running = [_Board(game, self.rules) for game in games]
        while running:
            for number, player in enumerate(self.players):
                turn = [board for board in running if not board.is_over and board.mover == number]
                if not turn:
                    continue
                start = time.perf_counter()
                decisions = player.choose_batch(
                    [board.position for board in turn], seeds=[board.seed for board in turn], stop=self.conduct.stop
                )
                if self.conduct.stop():
                    raise Interrupted
                seconds = (time.perf_counter() - start) / len(turn)
                for board, decision in zip(turn, decisions, strict=True):
                    board.play(decision, seconds)
                self.moved(len(turn))
            for board in running:
                if board.is_over and board.fixture.number not in played:
                    self.finished(board.result())
            running = [board for board in running if not board.is_over]

    def play_apart(self, games: Sequence[Fixture], at_once: int) -> None:
        """Play each game on a thread of its own."""
        ending = threading.Event()

        def stop() -> bool:
            return ending.is_set() or self.conduct.stop()

        waiting = iter(games)
        with ThreadPoolExecutor(at_once, thread_name_prefix="game") as pool:
            try:
                running = {pool.submit(self._play_one, game, stop) for game in islice(waiting, at_once)}
                while running:
                    # A short timeout, because a signal's handler runs between this thread's own steps.
                    done, running = wait(running, timeout=_POLL_S, return_when=FIRST_COMPLETED)
                    for future in done:
                        self.finished(future.result())
                    if self.conduct.stop():
                        raise Interrupted
                    if self.is_decided():
                        return
                    running |= {pool.submit(self._play_one, game, stop) for game in islice(waiting, len(done))}
            finally:
                ending.set()

    def _play_one(self, game: Fixture, stop: Callable[[], bool]) -> PlayedGame:
        """Play one game. Raises `Interrupted`."""
        board = _Board(game, self.rules)
        with ExitStack() as stack:
            in_game: dict[int, Player] = {}
            while not board.is_over:
                colour, mover = board.position.side_to_move, board.mover
                try:
                    if mover not in in_game:
                        player = self.players[mover]
                        in_game[mover] = (
                            stack.enter_context(player.start_game()) if isinstance(player, PlaysGames) else player
                        )
                    start = time.perf_counter()
                    decision = in_game[mover].choose_batch([board.position], seeds=[board.seed], stop=stop)[0]
                    seconds = time.perf_counter() - start
                except ForfeitError as error:
                    board.forfeit(colour, error)
                    continue
                finally:
                    if stop():
                        raise Interrupted
                board.play(decision, seconds)
        return board.result()
