"""The dialog for a new game, or for other players of this one: players, side, board, and the limits of the engine."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar, Literal

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content, ContentText
from textual.widgets import Button, Input, OptionList, Select, Static

from core.input_limits import MAX_MOVE_SECONDS, MAX_PACE_S, MAX_SIMULATIONS
from core.opening_rules import Opening, OpeningRule
from core.rules import EMPTY, Rules, Variant, colour_name
from curriculum.arena import player_names
from gomoku_cli.printable import printable
from gomoku_cli.study.clocks import TimeControl
from gomoku_cli.tui.engine.messages import PlayerChoice
from gomoku_cli.tui.game import Game, Seats, has_net
from gomoku_cli.tui.screens.dialog import Dialog
from gomoku_cli.tui.setup import Course
from gomoku_cli.tui.widgets.texts import reads_limit
from search.tree.settings import DEFAULT_SIMULATIONS, Policy

_Kind = Literal["integer", "number", "text"]
_MAX_MODELS = 30
_SIDES = {"black": "black: you begin", "white": "white", "both": "both: two players", "none": "none: watch"}
"""The human's stones."""
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
_UNITS = {"simulations": "simulations a move", "seconds": "seconds a move"}
_CONSENT = {"yes": "allowed", "no": "not during a game"}
_BELLS = {"no": "silent", "yes": "rings when it is your turn"}


def opponents(folder: Path = Path("runs")) -> dict[str, Content]:
    """Return the players by name with their descriptions: built-in ones first, then the models under `folder`."""
    words = {1: ", a beginner", 9: ", the strongest"}
    found = {player_names.DEFAULT: "built-in model"}
    found |= {name: f"level {level}{words.get(level, '')}" for level, name in enumerate(player_names.LEVELS, start=1)}
    found |= {name: f"mentor, level {name[-1]}" for name in player_names.MENTOR_LEVELS}
    found |= {player_names.PAPER_MENTOR: "mentor of paper A", player_names.RANDOM: "random moves"}
    with suppress(OSError):
        runs = sorted(path for path in folder.iterdir() if (path / "models" / "best.safetensors").is_file())
        models = [*runs, *sorted(folder.glob("*.safetensors"))][:_MAX_MODELS]
        found |= {str(path): str(path) for path in models}
    return {name: Content(printable(text)) for name, text in found.items()}


class NewGameScreen(Dialog[tuple[Game, Course] | None]):
    """The dialog; its result is None if it is left without a new game."""

    AUTO_FOCUS = "#opponent"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+s", "start", "Start", show=False)]

    def __init__(self, game: Game, course: Course, *, goes_on: bool = False) -> None:
        """The fields start with the present game. `goes_on`: they change its players, so the board is not shown."""
        super().__init__(classes="-goes-on" if goes_on else None)
        self._heading = "Players of this game" if goes_on else "New game"
        self._start = "Go on (ctrl+s)" if goes_on else "Start (ctrl+s)"
        self._course, self._clock, self._opening = course, game.control, game.opening.rule
        self._rules, self._seats = game.rules, game.seats
        self._choice = self._seats.white or self._seats.black or PlayerChoice(spec=player_names.DEFAULT)

    def compose(self) -> ComposeResult:
        """Build a row for each choice."""
        choice, seats, course = self._choice, self._seats, self._course
        names = opponents()
        names.setdefault(choice.spec, Content(printable(choice.spec)))
        side = colour_name(seats.human) if seats.human != EMPTY else "both" if seats.black is None else "none"
        amount = choice.simulations if choice.seconds is None else f"{choice.seconds:g}"
        with VerticalScroll():
            yield Static(self._heading, classes="title")
            yield _chosen("Opponent", "opponent", names, choice.spec)
            yield _chosen("Your stones", "side", _SIDES, side)
            second = seats.black if side == "none" and seats.black is not None else choice
            yield _chosen("Black, if watching", "black", names, second.spec)
            yield _typed("Board size", "size", self._rules.size)
            yield _typed("In a row", "connect", self._rules.connect)
            yield _chosen("A line wins with", "variant", _LINES, self._rules.variant)
            yield _chosen("Opening", "opening", _OPENINGS, self._opening)
            yield _typed("Clock", "clock", self._clock or "", "text", "none; or 10, 5+3, 5/3x30 minutes")
            yield _chosen("Limit in", "unit", _UNITS, "simulations" if choice.seconds is None else "seconds")
            yield _typed("Limit", "amount", amount, "number")
            yield _chosen("Policy", "policy", {policy: policy.value for policy in Policy}, choice.policy)
            yield _typed("Drawn up to stone", "stage", choice.switch_stage)
            yield Static("", id="unread", markup=False)
            yield _chosen("Taking back", "undo", _CONSENT, "yes" if course.takes_back else "no")
            yield _typed("Pace in seconds", "pace", f"{course.pace_s:g}", "number")
            yield _chosen("Bell", "bell", _BELLS, "yes" if course.bell else "no")
            yield Static("", id="problem", markup=False)
            with Horizontal(id="buttons"):
                yield Button(self._start, id="start", action="screen.start", variant="primary", compact=True)
                yield Button("Cancel (esc)", id="back", action="screen.back", compact=True)

    @on(Input.Submitted)
    def action_start(self) -> None:
        """Return the new game, or show what is wrong."""
        try:
            self.dismiss(self._result())
        except ValueError as error:
            self.query_one("#problem", Static).update(str(error))

    @on(Select.Changed)
    def _note_unread(self) -> None:
        specs = [self._selected("opponent")] if self._selected("side") != "both" else []
        if self._selected("side") == "none":
            specs.insert(0, self._selected("black"))
        is_time = self._selected("unit") == "seconds"
        notes = []
        for spec in dict.fromkeys(specs):
            reads = {"limit": reads_limit(spec, is_time=is_time), "policy": has_net(spec)}
            if own := [name for name, is_read in reads.items() if not is_read]:
                notes.append(f"Not for {printable(spec)}: own {' and '.join(own)}.")
        note = self.query_one("#unread", Static)
        note.update("\n".join(notes))
        note.display = bool(notes)

    @on(Input.Changed)
    @on(Select.Changed)
    def _forget_problem(self) -> None:
        if (problem := self.query_one("#problem", Static)).content:
            problem.update("")

    def _result(self) -> tuple[Game, Course]:
        """Return the game of the fields. Raises `ValueError` with a sentence for a field that makes no sense."""
        size, connect = self._integer("size", "the board size"), self._integer("connect", "the line")
        rules = Rules(size, connect, Variant(self._selected("variant")))
        seconds, simulations = None, DEFAULT_SIMULATIONS
        if self._selected("unit") == "seconds":
            seconds = self._seconds("amount", "the limit", MAX_MOVE_SECONDS, is_limit=True)
        else:
            simulations = self._integer("amount", "the limit")
            if not 0 <= simulations <= MAX_SIMULATIONS:
                raise ValueError(f"the limit is between 0 and {MAX_SIMULATIONS:,} simulations")
        stage = self._integer("stage", "the stage")
        if stage < 0:
            raise ValueError("the stage is 0 or more stones")
        engine = self._choice._replace(
            spec=self._selected("opponent"),
            simulations=simulations,
            seconds=seconds,
            policy=Policy(self._selected("policy")),
            switch_stage=stage,
        )
        side = self._selected("side")
        black = engine._replace(spec=self._selected("black")) if side == "none" else engine
        seats = Seats(None if side in ("black", "both") else black, None if side in ("white", "both") else engine)
        clock = TimeControl.parse(written) if (written := self._written("clock")) else None
        pace_s = self._seconds("pace", "the pace", MAX_PACE_S) if self._written("pace") else 0.0
        course = Course(takes_back=self._selected("undo") == "yes", pace_s=pace_s, bell=self._selected("bell") == "yes")
        opening = Opening(OpeningRule(self._selected("opening")))
        return Game(rules, seats, opening=opening, clock=clock), course

    def _integer(self, field: str, name: str) -> int:
        try:
            return int(self._written(field))
        except ValueError:
            raise ValueError(f"{name} is no whole number") from None

    def _seconds(self, field: str, name: str, most: float, *, is_limit: bool = False) -> float:
        try:
            seconds = float(self._written(field))
        except ValueError:
            raise ValueError(f"{name} is no number of seconds") from None
        if not 0 <= seconds <= most or (is_limit and not seconds):
            raise ValueError(f"{name} is between 0 and {most:,} seconds")
        return seconds

    def _written(self, field: str) -> str:
        return self.query_one(f"#{field}", Input).value.strip()

    def _selected(self, field: str) -> str:
        return str(self.query_one(f"#{field}", Select).value)

    def on_key(self, event: events.Key) -> None:
        """Go up and down the rows with the arrows, which belong to a list where one has the focus."""
        if event.key in ("down", "up") and not isinstance(self.focused, Select | OptionList):
            event.stop()
            (self.focus_next if event.key == "down" else self.focus_previous)()


def _chosen(name: str, field: str, texts: Mapping[Any, ContentText], value: str) -> Horizontal:
    """Return the row of a list: its values with their texts."""
    options = [(text, str(each)) for each, text in texts.items()]
    select = Select(options, value=str(value), allow_blank=False, id=field, compact=True)
    return Horizontal(Static(name), select, classes=f"row -{field}")


def _typed(name: str, field: str, value: object, kind: _Kind = "integer", placeholder: str = "") -> Horizontal:
    """Return the row of a field."""
    entry = Input(str(value), type=kind, placeholder=placeholder, id=field, compact=True)
    return Horizontal(Static(name), entry, classes=f"row -{field}")
