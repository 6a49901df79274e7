"""A session of games: players by their names, openings, and the folder that keeps the games of a match."""

import hashlib
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from core.opening_rules import OpeningRule
from core.rules import Cell, Rules
from curriculum.arena.bars import is_decided, never_moved
from curriculum.arena.fixtures import fixtures
from curriculum.arena.folder import MatchFolder
from curriculum.arena.formats import Format
from curriculum.arena.opening_sets import (
    BALANCED,
    EMPTY_BOARD,
    balanced_for,
    load_openings,
    note_on_balanced,
    variant_of_file,
)
from curriculum.arena.player_names import short_names
from curriculum.arena.players import NamedPlayer, PlayerSettings, PlayerSpecError, model_path, parse_player
from curriculum.arena.results import PlayedGame
from curriculum.arena.statistics.sprt import SequentialTest
from curriculum.arena.tournament import Tournament, play_tournament
from curriculum.reporting import Context
from search.players import ForfeitError, Player, Recipe


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchSettings:
    """Settings of the games of a match or a tournament."""

    games: int
    """Games of every two players who meet."""
    players: PlayerSettings = field(default_factory=PlayerSettings)
    openings: str = BALANCED
    """See `curriculum.arena.opening_sets.load_openings`; without effect under an opening rule."""
    opening_rule: OpeningRule = OpeningRule.FREE
    """Other than free: the games begin on the empty board, and the players place stones and choose colours."""
    seed: int = 42
    names: Sequence[str] = ()
    """Names of the first players in tables and reports; the others have short ones."""
    concurrency: int | None = None
    """Games at once; None takes the number that suits the players."""


class MatchSession:
    """Plays games between players by their names; each player and the openings are loaded once."""

    def __init__(self, settings: MatchSettings, rules: Rules, context: Context) -> None:
        self.settings = settings
        self.rules = rules
        self.context = context
        self.finished: list[PlayedGame] = []
        """The games of the last match so far, also of one that was stopped."""
        self.names: Sequence[str] = ()
        """The names of its players."""
        self._players: dict[str, Player] = {}

    def player(self, spec: str) -> Player:
        """Return the player that a spec names, made once. Raises the errors of `parse_player`."""
        if spec not in self._players:
            self._players[spec] = parse_player(spec, rules=self.rules, settings=self.settings.players)
        return self._players[spec]

    def _recipe(self, spec: str) -> Player | Recipe:
        """Return the player itself, or its recipe where others play. Raises `PlayerSpecError`."""
        if self.context.pool.is_apart:
            return NamedPlayer.of(spec, self.rules, self.settings.players)
        return self.player(spec)

    @cached_property
    def openings(self) -> list[tuple[Cell, ...]]:
        """Openings of the games. Where none are shipped, all begin on the empty board. Raises `RecordError`."""
        choice = self.settings.openings
        if self.settings.opening_rule is not OpeningRule.FREE:
            choice = EMPTY_BOARD
        elif choice == BALANCED and balanced_for(self.rules) is None:
            choice = EMPTY_BOARD
            self.context.reporter.say(
                f"note: there are no balanced openings for {self.rules}, so all games begin on the empty board; "
                "--openings names a file of others"
            )
        elif choice == BALANCED and (note := note_on_balanced(self.rules)):
            self.context.reporter.say(f"{note}; gomoku openings makes others, for --openings")
        openings = load_openings(choice, self.rules)
        if (made_for := variant_of_file(choice)) not in (None, self.rules.variant):
            self.context.reporter.say(f"note: the openings of {choice} were made for {made_for}")
        return openings

    def play(
        self,
        specs: Sequence[str],
        *,
        form: Format = Format.ROUND_ROBIN,
        is_decided: Callable[[Tournament], bool] | None = None,
        folder: Path | None = None,
        task: str = "games",
        names: Sequence[str] | None = None,
    ) -> Tournament:
        """Play the games of these players, except those that `folder` holds already, and return all results.

        `is_decided` ends the games early, `names` replaces those of the settings. Raises the errors of `MatchFolder`
        and `play_tournament`.
        """
        start = time.perf_counter()
        settings = self.settings
        # What may be wrong comes before the players, whose nets take a while.
        games = fixtures(
            len(specs),
            settings.games,
            openings=self.openings,
            seed=settings.seed,
            form=form,
            rule=settings.opening_rule,
        )
        try:
            self.names, self.finished = short_names(specs, settings.names if names is None else names), []
        except ValueError as error:
            raise PlayerSpecError(f"--name: {error}") from error
        players = [self._recipe(spec) for spec in specs]
        width = settings.concurrency
        if width is None and settings.players.seconds is not None:
            width = 2  # timed searches run one after the other, for any number of open games
        with ExitStack() as stack:
            kept: MatchFolder | None = None
            if folder is not None:
                kept = stack.enter_context(
                    MatchFolder(folder, self.plan(specs, form), games, rules=self.rules, names=self.names)
                )
            tournament = play_tournament(
                players,
                games,
                rules=self.rules,
                context=self.context,
                names=self.names,
                folder=kept,
                finished=self.finished,
                is_decided=is_decided,
                side_by_side=width,
                on_threads=settings.concurrency,
                task=task,
            )
        tournament.seconds = time.perf_counter() - start + (kept.seconds_before if kept is not None else 0.0)
        return tournament

    def play_match(
        self,
        specs: Sequence[str],
        *,
        test: SequentialTest | None = None,
        folder: Path | None = None,
        task: str = "games",
    ) -> Tournament:
        """Play the match of two players until its last game or the decision of `test`; return its only match.

        Raises `ForfeitError` if a player makes no move in any game, and the errors of `play`.
        """
        tournament = self.play(
            specs, is_decided=lambda so_far: is_decided(so_far.matches[0, 1], test), folder=folder, task=task
        )
        result = tournament.matches[0, 1]
        if (forfeit := never_moved(result)) is not None:
            raise ForfeitError(f"{forfeit.player} made no move in any game, so there is no result: {forfeit.why}")
        result.seconds = tournament.seconds
        return tournament

    def plan(self, specs: Sequence[str], form: Format = Format.ROUND_ROBIN) -> dict[str, Any]:
        """Return the identity of a match: all settings that change its games, except their number.

        Backend, precision and concurrency are missing: they change the last bits of an evaluation at most.
        """
        settings, players = self.settings, self.settings.players
        openings = repr(self.openings).encode()
        return {
            "players": list(specs),
            "models": [_fingerprint(spec, self.rules) for spec in specs],
            "board_size": self.rules.size,
            "connect": self.rules.connect,
            "variant": self.rules.variant,
            "format": form.value if len(specs) > 2 else "match",
            "openings": settings.openings,
            "opening_rule": settings.opening_rule.value,
            "openings_fingerprint": hashlib.blake2b(openings, digest_size=8).hexdigest(),
            "seed": settings.seed,
            "simulations": players.simulations if players.seconds is None else None,
            "seconds": players.seconds,
            "engine_seconds": players.engine_seconds,
            "match_seconds": players.match_seconds,
            "policy": players.policy.value,
            "switch_stage": players.switch_stage,
            "tactics": players.tactics,
        }


def _fingerprint(spec: str, rules: Rules) -> str | None:
    """Return a hash of a model's file; None for a player without one."""
    path = model_path(spec, rules)
    return None if path is None else hashlib.blake2b(path.read_bytes(), digest_size=8).hexdigest()
