"""What matches came to, for people and for CI: tables on the terminal, Markdown, JUnit.

All are made from what the commands print with `--json`: a match is `MatchResult.to_json()`, a standing
`Standing.to_json()`, a ladder `Ladder.to_json()`. A bar has `name`, `wanted`, `reached` and whether it is `met`. Names
and reasons may come from other programs: what could steer a terminal or break a file is replaced.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from gomoku_cli.console import STDOUT, duration

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

Json = Mapping[str, Any]

_PAIR_SCORES = "0 / 0.5 / 1 / 1.5 / 2"
"""The first player's points in the pairs of games that are counted."""


def printable(text: str) -> str:
    """`text` on one line without control characters, lone surrogates and the like."""
    return "".join(
        letter if letter.isprintable() else " " if letter.isspace() else "\N{REPLACEMENT CHARACTER}" for letter in text
    )


# Words


def _versus(match: Json) -> str:
    return printable(f"{match['player']} against {match['opponent']}")


def _counts(tally: Json) -> str:
    """`12 / 3 / 5`: wins, draws and losses."""
    return f"{tally['wins']} / {tally['draws']} / {tally['losses']}"


def _points(tally: Json) -> str:
    """`12.5`: a draw is half a point."""
    return f"{tally['wins'] + tally['draws'] / 2:g}"


def _number(elo: float | None, unbounded: str) -> str:
    return unbounded if elo is None else f"{round(elo):+d}"


def _elo(match: Json, infinity: str) -> str:
    if match["los"] is None:
        return "unknown"
    # Null is a clean sweep, of one side or the other.
    return _number(match["elo"], f"+{infinity}" if match["los"] > 0.5 else f"-{infinity}")


def _elo_interval(match: Json, infinity: str) -> str:
    low, high = match["elo_interval"]
    return f"{_number(low, f'-{infinity}')} to {_number(high, f'+{infinity}')}"


def _score_interval(match: Json) -> str:
    low, high = match["score_interval"]
    return f"{low:.3f} to {high:.3f}"


_STRENGTH_COLUMNS = ("player", "opponent", "games", "W / D / L", "score", "95 %", "Elo", "95 %", "LOS")


def _strength(match: Json, infinity: str) -> tuple[str, ...]:
    """What a match says of its players' strength."""
    return (
        match["player"],
        match["opponent"],
        str(match["games"]),
        _counts(match),
        f"{match['score']:.3f}",
        _score_interval(match),
        _elo(match, infinity),
        _elo_interval(match, infinity),
        _los(match),
    )


_STANDING_COLUMNS = ("", "player", "Elo", "95 %", "games", "W / D / L", "score")


def _standing(place: int, standing: Json) -> tuple[str, ...]:
    low, high = standing["elo_interval"]
    return (
        str(place),
        standing["player"],
        _number(standing["elo"], ""),
        f"{_number(low, '')} to {_number(high, '')}",
        str(standing["games"]),
        _counts(standing),
        f"{standing['score']:.3f}",
    )


def _los(match: Json) -> str:
    """The likelihood of superiority."""
    return "unknown" if match["los"] is None else f"{100 * match['los']:.1f} %"


def _pairs(match: Json) -> str:
    """The counts of the pairs of games; a match without pairs counts single games."""
    return "no pairs" if match["pairs"] is None else " / ".join(map(str, match["pairs"]))


def _each_met_each(standings: Sequence[Json], matches: Sequence[Json]) -> bool:
    return len(matches) == len(standings) * (len(standings) - 1) // 2


def _crosses(standings: Sequence[Json], matches: Iterable[Json]) -> list[list[str]]:
    """A cross table, its header first: a player's points against each, in the order of the standings."""
    points = {}
    for match in matches:
        points[match["player"], match["opponent"]] = _points(match)
        points[match["opponent"], match["player"]] = _points({**match, "wins": match["losses"]})
    names = [standing["player"] for standing in standings]
    rows = [
        [str(place), name, *("x" if name == other else points.get((name, other), "") for other in names)]
        for place, name in enumerate(names, start=1)
    ]
    return [["", "player", *(str(place) for place in range(1, len(names) + 1))], *rows]


def _time(seconds: float) -> str:
    """A time a move: `4.2 ms`, `0.31 s`, `12 s`."""
    if seconds < 0.1:
        return f"{1000 * seconds:.1f} ms"
    return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.0f} s"


def _ratio(times: Sequence[float]) -> str:
    mine, theirs = times
    return f"{mine / theirs:.2f}" if theirs else "-"


_FORFEIT_COLUMNS = ("game", "lost by", "against", "why")


def _forfeits(matches: Iterable[Json]) -> list[tuple[str, str, str, str]]:
    """The games that were not lost on the board."""
    return [
        (
            str(forfeit["game"]),
            forfeit["player"],
            match["opponent"] if forfeit["player"] == match["player"] else match["player"],
            forfeit["why"],
        )
        for match in matches
        for forfeit in match["forfeits"]
    ]


def _verdict(ladder: Json) -> str:
    stop_at, rungs = ladder["stop_at"], ladder["rungs"]
    rule = f"A rung is passed with more than {stop_at} wins of {rungs[0]['games']}; a draw is no win."
    passed = ladder["passed"]
    return f"{rule} " + ("None was passed." if passed is None else f"Highest rung passed: {passed:,} playouts.")


def _rung(rung: Json) -> tuple[str, ...]:
    mine, theirs = times = rung["mean_move_seconds"]
    return (
        f"{rung['playouts']:,}",
        *(str(rung[key]) for key in ("wins", "draws", "losses")),
        str(rung["distinct_games"]),
        _time(mine),
        _time(theirs),
        _ratio(times),
    )


_RUNG_COLUMNS = ("playouts", "wins", "draws", "losses", "distinct", "a move", "opponent's", "ratio")


# The terminal


def _text(text: str) -> "Text":
    """What others named, as the terminal can show it; nothing in it is markup."""
    from rich.text import Text

    return Text(printable(text).encode(STDOUT.encoding, "replace").decode(STDOUT.encoding), overflow="fold")


def _table(
    columns: Iterable[str], rows: Iterable[Sequence[str]], *, left: int = 1, title: str | None = None
) -> "Table":
    """A table whose first `left` columns are words and whose other ones are numbers."""
    from rich.table import Table

    table = Table(title=None if title is None else _text(title), title_justify="left")
    for number, column in enumerate(columns):
        table.add_column(_text(column), justify="left" if number < left else "right", overflow="fold")
    for row in rows:
        table.add_row(*map(_text, row))
    return table


def show_bars(bars: Sequence[Json]) -> None:
    """Prints which bars were met; nothing where there are none."""
    if not bars:
        return
    rows = [(bar["name"], bar["wanted"], bar["reached"], "met" if bar["met"] else "MISSED") for bar in bars]
    STDOUT.print(_table(("bar", "wanted", "reached", ""), rows, left=4))


def show_match(match: Json) -> None:
    """Prints what a match between two players came to."""
    rows = [
        (name, str(_games(tally)), *(str(tally[key]) for key in ("wins", "draws", "losses")), _score(tally))
        for name, tally in (("in all", match), ("as black", match["as_black"]), ("as white", match["as_white"]))
    ]
    columns = ("", "games", "wins", "draws", "losses", "score")
    STDOUT.print(_table(columns, rows, title=_versus(match)))
    _print_facts(_match_facts(match))
    _show_forfeits([match])


def _games(tally: Json) -> int:
    return int(tally["wins"] + tally["draws"] + tally["losses"])


def _score(tally: Json) -> str:
    games = _games(tally)
    return f"{(tally['wins'] + tally['draws'] / 2) / games:.3f}" if games else "-"


def _match_facts(match: Json) -> list[tuple[str, str]]:
    """What there is to say of a match beside its counts."""
    facts = [
        ("score", f"{match['score']:.3f} (95 %: {_score_interval(match)})"),
        ("Elo", f"{_elo(match, 'inf')} (95 %: {_elo_interval(match, 'inf')})"),
        ("LOS", f"{_los(match)}, the likelihood of superiority"),
        ("pairs", f"{_pairs(match)} of {_PAIR_SCORES} points"),
    ]
    if match["los"] is None:
        facts = [("Elo", "unknown: of no opening both games are over")]
    facts.append(("games", f"{match['distinct_games']} distinct, {match['mean_plies']:.1f} moves on average"))
    players = (match["player"], match["opponent"])
    times = zip(match["mean_move_seconds"], match["longest_move_seconds"], strict=True)
    for title, name, (mean, longest) in zip(("a move", ""), players, times, strict=True):
        facts.append((title, f"{_time(mean)}, the longest {_time(longest)}: {name}"))
    if match["seconds"]:
        facts.append(("took", duration(match["seconds"])))
    return facts


def _print_facts(facts: Iterable[tuple[str, str]]) -> None:
    from rich.table import Table

    grid = Table.grid(padding=(0, 2))
    for title, fact in facts:
        grid.add_row(_text(title), _text(fact))
    STDOUT.print(grid)


def show_standings(standings: Sequence[Json], matches: Sequence[Json]) -> None:
    """Prints a tournament's standings, and how those who met did against each other."""
    rows = [_standing(place, standing) for place, standing in enumerate(standings, start=1)]
    STDOUT.print(_table(_STANDING_COLUMNS, rows, left=2, title="Standings"))
    if _each_met_each(standings, matches):
        header, *crosses = _crosses(standings, matches)
        STDOUT.print(_table(header, crosses, left=2, title="Points against each"))
    else:
        # A gauntlet: its first player has all the matches.
        meetings = [_meeting(match) for match in matches]
        STDOUT.print(_table(_MEETING_COLUMNS, meetings, title=f"{matches[0]['player']} against each"))
    _show_forfeits(matches)


_MEETING_COLUMNS = ("opponent", "W / D / L", "score", "Elo", "95 %", "LOS")


def _meeting(match: Json) -> tuple[str, ...]:
    """A match of a gauntlet, as far as a terminal has room for it."""
    return (
        match["opponent"],
        _counts(match),
        f"{match['score']:.3f}",
        _elo(match, "inf"),
        _elo_interval(match, "inf"),
        _los(match),
    )


def _show_forfeits(matches: Sequence[Json]) -> None:
    if forfeits := _forfeits(matches):
        STDOUT.print(_table(_FORFEIT_COLUMNS, forfeits, left=4, title="Forfeits"))


def show_ladder(ladder: Json) -> None:
    """Prints the rungs of a climb against pure MCTS."""
    title = f"{ladder['player']} against pure MCTS"
    STDOUT.print(_table(_RUNG_COLUMNS, map(_rung, ladder["rungs"]), left=0, title=title))
    STDOUT.print(_verdict(ladder), highlight=False, markup=False)
    _show_forfeits(ladder["rungs"])


def show_suite(suite: Json) -> None:
    """Prints how much of a suite a player solved, kind by kind, and the positions missed if they are few."""
    STDOUT.print(_table(_SUITE_COLUMNS, _kinds(suite), title=suite["player"]))
    _print_facts([("took", duration(suite["seconds"]))])
    if len(suite["missed"]) > _MAX_MISSED:
        STDOUT.print(f"{len(suite['missed'])} were missed; --json names them", highlight=False, markup=False)
        return
    for missed in suite["missed"]:
        STDOUT.print(_miss(missed), highlight=False, markup=False)


_SUITE_COLUMNS = ("kind", "solved", "positions", "share")
_MAX_MISSED = 10
"""Missed positions that are shown one by one."""


def _kinds(suite: Json) -> list[tuple[str, ...]]:
    return [
        (kind, str(tally["solved"]), str(tally["positions"]), f"{100 * tally['solved'] / tally['positions']:.1f} %")
        for kind, tally in (*suite["kinds"].items(), ("all", suite))
    ]


def _miss(missed: Json) -> str:
    """A missed position in one line."""
    return f"missed  {missed['kind']}: {missed['played']} for {missed['answers']} after {missed['moves']}"


# Markdown

_SPECIAL = re.compile(r"[\\`*_\[\]<>#|~$&]")


def _escape(text: str) -> str:
    """`text` as GitHub shows it letter by letter, also in a cell of a table."""
    return _SPECIAL.sub(r"\\\g<0>", printable(text))


def _escaped(cells: Iterable[str]) -> list[str]:
    return [_escape(cell) for cell in cells]


def _markdown_table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, left: int = 1) -> list[str]:
    """The lines of a table; its first `left` columns are words and its other ones numbers."""
    rules = ["---" if number < left else "---:" for number in range(len(columns))]
    lines = [columns, rules, *rows]
    return [*(f"| {' | '.join(line)} |" for line in lines), ""]


def markdown(title: str, matches: Sequence[Json], standings: Sequence[Json], bars: Sequence[Json]) -> str:
    """A report in GitHub's Markdown: bars first, then standings, then each match, then forfeits."""
    lines = [f"## {_escape(title)}", "", *_markdown_bars(bars)]
    if standings:
        places = [_standing(place, standing) for place, standing in enumerate(standings, start=1)]
        lines += ["### Standings", "", *_markdown_table(_STANDING_COLUMNS, map(_escaped, places), left=2)]
        if _each_met_each(standings, matches):
            header, *crosses = _crosses(standings, matches)
            lines += ["### Points against each", "", *_markdown_table(header, map(_escaped, crosses), left=2)]
    if matches:
        strengths = [_escaped(_strength(match, "∞")) for match in matches]
        heading = ["### Matches", ""] if standings else []
        lines += [*heading, *_markdown_table(_STRENGTH_COLUMNS, strengths, left=2)]
        lines += _markdown_table(_COURSE_COLUMNS, [_escaped(_course(match)) for match in matches])
    lines += ["W / D / L: wins, draws and losses. LOS: likelihood of superiority. 95 %: interval.", ""]
    return "\n".join([*lines, *_markdown_forfeits(matches)])


def ladder_markdown(ladder: Json) -> str:
    """A climb against pure MCTS in GitHub's Markdown: its rungs, what was passed, and forfeits."""
    title = f"## {_escape(ladder['player'])} against pure MCTS"
    table = _markdown_table(_RUNG_COLUMNS, map(_rung, ladder["rungs"]), left=0)
    return "\n".join([title, "", *table, _verdict(ladder), "", *_markdown_forfeits(ladder["rungs"])])


def suite_markdown(suite: Json, bars: Sequence[Json]) -> str:
    """What a player made of a suite in GitHub's Markdown: bars first, then the kinds."""
    kinds = _markdown_table(_SUITE_COLUMNS, map(_escaped, _kinds(suite)))
    return "\n".join([f"## {_escape(suite_title(suite))}", "", *_markdown_bars(bars), *kinds])


def suite_title(suite: Json) -> str:
    """What a report about a suite is headed by."""
    return f"{suite['player']}: tactical suite"


def _markdown_bars(bars: Sequence[Json]) -> list[str]:
    met = [("✅ pass" if bar["met"] else "❌ fail", bar["name"], bar["wanted"], bar["reached"]) for bar in bars]
    return _markdown_table(("", "bar", "wanted", "reached"), map(_escaped, met), left=4) if bars else []


def _markdown_forfeits(matches: Sequence[Json]) -> list[str]:
    forfeits = _forfeits(matches)
    return ["### Forfeits", "", *_markdown_table(_FORFEIT_COLUMNS, map(_escaped, forfeits), left=4)] if forfeits else []


_COURSE_COLUMNS = (
    "match",
    "as black",
    "as white",
    f"pairs of {_PAIR_SCORES} points",
    "distinct games",
    "moves a game",
    "a move",
    "opponent's",
)


def _course(match: Json) -> tuple[str, ...]:
    """How the games of a match went."""
    times = zip(match["mean_move_seconds"], match["longest_move_seconds"], strict=True)
    return (
        _versus(match),
        _counts(match["as_black"]),
        _counts(match["as_white"]),
        _pairs(match),
        str(match["distinct_games"]),
        f"{match['mean_plies']:.1f}",
        *(f"{_time(mean)} (longest {_time(longest)})" for mean, longest in times),
    )


# JUnit


def junit(title: str, matches: Sequence[Json], bars: Sequence[Json], seconds: float) -> str:
    """A JUnit report: a test case a bar, or one that the games were played. `seconds` is how long they took.

    Results and forfeits are the suite's output, and stand beside each failure.
    """
    said = "\n".join((*map(_summary, matches), *_forfeit_lines(matches)))
    return _junit(title, said, bars or [{"name": "played", "met": True}], seconds)


def suite_junit(suite: Json, bars: Sequence[Json]) -> str:
    """The same of a tactical suite: what was missed is the output."""
    said = "\n".join((f"solved {suite['solved']} of {suite['positions']}", *map(_miss, suite["missed"])))
    return _junit(suite_title(suite), said, bars or [{"name": "solved", "met": True}], suite["seconds"])


def _junit(title: str, said: str, cases: Sequence[Json], seconds: float) -> str:
    counts = {
        "tests": str(len(cases)),
        "failures": str(sum(not case["met"] for case in cases)),
        "errors": "0",
        "skipped": "0",
        "time": f"{seconds:.3f}",
    }
    name = printable(title)
    root = ElementTree.Element("testsuites", {"name": name, **counts})
    suite = ElementTree.SubElement(root, "testsuite", {"name": name, **counts})
    for number, bar in enumerate(cases):
        # What is measured was done once for all bars: readers add the times up.
        time = f"{0 if number else seconds:.3f}"
        case = ElementTree.SubElement(
            suite, "testcase", {"classname": name, "name": printable(bar["name"]), "time": time}
        )
        if not bar["met"]:
            message = printable(f"{bar['name']}: {bar['reached']}, wanted {bar['wanted']}")
            failure = ElementTree.SubElement(case, "failure", {"message": message, "type": "bar"})
            failure.text = f"{message}\n{said}"
    ElementTree.SubElement(suite, "system-out").text = said
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _summary(match: Json) -> str:
    """A match in one line."""
    return (
        f"{_versus(match)}: {match['wins']} wins, {match['draws']} draws, {match['losses']} losses, "
        f"score {match['score']:.3f}, Elo {_elo(match, 'inf')} (95 %: {_elo_interval(match, 'inf')}), "
        f"LOS {_los(match)}"
    )


def _forfeit_lines(matches: Iterable[Json]) -> list[str]:
    return [
        printable(f"game {game} was lost by {player} against {other} otherwise than on the board: {why}")
        for game, player, other, why in _forfeits(matches)
    ]
