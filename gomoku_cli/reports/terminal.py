"""Reports on the terminal: tables of matches, tournaments, ladders and suites."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from gomoku_cli.console import STDOUT, duration
from gomoku_cli.printable import printable
from gomoku_cli.reports.texts import (
    FORFEIT_COLUMNS,
    PAIR_SCORES,
    RUNG_COLUMNS,
    STANDING_COLUMNS,
    SUITE_COLUMNS,
    Json,
    cross_table,
    elo_interval,
    elo_text,
    forfeit_rows,
    is_round_robin,
    kind_rows,
    ladder_result,
    los_text,
    missed_position,
    move_time,
    pair_counts,
    result_counts,
    rung_row,
    score_interval,
    standing_row,
    suite_title,
    unusual_rules,
    versus,
)

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text


def cell_text(text: str) -> "Text":
    """Return `text` in characters that the terminal can show; nothing in it is markup."""
    from rich.text import Text

    return Text(printable(text).encode(STDOUT.encoding, "replace").decode(STDOUT.encoding), overflow="fold")


def table(
    columns: Iterable[str],
    rows: Iterable[Sequence[str]],
    *,
    left: int = 1,
    title: str | None = None,
    ascii_only: bool = False,
) -> "Table":
    """Return a table whose first `left` columns are words and whose other ones are numbers."""
    from rich import box
    from rich.table import Table

    edges = box.ASCII if ascii_only else box.HEAVY_HEAD
    made = Table(title=None if title is None else cell_text(title), title_justify="left", box=edges)
    for number, column in enumerate(columns):
        made.add_column(cell_text(column), justify="left" if number < left else "right", overflow="fold")
    for row in rows:
        made.add_row(*map(cell_text, row))
    return made


def show_bars(bars: Sequence[Json]) -> None:
    """Print each bar with its result; nothing if there are none."""
    if not bars:
        return
    rows = [(bar["name"], bar["wanted"], bar["reached"], "met" if bar["met"] else "MISSED") for bar in bars]
    STDOUT.print(table(("bar", "required", "reached", ""), rows, left=4))


def show_match(match: Json) -> None:
    """Print the result of a match between two players."""
    rows = [
        (name, str(_games(tally)), *(str(tally[key]) for key in ("wins", "draws", "losses")), _score(tally))
        for name, tally in (("in all", match), ("as black", match["as_black"]), ("as white", match["as_white"]))
    ]
    columns = ("", "games", "wins", "draws", "losses", "score")
    STDOUT.print(table(columns, rows, title=versus(match) + unusual_rules(match)))
    print_facts(_match_facts(match))
    _show_forfeits([match])


def _games(tally: Json) -> int:
    return int(tally["wins"] + tally["draws"] + tally["losses"])


def _score(tally: Json) -> str:
    games = _games(tally)
    return f"{(tally['wins'] + tally['draws'] / 2) / games:.3f}" if games else "-"


def _match_facts(match: Json) -> list[tuple[str, str]]:
    """Return a title and a text for each fact about a match other than its counts."""
    facts = [
        ("score", f"{match['score']:.3f} (95 %: {score_interval(match)})"),
        ("Elo", f"{elo_text(match, 'inf')} (95 %: {elo_interval(match, 'inf')})"),
        ("LOS", f"{los_text(match)}, the likelihood of superiority"),
        ("pairs", f"{pair_counts(match)} of {PAIR_SCORES} points"),
    ]
    if match["los"] is None:
        facts = [("Elo", "unknown: no opening has both games finished")]
    facts.append(("games", f"{match['distinct_games']} distinct, {match['mean_plies']:.1f} moves on average"))
    players = (match["player"], match["opponent"])
    times = zip(match["mean_move_seconds"], match["longest_move_seconds"], strict=True)
    for title, name, (mean, longest) in zip(("a move", ""), players, times, strict=True):
        facts.append((title, f"{move_time(mean)}, the longest {move_time(longest)}: {name}"))
    if match["seconds"]:
        facts.append(("took", duration(match["seconds"])))
    return facts


def print_facts(facts: Iterable[tuple[str, str]]) -> None:
    """Print a title and a text a line."""
    from rich.table import Table

    grid = Table.grid(padding=(0, 2))
    for title, fact in facts:
        grid.add_row(cell_text(title), cell_text(fact))
    STDOUT.print(grid)


def show_standings(standings: Sequence[Json], matches: Sequence[Json]) -> None:
    """Print a tournament's standings, and the results of its players against each other."""
    rows = [standing_row(place, standing) for place, standing in enumerate(standings, start=1)]
    STDOUT.print(table(STANDING_COLUMNS, rows, left=2, title="Standings"))
    if is_round_robin(standings, matches):
        header, *crosses = cross_table(standings, matches)
        STDOUT.print(table(header, crosses, left=2, title="Points against each"))
    else:
        # A gauntlet: its first player plays all matches.
        meetings = [_meeting(match) for match in matches]
        STDOUT.print(table(_MEETING_COLUMNS, meetings, title=f"{matches[0]['player']} against each"))
    _show_forfeits(matches)


_MEETING_COLUMNS = ("opponent", "W / D / L", "score", "Elo", "95 %", "LOS")


def _meeting(match: Json) -> tuple[str, ...]:
    """Return the cells of `_MEETING_COLUMNS`: those that a terminal has room for."""
    return (
        match["opponent"],
        result_counts(match),
        f"{match['score']:.3f}",
        elo_text(match, "inf"),
        elo_interval(match, "inf"),
        los_text(match),
    )


def _show_forfeits(matches: Sequence[Json]) -> None:
    if forfeits := forfeit_rows(matches):
        STDOUT.print(table(FORFEIT_COLUMNS, forfeits, left=4, title="Forfeits"))


def show_ladder(ladder: Json) -> None:
    """Print the rungs of a ladder against pure MCTS."""
    title = f"{ladder['player']} against pure MCTS"
    STDOUT.print(table(RUNG_COLUMNS, map(rung_row, ladder["rungs"]), left=0, title=title))
    STDOUT.print(ladder_result(ladder), highlight=False, markup=False)
    _show_forfeits(ladder["rungs"])


_MAX_MISSED = 10
"""Show no more missed positions one by one."""


def show_suite(suite: Json) -> None:
    """Print the share of a suite that a player solved, by kind, and the missed positions if they are few."""
    STDOUT.print(table(SUITE_COLUMNS, kind_rows(suite), title=suite_title(suite)))
    print_facts([("took", duration(suite["seconds"]))])
    if len(suite["missed"]) > _MAX_MISSED:
        STDOUT.print(f"{len(suite['missed'])} were missed; --json names them", highlight=False, markup=False)
        return
    for missed in suite["missed"]:
        STDOUT.print(missed_position(missed), highlight=False, markup=False)
