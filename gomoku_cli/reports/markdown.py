"""Reports in GitHub's Markdown: matches, tournaments, ladders and suites."""

import re
from collections.abc import Sequence

from gomoku_cli.printable import printable
from gomoku_cli.reports import texts
from gomoku_cli.reports.texts import Json

_SPECIAL = re.compile(r"[\\`*_\[\]<>#|~$&]")


def _escape(text: str) -> str:
    """Return `text` escaped, so that GitHub shows every character, in a table too."""
    return _SPECIAL.sub(r"\\\g<0>", printable(text))


def _table(table: texts.Table) -> list[str]:
    """Return the lines of a table without its title."""
    rules = ["---" if number < table.left else "---:" for number in range(len(table.columns))]
    lines = [table.columns, rules, *(map(_escape, row) for row in table.rows)]
    return [*(f"| {' | '.join(line)} |" for line in lines), ""]


def _titled(table: texts.Table) -> list[str]:
    return [f"### {table.title}", "", *_table(table)] if table.rows else []


_STRENGTH_COLUMNS = ("player", "opponent", "games", "W / D / L", "score", "95 %", "Elo", "95 %", "LOS")


def _strength(match: Json) -> tuple[str, ...]:
    """Return the cells of `_STRENGTH_COLUMNS`."""
    return match["player"], match["opponent"], str(match["games"]), *texts.strength_cells(match, "∞")


_COURSE_COLUMNS = (
    "match",
    "as black",
    "as white",
    f"pairs of {texts.PAIR_SCORES} points",
    "distinct games",
    "moves a game",
    "a move",
    "opponent's",
)


def _course(match: Json) -> tuple[str, ...]:
    """Return the cells of `_COURSE_COLUMNS`."""
    times = zip(match["mean_move_seconds"], match["longest_move_seconds"], strict=True)
    return (
        texts.versus(match) + texts.unusual_rules(match),
        texts.result_counts(match["as_black"]),
        texts.result_counts(match["as_white"]),
        texts.pair_counts(match),
        str(match["distinct_games"]),
        f"{match['mean_plies']:.1f}",
        *(f"{texts.move_time(mean)} (longest {texts.move_time(longest)})" for mean, longest in times),
    )


def match_markdown(title: str, matches: Sequence[Json], standings: Sequence[Json], bars: Sequence[Json]) -> str:
    """Return a report about matches: bars first, then standings, then each match, then forfeits."""
    lines = [f"## {_escape(title)}", "", *_bars(bars)]
    for table in texts.standings_tables(standings, matches) if standings else ():
        lines += _titled(table)
    if matches:
        lines += ["### Matches", ""] if standings else []
        lines += _table(texts.Table("", _STRENGTH_COLUMNS, list(map(_strength, matches)), 2))
        lines += _table(texts.Table("", _COURSE_COLUMNS, list(map(_course, matches))))
    lines += ["W / D / L: wins, draws and losses. LOS: likelihood of superiority. 95 %: interval.", ""]
    return "\n".join([*lines, *_titled(texts.forfeits(matches))])


def ladder_markdown(ladder: Json) -> str:
    """Return a report about a ladder against pure MCTS: its rungs, the highest one passed, and forfeits."""
    table = texts.ladder_table(ladder)
    lines = [f"## {_escape(table.title)}", "", *_table(table), texts.ladder_result(ladder), ""]
    return "\n".join([*lines, *_titled(texts.forfeits(ladder["rungs"]))])


def suite_markdown(suite: Json, bars: Sequence[Json]) -> str:
    """Return a report about a suite: bars first, then the kinds of positions."""
    table = texts.suite_table(suite)
    return "\n".join([f"## {_escape(table.title)}", "", *_bars(bars), *_table(table)])


def _bars(bars: Sequence[Json]) -> list[str]:
    rows = [("✅ pass" if bar["met"] else "❌ fail", bar["name"], bar["wanted"], bar["reached"]) for bar in bars]
    return _table(texts.Table("", ("", "bar", "required", "reached"), rows, 4)) if bars else []
