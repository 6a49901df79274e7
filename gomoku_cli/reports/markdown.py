"""Reports in GitHub's Markdown: matches, tournaments, ladders and suites."""

import re
from collections.abc import Iterable, Sequence

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

_SPECIAL = re.compile(r"[\\`*_\[\]<>#|~$&]")


def _escape(text: str) -> str:
    """Return `text` escaped, so that GitHub shows every character, in a table too."""
    return _SPECIAL.sub(r"\\\g<0>", printable(text))


def _escaped(cells: Iterable[str]) -> list[str]:
    return [_escape(cell) for cell in cells]


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, left: int = 1) -> list[str]:
    """Return the lines of a table; its first `left` columns are words and its other ones numbers."""
    rules = ["---" if number < left else "---:" for number in range(len(columns))]
    lines = [columns, rules, *rows]
    return [*(f"| {' | '.join(line)} |" for line in lines), ""]


_STRENGTH_COLUMNS = ("player", "opponent", "games", "W / D / L", "score", "95 %", "Elo", "95 %", "LOS")


def _strength(match: Json) -> tuple[str, ...]:
    """Return the cells of `_STRENGTH_COLUMNS`."""
    return (
        match["player"],
        match["opponent"],
        str(match["games"]),
        result_counts(match),
        f"{match['score']:.3f}",
        score_interval(match),
        elo_text(match, "∞"),
        elo_interval(match, "∞"),
        los_text(match),
    )


_COURSE_COLUMNS = (
    "match",
    "as black",
    "as white",
    f"pairs of {PAIR_SCORES} points",
    "distinct games",
    "moves a game",
    "a move",
    "opponent's",
)


def _course(match: Json) -> tuple[str, ...]:
    """Return the cells of `_COURSE_COLUMNS`."""
    times = zip(match["mean_move_seconds"], match["longest_move_seconds"], strict=True)
    return (
        versus(match) + unusual_rules(match),
        result_counts(match["as_black"]),
        result_counts(match["as_white"]),
        pair_counts(match),
        str(match["distinct_games"]),
        f"{match['mean_plies']:.1f}",
        *(f"{move_time(mean)} (longest {move_time(longest)})" for mean, longest in times),
    )


def match_markdown(title: str, matches: Sequence[Json], standings: Sequence[Json], bars: Sequence[Json]) -> str:
    """Return a report about matches: bars first, then standings, then each match, then forfeits."""
    lines = [f"## {_escape(title)}", "", *_bars(bars)]
    if standings:
        places = [standing_row(place, standing) for place, standing in enumerate(standings, start=1)]
        lines += ["### Standings", "", *_table(STANDING_COLUMNS, map(_escaped, places), left=2)]
        if is_round_robin(standings, matches):
            header, *crosses = cross_table(standings, matches)
            lines += ["### Points against each", "", *_table(header, map(_escaped, crosses), left=2)]
    if matches:
        strengths = [_escaped(_strength(match)) for match in matches]
        heading = ["### Matches", ""] if standings else []
        lines += [*heading, *_table(_STRENGTH_COLUMNS, strengths, left=2)]
        lines += _table(_COURSE_COLUMNS, [_escaped(_course(match)) for match in matches])
    lines += ["W / D / L: wins, draws and losses. LOS: likelihood of superiority. 95 %: interval.", ""]
    return "\n".join([*lines, *_forfeits(matches)])


def ladder_markdown(ladder: Json) -> str:
    """Return a report about a ladder against pure MCTS: its rungs, the highest one passed, and forfeits."""
    title = f"## {_escape(ladder['player'])} against pure MCTS"
    table = _table(RUNG_COLUMNS, map(rung_row, ladder["rungs"]), left=0)
    return "\n".join([title, "", *table, ladder_result(ladder), "", *_forfeits(ladder["rungs"])])


def suite_markdown(suite: Json, bars: Sequence[Json]) -> str:
    """Return a report about a suite: bars first, then the kinds of positions."""
    kinds = _table(SUITE_COLUMNS, map(_escaped, kind_rows(suite)))
    return "\n".join([f"## {_escape(suite_title(suite))}", "", *_bars(bars), *kinds])


def _bars(bars: Sequence[Json]) -> list[str]:
    rows = [("✅ pass" if bar["met"] else "❌ fail", bar["name"], bar["wanted"], bar["reached"]) for bar in bars]
    return _table(("", "bar", "required", "reached"), map(_escaped, rows), left=4) if bars else []


def _forfeits(matches: Sequence[Json]) -> list[str]:
    forfeits = forfeit_rows(matches)
    return ["### Forfeits", "", *_table(FORFEIT_COLUMNS, map(_escaped, forfeits), left=4)] if forfeits else []
