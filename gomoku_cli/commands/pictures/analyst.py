"""The work of `gomoku analyze`: one position, the lines of stdin, or every position of files of games."""

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import typer

from core.position import Position
from core.records.formats import GamesFile, is_sgf
from core.rules import Rules
from curriculum.arena import player_names
from curriculum.arena.players import model_path, parse_player
from curriculum.reporting import Context, Quiet, Task
from gomoku_cli.commands.pictures.games import game_at, open_each
from gomoku_cli.commands.pictures.subjects import GameOptions, PositionLineError, played, stdin_positions
from gomoku_cli.exit_codes import ExitCode
from gomoku_cli.options import RulesOptions, SearchOptions
from gomoku_cli.printable import echo, echo_json
from gomoku_cli.reports.analyses import lines as texts
from gomoku_cli.study.game import KeptAnalysis, StudiedGame
from gomoku_cli.study.review import review_of
from gomoku_cli.study.saved import annotate
from nets.checkpoint import read_info
from search.engine import Engine
from search.limit import Limit

_SAVING_SHARE = 20
"""Analysis goes on for so many times the time of a save before the next one, since a file is written as a whole."""


class _Opened(NamedTuple):
    engine: Engine
    name: str
    """The player as kept analyses name it: two names are two ways to search."""
    limit: Limit
    """The limit of each analysis."""


class Analyst:
    """The player of the command, opened once for the rules of each game."""

    def __init__(
        self, spec: str | None, search: SearchOptions, rules: RulesOptions, context: Context, lines: int | None
    ) -> None:
        """`spec`: None for the built-in model, or the mentor where that does not play the board.

        `lines`: see `Engine.analysis`.
        """
        self._spec, self._search, self._rules, self._context, self._lines = spec, search, rules, context, lines
        self._settings = search.player_settings()
        self._takes_any = spec is None and search == SearchOptions()
        """True if no option asks for a search: an analysis that a file holds is as good as any."""
        self._opened: dict[Rules, _Opened] = {}

    def analyse_moves(self, moves: str) -> dict[str, Any]:
        """Return the analysis of one position as JSON. Raises a usage error for moves that cannot be played."""
        position = played(moves, self._own_rules())
        return texts.position_json(self._analysed(None, position, is_measured=True), position)

    def analyse_move(self, path: Path, number: int | None, move: int, *, save: bool) -> dict[str, Any]:
        """Return the analysis of a position of a game as JSON. Raises usage errors, and `RecordError`.

        `move`: the last move before it, counted without the stones that were set up.
        """
        (source,) = _opened_files([path], save=save)
        game = game_at(source.games, number, path)
        moves, ply = len(game.record.moves) - game.record.set_up, game.record.set_up + move
        if move > moves:
            raise typer.BadParameter(f"the game has {moves} moves, not {move}", param_hint="--move")
        position = game.position(ply)
        if position.is_game_over():
            raise typer.BadParameter(f"the game is over after {move} moves", param_hint="--move")
        kept = self._analysed(game.analyses[ply], position, is_measured=True)
        if save:
            source.keep(number or 1, game.with_analysis(ply, kept))
            source.save()
        return texts.position_json(kept, position)

    def studied(self, path: Path, number: int) -> StudiedGame:
        """Return a game of a file with an analysis of each position; those that the file holds are taken.

        Raises usage errors, `RecordError` and `Interrupted`.
        """
        (source,) = _opened_files([path], save=False)
        game = game_at(source.games, number, path)
        with self._context.reporter.task("analysis", len(game.analyses), "positions") as task:
            for ply, position in enumerate(game.record.positions()):
                if ply >= game.record.set_up and not position.is_game_over():
                    game = game.with_analysis(ply, self._analysed(game.analyses[ply], position))
                task.update(ply + 1)
        return game

    def analyse_stdin(self, *, as_json: bool) -> None:
        """Print a line for each position on stdin.

        A line that is no position is reported, and the others are analysed; then the command ends as for bad data.
        Raises `PositionLineError` for bytes that are no text.
        """
        rules = self._own_rules()
        self._open(rules)
        if not as_json:
            echo(texts.COLUMNS)
        is_bad = False
        for number, position in stdin_positions(rules):
            if isinstance(position, PositionLineError):
                echo(f"gomoku: {position}", err=True)
                is_bad = True
                continue
            kept = self._analysed(None, position)
            if as_json:
                echo_json({"line": number} | texts.position_json(kept, position))
            else:
                echo(texts.position_text(kept, position))
        if is_bad:
            raise typer.Exit(ExitCode.BAD_DATA)

    def analyse_files(self, paths: Sequence[Path], only: int | None, work: GameOptions, *, as_json: bool) -> None:
        """Print a line for each position of the games, or of one in each file. Raises a usage error, and `RecordError`.

        One unreadable file of several is reported, and the others are analysed; then the command ends as for it alone.
        """
        files = _opened_files(paths, save=work.save)
        chosen = [
            (source, number) for source in files for number in ([only] if only else range(1, len(source.games) + 1))
        ]
        total = sum(len(game_at(source.games, number, source.path).analyses) for source, number in chosen)
        # On a terminal the lines themselves are the progress, and a bar would break them.
        reporter = Quiet() if sys.stdout.isatty() else self._context.reporter
        with reporter.task("analysis", total, "positions") as task:
            done, finished = 0, []
            try:
                for source, number in chosen:
                    self._analyse_game(source, number, task, done, review=work.review, as_json=as_json)
                    finished.append(source.games[number - 1])
                    done += len(finished[-1].analyses)
                    if work.save and source.should_save(is_last=number == len(source.games)):
                        source.save()
                    self._context.check()
            finally:  # a full stdout, or a stop, must not cost the analyses
                for source in files if work.save else ():
                    source.save()
                if work.review and not as_json and len(finished) > 1:
                    echo("\n".join(("", *texts.accuracy_text(finished))))
        if len(files) < len(paths):
            raise typer.Exit(ExitCode.BAD_DATA)

    def _analyse_game(
        self, source: "_Source", number: int, task: Task, done: int, *, review: bool, as_json: bool
    ) -> None:
        """Print the lines of one game, and keep the game with its analyses in its file's place."""
        path, games = source.path, source.games
        record, place = games[number - 1].record, {"file": str(path), "game": number}
        self._open(record.rules)  # a mistake in its name comes before the heading
        if not as_json:
            echo(texts.heading(record, f"{path}, game {number}" if len(games) > 1 else str(path)))
            echo(texts.COLUMNS)
        for ply, position in enumerate(record.positions()):
            if position.is_game_over():
                break
            if ply < record.set_up:
                continue
            before = games[number - 1].analyses[ply]
            kept = self._analysed(before, position)
            if kept is not before:
                source.keep(number, games[number - 1].with_analysis(ply, kept))
            task.update(done + ply + 1)
            move = review_of(games[number - 1]).moves[ply - 1] if review and ply else None
            if as_json:
                echo_json(place | {"ply": ply} | texts.position_json(kept, position, move))
            else:
                echo(texts.position_text(kept, position, move, record.set_up))
        if review and as_json:
            echo_json(place | {"review": texts.review_json(games[number - 1])})
        elif review:
            echo("\n".join(texts.review_text(games[number - 1])))

    def _analysed(self, kept: KeptAnalysis | None, position: Position, *, is_measured: bool = False) -> KeptAnalysis:
        """Return the analysis that a file has, if it stands for the one that is asked for; else make one.

        `is_measured`: its time shall be that of the search alone. Raises `Interrupted`.
        """
        if kept is not None and self._takes_any:
            return kept
        opened = self._open(position.rules)
        if kept is not None and (kept.player, kept.limit) == (opened.name, opened.limit):
            return kept
        if is_measured:
            opened.engine.analysis(position, Limit(nodes=2)).wait()  # compiles, loads and prepares everything
        with opened.engine.analysis(position, opened.limit, lines=self._lines) as analysis:
            for _ in analysis:
                self._context.check()
        return KeptAnalysis(analysis=analysis.wait(), player=opened.name, limit=opened.limit)

    def _own_rules(self) -> Rules:
        """Return the rules of positions without a game: the given ones, else those of the player."""
        has_none = self._spec is None and self._rules.given
        return self._rules.resolve(() if has_none else (self._spec or player_names.DEFAULT,))

    def _open(self, rules: Rules) -> _Opened:
        """Return the player for these rules. Raises `PlayerSpecError` and a usage error."""
        if rules not in self._opened:
            spec = player_names.DEFAULT if self._spec is None else self._spec
            if self._spec is None and (model := model_path(spec)) is not None and not read_info(model).plays(rules):
                spec = player_names.MENTOR
                self._context.reporter.say(f"the built-in model does not play {rules}: the mentor analyses")
            self._search.check_effect((spec,))
            engine = Engine(parse_player(spec, rules=rules, settings=self._settings))
            if engine.limit is None:
                raise typer.BadParameter(
                    f"{spec} tells no more than its move: models, mentor and pure-mcts:N analyse", param_hint="--player"
                )
            name = spec if self._settings.tactics else f"{spec} without tactics"
            self._opened[rules] = _Opened(engine, name, engine.limit)
        return self._opened[rules]


class _Source:
    """A file of games, and its games with their analyses so far."""

    def __init__(self, file: GamesFile) -> None:
        self.path, self._file = file.path, file
        self.games = [StudiedGame.from_record(record) for record in file.games]
        self._changed: dict[int, StudiedGame] = {}
        self._saved_at, self._save_s = 0.0, 0.0

    def keep(self, number: int, game: StudiedGame) -> None:
        """Put a game with more analyses in its place; numbers start at 1."""
        self.games[number - 1] = self._changed[number - 1] = game

    def should_save(self, *, is_last: bool) -> bool:
        """Return True after the last game, and while saving takes a small part of the time."""
        return is_last or time.monotonic() - self._saved_at > _SAVING_SHARE * self._save_s

    def save(self) -> None:
        """Write the new analyses into the file. Raises `RecordError` and `OSError`."""
        if self._changed:
            started = time.monotonic()
            changed, self._changed = self._changed, {}
            self._file = annotate(self._file, changed)
            self._saved_at = time.monotonic()
            self._save_s = self._saved_at - started


def _opened_files(paths: Sequence[Path], *, save: bool) -> list[_Source]:
    """Return the readable files. Raises a usage error for one that cannot hold analyses."""
    for path in paths if save else ():
        if not is_sgf(path):
            raise typer.BadParameter(f"{path}: analyses are kept in .sgf files alone", param_hint="--save")
    return [_Source(file) for file in open_each(paths)]
