"""What the tests of the Gomocup engine share: a player of which all is known, and a manager's side of the talk."""

from collections.abc import Callable, Sequence

from core.position import Position
from core.rules import Rules
from gomoku_cli.gomocup.clock import Clock
from gomoku_cli.gomocup.engine import Engine
from search.players import Decision, Player, never

ABOUT = 'name="test"'


class FirstCell:
    """Plays the first empty cell, and says `value` of every position that `values` does not name by its moves."""

    name = "first"

    def __init__(self) -> None:
        self.value: float | None = 0.25
        self.values: dict[tuple[int, ...], float] = {}
        self.asked: list[list[int]] = []
        """The moves of the positions that it was asked about."""
        self.thinks: Callable[[Callable[[], bool]], None] = lambda stop: None

    def choose_batch(
        self, positions: Sequence[Position], *, seeds: Sequence[int], stop: Callable[[], bool] = never
    ) -> list[Decision]:
        """See `Player`."""
        (position,) = positions
        assert not position.is_game_over()
        self.asked.append(position.moves.copy())
        self.thinks(stop)
        return [Decision(int(position.legal_moves()[0]), value=self.values.get(tuple(position.moves), self.value))]


class OneSeat:
    """Seats the same player on every board, and remembers what it was asked for."""

    def __init__(self, player: Player) -> None:
        self.notes: list[str] = []
        self.player = player
        self.seated: list[tuple[Rules, int | None]] = []
        self.memory: list[int | None] = []
        self.why_waiting: str | None = None

    def waiting(self, rules: Rules) -> str | None:
        """See `Seats`."""
        return self.why_waiting

    def prepare(self, rules: Rules, max_simulations: int | None, until: float) -> None:
        """See `Seats`."""
        self.seat(rules, max_simulations, until)

    def seat(self, rules: Rules, max_simulations: int | None, until: float) -> Player:
        """See `Seats`."""
        self.seated.append((rules, max_simulations))
        return self.player

    def limit_memory(self, max_bytes: int | None) -> None:
        """See `Seats`."""
        self.memory.append(max_bytes)


class Talk:
    """An engine with a player of its own, to which lines are said one after the other; its clock stands still."""

    def __init__(self, player: FirstCell | None = None, *, hurry: Callable[[], bool] = never) -> None:
        self.player = player or FirstCell()
        self.seats = OneSeat(self.player)
        self.now = 0.0
        self.engine = Engine(self.seats, about=ABOUT, clock=Clock(), hurry=hurry, now=lambda: self.now)

    def say(self, *lines: str) -> list[str]:
        """The answers to all these lines."""
        return [answer for line in lines for answer in self.engine.answer(line)]
