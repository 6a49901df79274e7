"""Helpers for tests of the Gomocup engine: a predictable player, its source, and the manager's side."""

from collections.abc import Callable

from core.position import Position
from core.rules import Rules
from gomoku_cli.gomocup.clock import Clock
from gomoku_cli.gomocup.commands import Engine
from gomoku_cli.gomocup.players import EnginePlayers
from search.engine import Engine as SearchEngine
from search.limit import Limit
from search.players import PLAIN, Decision, How, Player, Searched, never
from tests.support.players import OneByOne

ABOUT = 'name="test"'
FIRST, SECOND = "0,14", "1,14"
"""The first moves of `FirstCellPlayer` on 15x15: row 0 is at the bottom, and the protocol counts from the top."""


class FirstCellPlayer(OneByOne):
    """Plays the first empty cell. Its value of a position is in `values`, by the moves, or else `value`."""

    name = "first"

    def __init__(self) -> None:
        self.value: float | None = 0.25
        self.values: dict[tuple[int, ...], float] = {}
        self.requests: list[list[int]] = []
        """The moves of each position on which a decision was requested."""
        self.while_thinking: Callable[[Callable[[], bool]], None] = lambda stop: None
        """Called during each decision, with its `stop`."""
        self.best: Decision | None = None
        """The best move so far that it reports before that."""

    def decide(self, position: Position, seed: int, stop: Callable[[], bool]) -> Decision:
        assert not position.is_game_over()
        self.requests.append(position.moves.copy())
        self.while_thinking(stop)
        return Decision(position.legal_moves()[0], value=self.values.get(tuple(position.moves), self.value))

    def search(self, position: Position, limit: Limit | None = None, how: How = PLAIN) -> Searched:
        """See `Player`."""
        if how.report is not None and self.best is not None:
            how.report(self.best)
        return super().search(position, limit, how)


class OnePlayer(EnginePlayers):
    """An `EnginePlayers` with the same player for all rules. It keeps the requests."""

    def __init__(self, player: Player) -> None:
        self.notes: list[str] = []
        self.player = player
        self.engine: SearchEngine | None = None
        self.max_simulations: int | None = None
        self.max_bytes: int | None = None
        self.max_depth: int | None = None
        self.rules: list[Rules] = []
        self.prepared: list[Rules] = []
        self.threads: list[int] = []
        self.preparation: Callable[[], None] = lambda: None
        self.loads: Callable[[Callable[[], bool]], None] = lambda stop: None
        """Called for each player, with the `stop` of its loading."""
        self.quick_decisions = 0

    def progress(self) -> str | None:
        """See `EnginePlayers`."""
        return "compiling"

    def prepare(self, rules: Rules, stop: Callable[[], bool]) -> None:
        """See `EnginePlayers`."""
        self.prepared.append(rules)
        self.preparation()

    def get(self, rules: Rules, stop: Callable[[], bool]) -> SearchEngine:
        """See `EnginePlayers`."""
        self.rules.append(rules)
        self.loads(stop)
        self.engine = self.engine or SearchEngine(self.player)
        return self.engine

    def quick_decision(self, position: Position) -> Decision:
        """See `EnginePlayers`."""
        self.quick_decisions += 1
        return Decision(position.legal_moves()[0])

    def limit_threads(self, threads: int) -> None:
        """See `EnginePlayers`."""
        self.threads.append(threads)


class Talk:
    """A manager that sends lines to an engine."""

    def __init__(self, player: FirstCellPlayer | None = None, *, hurry: Callable[[], bool] = never) -> None:
        self.player = player or FirstCellPlayer()
        self.players = OnePlayer(self.player)
        self.engine = Engine(self.players, about=ABOUT, clock=Clock(), hurry=hurry)

    def say(self, *lines: str) -> list[str]:
        """Return the answers to all these lines."""
        return [answer for line in lines for answer in self.engine.answer(line)]
