"""What `evaluate` and `tournament` share: players seated, games played or continued, reports written."""

import hashlib
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from curriculum.arena.formats import Format
from gomoku_cli.options import check_seconds
from nets.config import Backend, Precision
from search.tree.settings import Policy

if TYPE_CHECKING:
    from core.rules import Cell, Rules
    from curriculum.arena.players import PlayerSettings
    from curriculum.arena.tournament import Tournament
    from curriculum.reporting import Conduct
    from gomoku_cli.bars import Bar
    from search.players import Player


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchOptions:
    """How games are played, as the options say it."""

    games: int
    simulations: int | None
    seconds: float | None
    engine_seconds: float | None
    match_seconds: float | None
    openings: str
    policy: Policy
    switch_stage: int
    board_size: int | None
    connect: int | None
    seed: int
    concurrency: int | None
    backend: Backend
    precision: Precision


@dataclass(frozen=True, slots=True, kw_only=True)
class Reports:
    """The files that are written when the games are over; None is not wanted."""

    games: Path | None
    figure: Path | None
    junit: Path | None
    markdown: Path | None

    def check(self) -> None:
        """Raises a usage error for a file that could not be written, before hours of games."""
        from core.records.formats import SUFFIXES
        from gomoku_cli.reports.plots import check_plot

        named = {"--games-file": self.games, "--junit": self.junit, "--markdown": self.markdown}
        for option, path in named.items():
            if path is not None and not path.parent.is_dir():
                raise typer.BadParameter(f"there is no folder {path.parent}", param_hint=option)
        if self.games is not None and self.games.suffix.lower() not in SUFFIXES:
            raise typer.BadParameter(f"{self.games} must end in {' or '.join(SUFFIXES)}", param_hint="--games-file")
        if self.figure is not None:
            check_plot(self.figure, "--figure")


class MatchSession:
    """Where games are played: the rules, the players at hand, and where games start."""

    def __init__(self, terms: MatchOptions, rules: "Rules", conduct: "Conduct") -> None:
        self.terms = terms
        self.rules = rules
        self.conduct = conduct
        self._settings = _settings(terms)
        self._players: dict[str, Player] = {}
        self._openings: list[tuple[Cell, ...]] | None = None

    def player(self, spec: str) -> "Player":
        """The player that a spec names."""
        from curriculum.arena.players import parse_player

        if spec not in self._players:
            self._players[spec] = parse_player(spec, rules=self.rules, settings=self._settings)
        return self._players[spec]

    @property
    def _starts(self) -> "list[tuple[Cell, ...]]":
        from curriculum.arena.opening_sets import load_openings

        if self._openings is None:
            self._openings = load_openings(self.terms.openings, self.rules)
        return self._openings

    @property
    def _at_once(self) -> tuple[int | None, int | None]:
        """Games at once: between players of this process, and with engines."""
        if self.terms.concurrency is None and self.terms.seconds is not None:
            return 2, None  # searches that have a time each come one after the other, however many games are open
        return self.terms.concurrency, self.terms.concurrency

    def play(
        self,
        specs: Sequence[str],
        *,
        form: Format = Format.ROUND_ROBIN,
        enough: "Callable[[Tournament], bool]" = lambda tournament: False,
        folder: Path | None = None,
        task: str = "games",
    ) -> "Tournament":
        """Plays the games of these players, or those that `folder` does not hold yet."""
        from curriculum.arena.fixtures import fixtures
        from curriculum.arena.folder import MatchFolder
        from curriculum.arena.tournament import play_tournament

        players = [self.player(spec) for spec in specs]
        games = fixtures(len(specs), self.terms.games, openings=self._starts, seed=self.terms.seed, form=form)
        names = distinct_names(specs, [player.name for player in players])
        together, apart = self._at_once
        with ExitStack() as stack:
            kept: MatchFolder | None = None
            if folder is not None:
                plan = self._plan(specs, form)
                kept = stack.enter_context(MatchFolder(folder, plan, games, rules=self.rules, names=names))
            return play_tournament(
                players,
                games,
                rules=self.rules,
                conduct=self.conduct,
                names=names,
                folder=kept,
                enough=enough,
                side_by_side=together,
                on_threads=apart,
                task=task,
            )

    def _plan(self, specs: Sequence[str], form: Format) -> dict[str, Any]:
        """All that is agreed on but the number of games; a match is continued under the same plan only.

        Backend, precision and concurrency are the machine's: they change no more than the last bits of a judgement.
        """
        terms = self.terms
        openings = repr(self._starts).encode()
        return {
            "players": list(specs),
            "models": [_fingerprint(spec) for spec in specs],
            "board_size": self.rules.size,
            "connect": self.rules.connect,
            "format": form.value if len(specs) > 2 else "match",
            "openings": terms.openings,
            "openings_fingerprint": hashlib.blake2b(openings, digest_size=8).hexdigest(),
            "seed": terms.seed,
            "simulations": self._settings.simulations if terms.seconds is None else None,
            "seconds": terms.seconds,
            "engine_seconds": terms.engine_seconds,
            "match_seconds": terms.match_seconds,
            "policy": terms.policy.value,
            "switch_stage": terms.switch_stage,
        }


def distinct_names(specs: Sequence[str], names: Sequence[str]) -> list[str]:
    """The players' names, or what they were asked for by where two would be called the same."""
    return [name if names.count(name) == 1 else spec for spec, name in zip(specs, names, strict=True)]


def _fingerprint(spec: str) -> str | None:
    """Tells one model file from another; None for players without one."""
    from curriculum.arena.players import model_path

    path = model_path(spec)
    return None if path is None else hashlib.blake2b(path.read_bytes(), digest_size=8).hexdigest()


def _settings(terms: MatchOptions) -> "PlayerSettings":
    from dataclasses import replace

    from gomoku_cli.seats import player_settings

    for option, seconds in (("--engine-seconds", terms.engine_seconds), ("--match-seconds", terms.match_seconds)):
        check_seconds(seconds, option)
    return replace(
        player_settings(terms.simulations, terms.seconds, terms.policy, terms.switch_stage),
        engine_seconds=terms.engine_seconds,
        match_seconds=terms.match_seconds,
    )


@contextmanager
def table(
    specs: Sequence[str], terms: MatchOptions, reports: Reports, *, folder: Path | None, quiet: bool
) -> Iterator[MatchSession]:
    """A table for these players; whoever stops the games is told how to continue them."""
    from gomoku_cli.compilation import telling_of_compilation
    from gomoku_cli.console import program
    from gomoku_cli.interruption import conducting
    from gomoku_cli.runtime import choose_runtime
    from gomoku_cli.seats import common_rules

    reports.check()
    choose_runtime(terms.backend, terms.precision)
    rules = common_rules(specs, terms.board_size, terms.connect)
    resume = f"{program()} {shlex.join(sys.argv[1:])}" if folder is not None else None
    with conducting(quiet=quiet, resume=resume) as conduct, telling_of_compilation(conduct.reporter):
        yield MatchSession(terms, rules, conduct)


def write_games(tournament: "Tournament", rules: "Rules", path: Path) -> None:
    """Writes all games to a file of records, in the order of their fixtures."""
    from core.records.formats import write_games

    games = [game for match in tournament.matches.values() for game in match.games]
    games.sort(key=lambda game: game.fixture.number)
    write_games(path, [game.record(rules, tournament.names) for game in games])


def write_reports(
    tournament: "Tournament", rules: "Rules", bars: "Sequence[Bar]", reports: Reports, *, seconds: float
) -> None:
    """Writes the files that were asked for."""
    from core.files import atomic_write_text
    from gomoku_cli.reports.match import junit, markdown

    matches = list(tournament.matches.values())
    title = f"{matches[0].player} against {matches[0].opponent}" if len(matches) == 1 else "Tournament"
    said = [match.to_json() for match in matches]
    standings = [standing.to_json() for standing in tournament.standings()] if len(matches) > 1 else []
    met = [bar.to_json() for bar in bars]
    if reports.games is not None:
        write_games(tournament, rules, reports.games)
    if reports.junit is not None:
        atomic_write_text(reports.junit, junit(title, said, met, seconds))
    if reports.markdown is not None:
        atomic_write_text(reports.markdown, markdown(title, said, standings, met))
    if reports.figure is not None:
        from gomoku_cli.reports.match_figure import draw_match

        draw_match(matches, tournament.standings() if len(matches) > 1 else [], reports.figure)
