"""Reports on the terminal: tables of matches, tournaments, ladders and suites."""

from collections.abc import Iterable, Sequence
from typing import Literal

from rich import box
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from gomoku_cli.console import STDOUT, duration
from gomoku_cli.printable import printable
from gomoku_cli.reports import texts
from gomoku_cli.reports.texts import Json


def cell_text(text: str) -> Text:
    """Return `text` in characters that the terminal can show; nothing in it is markup."""
    return Text(printable(text).encode(STDOUT.encoding, "replace").decode(STDOUT.encoding), overflow="fold")


def table(
    columns: Iterable[str],
    rows: Iterable[Sequence[str]],
    *,
    left: int = 1,
    title: str | None = None,
    ascii_only: bool = False,
) -> Table:
    """Return a table whose first `left` columns are words and whose other ones are numbers."""
    edges = box.ASCII if ascii_only else box.HEAVY_HEAD
    made = Table(title=None if title is None else cell_text(title), title_justify="left", box=edges)
    for number, column in enumerate(columns):
        justify: Literal["left", "right"] = "left" if number < left else "right"
        made.add_column(cell_text(column), justify=justify, overflow="fold", no_wrap=number >= left)
    for row in rows:
        made.add_row(*map(cell_text, row))
    return made


def print_table(
    columns: Iterable[str], rows: Iterable[Sequence[str]], *, left: int = 1, title: str | None = None
) -> None:
    """Print a table."""
    show_table(table(columns, rows, left=left, title=title))


_MIN_WORDS = 10
"""Characters that a line of words needs in a column."""


def show_table(made: Table) -> None:
    """Print a table; row by row, with a line a cell, on a terminal that is too narrow for its columns."""
    columns = [[str(cell) for cell in (column.header, *column.cells)] for column in made.columns]
    widths = [max(map(cell_len, cells)) for cells in columns]
    least = (
        width if column.no_wrap else min(width, _MIN_WORDS) for column, width in zip(made.columns, widths, strict=True)
    )
    if sum(least) + 3 * len(columns) + 1 <= STDOUT.width:
        STDOUT.print(made)
        return
    if made.title is not None:
        STDOUT.print(made.title)
    names, *rows = zip(*columns, strict=True)
    for row in rows:
        print_facts((name, cell) for name, cell in zip(names, row, strict=True) if cell)
        STDOUT.print()


def _show(report: texts.Table) -> None:
    """Print a table of a report, unless it is empty."""
    if report.rows:
        print_table(report.columns, report.rows, left=report.left, title=report.title)


def show_bars(bars: Sequence[Json]) -> None:
    """Print each bar with its result; nothing if there are none."""
    if not bars:
        return
    rows = [(bar["name"], bar["wanted"], bar["reached"], "met" if bar["met"] else "MISSED") for bar in bars]
    print_table(("bar", "required", "reached", ""), rows, left=4)


def show_match(match: Json) -> None:
    """Print the result of a match between two players."""
    rows = [
        (name, str(_games(tally)), *(str(tally[key]) for key in ("wins", "draws", "losses")), _score(tally))
        for name, tally in (("in all", match), ("as black", match["as_black"]), ("as white", match["as_white"]))
    ]
    columns = ("", "games", "wins", "draws", "losses", "score")
    print_table(columns, rows, title=texts.versus(match) + texts.unusual_rules(match))
    print_facts(_match_facts(match))
    _show(texts.forfeits([match]))


def _games(tally: Json) -> int:
    return int(tally["wins"] + tally["draws"] + tally["losses"])


def _score(tally: Json) -> str:
    games = _games(tally)
    return f"{(tally['wins'] + tally['draws'] / 2) / games:.3f}" if games else "-"


def _match_facts(match: Json) -> list[tuple[str, str]]:
    """Return a title and a text for each fact about a match other than its counts."""
    facts = [
        ("score", f"{match['score']:.3f} (95 %: {texts.score_interval(match)})"),
        ("Elo", f"{texts.elo_text(match, 'inf')} (95 %: {texts.elo_interval(match, 'inf')})"),
        ("LOS", f"{texts.los_text(match)}, the likelihood of superiority"),
        ("pairs", f"{texts.pair_counts(match)} of {texts.PAIR_SCORES} points"),
    ]
    if match["los"] is None:
        facts = [("Elo", "unknown: no opening has both games finished")]
    facts.append(("games", f"{match['distinct_games']} distinct, {match['mean_plies']:.1f} moves on average"))
    players = (match["player"], match["opponent"])
    times = zip(match["mean_move_seconds"], match["longest_move_seconds"], strict=True)
    for title, name, (mean, longest) in zip(("a move", ""), players, times, strict=True):
        facts.append((title, f"{texts.move_time(mean)}, the longest {texts.move_time(longest)}: {name}"))
    if match["seconds"]:
        facts.append(("took", duration(match["seconds"])))
    return facts


def print_facts(facts: Iterable[tuple[str, str]]) -> None:
    """Print a title and a text a line."""
    grid = Table.grid(padding=(0, 2))
    for title, fact in facts:
        grid.add_row(cell_text(title), cell_text(fact))
    STDOUT.print(grid)


def show_standings(standings: Sequence[Json], matches: Sequence[Json]) -> None:
    """Print a tournament's standings, and the results of its players against each other."""
    for each in texts.standings_tables(standings, matches):
        _show(each)
    if not texts.is_round_robin(standings, matches):
        # A gauntlet: its first player plays all matches.
        columns = ("opponent", "W / D / L", "score", "Elo", "95 %", "LOS")
        _show(texts.Table(f"{matches[0]['player']} against each", columns, list(map(_meeting, matches))))
    _show(texts.forfeits(matches))


def _meeting(match: Json) -> tuple[str, ...]:
    """Return the cells of a match for which a terminal has room."""
    counts, score, _, *elo_and_los = texts.strength_cells(match, "inf")
    return match["opponent"], counts, score, *elo_and_los


def show_ladder(ladder: Json) -> None:
    """Print the rungs of a ladder against pure MCTS."""
    _show(texts.ladder_table(ladder))
    STDOUT.print(texts.ladder_result(ladder), highlight=False, markup=False)
    _show(texts.forfeits(ladder["rungs"]))


_MAX_MISSED = 10
"""Show no more missed positions one by one."""


def show_suite(suite: Json) -> None:
    """Print the share of a suite that a player solved, by kind, and the missed positions if they are few."""
    _show(texts.suite_table(suite))
    print_facts([("took", duration(suite["seconds"]))])
    if len(suite["missed"]) > _MAX_MISSED:
        STDOUT.print(f"{len(suite['missed'])} were missed; --json names them", highlight=False, markup=False)
        return
    for missed in suite["missed"]:
        STDOUT.print(texts.missed_position(missed), highlight=False, markup=False)
