"""The dialog for a new game: players, side, board, and the limits of the engine."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar, Literal

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Input, OptionList, Select, Static

from core.input_limits import MAX_MOVE_SECONDS, MAX_PACE_S, MAX_SIMULATIONS
from core.opening_rules import FREE, Opening, OpeningRule
from core.rules import Rules, Variant
from curriculum.arena import player_names
from gomoku_cli.printable import printable
from gomoku_cli.study.clocks import TimeControl
from gomoku_cli.tui.engine.messages import PlayerChoice
from gomoku_cli.tui.game import Seats
from gomoku_cli.tui.setup import Course
from search.tree.settings import DEFAULT_SIMULATIONS, Policy

Side = Literal["black", "white", "both", "none"]
"""The human's stones: one colour, both, or none (the engine plays itself)."""

_MAX_MODELS = 30
_LINES = {
    Variant.FREESTYLE: "so many or more (freestyle)",
    Variant.STANDARD: "exactly so many (standard)",
    Variant.RENJU: "five, Black without fouls (renju)",
    Variant.CARO: "five, unless enclosed (caro)",
    Variant.CARO_EXACT: "exactly five, unless enclosed",
}
"""The line that wins, after the number of its stones."""
_OPENINGS = {
    OpeningRule.FREE: "none: Black begins",
    OpeningRule.SWAP: "swap: three stones, then a choice",
    OpeningRule.SWAP2: "swap2: or two more, then a choice",
    OpeningRule.RIF: "rif: swap from the centre (renju)",
}
"""The opening rules; the player with the black stones places the first three."""


@dataclass(frozen=True, slots=True)
class NewGame:
    """The game that the human asks for."""

    rules: Rules
    seats: Seats
    opening: Opening = FREE
    clock: TimeControl | None = None
    course: Course = field(default_factory=Course)


def opponents(folder: Path = Path("runs")) -> list[tuple[Content, str]]:
    """Return pairs of a description and a player's name: built-in players first, then the models under `folder`."""
    return [(Content(printable(text)), name) for text, name in _opponents(folder)]


def _opponents(folder: Path) -> list[tuple[str, str]]:
    found = [("built-in model", player_names.DEFAULT)]
    words = {1: ", a beginner", 9: ", the strongest"}
    found += [(f"level {level}{words.get(level, '')}", name) for level, name in enumerate(player_names.LEVELS, start=1)]
    found += [(f"mentor, level {name[-1]}", name) for name in player_names.MENTOR_LEVELS]
    found += [("mentor of paper A", player_names.PAPER_MENTOR), ("random moves", player_names.RANDOM)]
    try:
        runs = sorted(path for path in folder.iterdir() if (path / "models" / "best.safetensors").is_file())
        files = sorted(folder.glob("*.safetensors"))
    except OSError:
        runs = files = []
    return found + [(str(path), str(path)) for path in [*runs, *files][:_MAX_MODELS]]


class NewGameScreen(ModalScreen[NewGame | None]):
    """The dialog; its result is None if it is left without a new game."""

    DEFAULT_CSS = """
    NewGameScreen {
        align: center middle;

        VerticalScroll { width: 62; max-width: 100%; height: auto; max-height: 100%; background: $surface;
            border: solid $primary; padding: 0 2; }
        .row { height: 1; width: 100%; }
        .row > Static { width: 20; }
        .row:focus-within > Static { text-style: reverse; }
        .row Select { width: 1fr; }
        .row Input { width: 1fr; }
        .row SelectCurrent { width: 100%; }
        .row SelectCurrent Static#label { width: 1fr; }
        #problem { height: auto; min-height: 1; color: $error; text-style: bold; }
        #buttons { height: 1; }
        Button { margin-right: 2; }
    }
    """

    AUTO_FOCUS = "#opponent"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "Cancel", show=False),
        Binding("ctrl+s", "start", "Start", show=False),
    ]

    def __init__(
        self, rules: Rules, seats: Seats, rule: OpeningRule, clock: TimeControl | None, course: Course
    ) -> None:
        """The fields start with the present game."""
        super().__init__()
        self._course = course
        self._clock = clock
        self._rules, self._rule = rules, rule
        self._seats = seats

    def compose(self) -> ComposeResult:
        """Build a row for each choice."""
        choice = self._seats.white or self._seats.black or PlayerChoice(spec=player_names.DEFAULT)
        names = opponents()
        if choice.spec not in {name for _, name in names}:
            names.append((Content(printable(choice.spec)), choice.spec))
        side: Side = "black" if self._seats.black is None else "white"
        if self._seats.black is None and self._seats.white is None:
            side = "both"
        elif self._seats.black is not None and self._seats.white is not None:
            side = "none"
        sides = [("black: you begin", "black"), ("white", "white"), ("both: two players", "both")]
        sides.append(("none: watch", "none"))
        with VerticalScroll():
            yield Static("New game", classes="title")
            yield _row("Opponent", Select(names, value=choice.spec, allow_blank=False, id="opponent", compact=True))
            yield _row("Your stones", Select(sides, value=side, allow_blank=False, id="side", compact=True))
            second = (self._seats.black or choice).spec if side == "none" else choice.spec
            yield _row("Black, if watching", Select(names, value=second, allow_blank=False, id="black", compact=True))
            yield _row("Board size", Input(str(self._rules.size), type="integer", id="size", compact=True))
            yield _row("In a row", Input(str(self._rules.connect), type="integer", id="connect", compact=True))
            lines = [(text, variant.value) for variant, text in _LINES.items()]
            variant = self._rules.variant.value
            yield _row("A line wins with", Select(lines, value=variant, allow_blank=False, id="variant", compact=True))
            rules = [(text, rule.value) for rule, text in _OPENINGS.items()]
            rule = self._rule.value
            yield _row("Opening", Select(rules, value=rule, allow_blank=False, id="opening", compact=True))
            clock, example = str(self._clock or ""), "none; or 10, 5+3, 5/3x30 minutes"
            yield _row("Clock", Input(clock, placeholder=example, id="clock", compact=True))
            seconds = choice.seconds is not None
            units = [("simulations a move", "simulations"), ("seconds a move", "seconds")]
            unit = "seconds" if seconds else "simulations"
            yield _row("Limit in", Select(units, value=unit, allow_blank=False, id="unit", compact=True))
            amount = f"{choice.seconds:g}" if choice.seconds is not None else str(choice.simulations)
            yield _row("Limit", Input(amount, type="number", id="amount", compact=True))
            policies = [(policy.value, policy.value) for policy in Policy]
            yield _row(
                "Policy", Select(policies, value=choice.policy.value, allow_blank=False, id="policy", compact=True)
            )
            yield _row("Drawn up to stone", Input(str(choice.switch_stage), type="integer", id="stage", compact=True))
            consent = [("allowed", "yes"), ("not during a game", "no")]
            value = "yes" if self._course.takes_back else "no"
            yield _row("Taking back", Select(consent, value=value, allow_blank=False, id="undo", compact=True))
            pace = f"{self._course.pace_s:g}"
            yield _row("Pace in seconds", Input(pace, type="number", id="pace", compact=True))
            bells = [("silent", "no"), ("rings when it is your turn", "yes")]
            value = "yes" if self._course.bell else "no"
            yield _row("Bell", Select(bells, value=value, allow_blank=False, id="bell", compact=True))
            yield Static("", id="problem", markup=False)
            with Horizontal(id="buttons"):
                yield Button("Start (ctrl+s)", id="start", variant="primary", compact=True)
                yield Button("Cancel (esc)", id="cancel", compact=True)

    @on(Input.Submitted)
    def action_start(self) -> None:
        """Return the new game, or show what is wrong."""
        try:
            self.dismiss(self._result())
        except ValueError as error:
            self.query_one("#problem", Static).update(str(error))

    def action_cancel(self) -> None:
        """Leave the dialog without a new game."""
        self.dismiss(None)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Start or cancel."""
        event.stop()
        if event.button.id == "start":
            self.action_start()
        else:
            self.action_cancel()

    def _result(self) -> NewGame:
        """Return the game of the fields. Raises `ValueError` with a sentence for a field that makes no sense."""
        size, connect = self._integer("size", "the board size"), self._integer("connect", "the line")
        rules = Rules(size, connect, Variant(self._selected("variant")))
        present = self._seats.white or self._seats.black or PlayerChoice(spec=player_names.DEFAULT)
        seconds, simulations = None, None
        if self._selected("unit") == "seconds":
            try:
                seconds = float(self._typed("amount"))
            except ValueError:
                raise ValueError("the limit is no number of seconds") from None
            if not 0 < seconds <= MAX_MOVE_SECONDS:
                raise ValueError(f"the limit is between 0 and {MAX_MOVE_SECONDS:,} seconds")
        else:
            simulations = self._integer("amount", "the limit")
            if not 0 <= simulations <= MAX_SIMULATIONS:
                raise ValueError(f"the limit is between 0 and {MAX_SIMULATIONS:,} simulations")
        stage = self._integer("stage", "the stage")
        if stage < 0:
            raise ValueError("the stage is 0 or more stones")
        choice = replace(
            present,
            spec=self._selected("opponent"),
            simulations=simulations if simulations is not None else DEFAULT_SIMULATIONS,
            seconds=seconds,
            policy=Policy(self._selected("policy")),
            switch_stage=stage,
        )
        seats = {
            "both": Seats(None, None),
            "none": Seats(replace(choice, spec=self._selected("black")), choice),
            "black": Seats(None, choice),
            "white": Seats(choice, None),
        }
        clock = TimeControl.parse(written) if (written := self._typed("clock")) else None
        try:
            pace_s = float(self._typed("pace") or 0)
        except ValueError:
            raise ValueError("the pace is no number of seconds") from None
        if not 0 <= pace_s <= MAX_PACE_S:
            raise ValueError(f"the pace is between 0 and {MAX_PACE_S:,} seconds")
        course = Course(takes_back=self._selected("undo") == "yes", pace_s=pace_s, bell=self._selected("bell") == "yes")
        opening = Opening(OpeningRule(self._selected("opening")))
        return NewGame(rules, seats[self._selected("side")], opening, clock, course)

    def _integer(self, field: str, name: str) -> int:
        try:
            return int(self._typed(field))
        except ValueError:
            raise ValueError(f"{name} is no whole number") from None

    def _typed(self, field: str) -> str:
        return self.query_one(f"#{field}", Input).value.strip()

    def _selected(self, field: str) -> str:
        return str(self.query_one(f"#{field}", Select).value)

    def on_key(self, event: events.Key) -> None:
        """Go up and down the rows with the arrows, which belong to a list where one has the focus."""
        if event.key in ("down", "up") and not isinstance(self.focused, Select | OptionList):
            event.stop()
            (self.focus_next if event.key == "down" else self.focus_previous)()


def _row(name: str, field: Select[str] | Input) -> Horizontal:
    return Horizontal(Static(name), field, classes="row")
