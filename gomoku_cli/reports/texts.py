"""Texts of reports: the cells, rows and lines that the terminal, Markdown and JUnit share.

All reports are made from the JSON of the commands: a match is `MatchResult.to_json()`, a standing
`Standing.to_json()`, a ladder `Ladder.to_json()`, a bar `Bar.to_json()`. Names and reasons may come from other
programs: characters that could drive a terminal or break a file are escaped (`gomoku_cli.printable`).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from core.rules import Rules, Variant
from gomoku_cli.printable import printable

Json = Mapping[str, Any]


class Table(NamedTuple):
    """A table of a report; its first `left` columns are words, and its other ones numbers."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: int = 1


PAIR_SCORES = "0 / 0.5 / 1 / 1.5 / 2"
"""The first player's points in the five classes of pairs of games."""


def versus(match: Json) -> str:
    """Return `new against old`."""
    return printable(f"{match['player']} against {match['opponent']}")


def unusual_rules(match: Json) -> str:
    """Return `: exactly 5 in a row on 15x15` for a match with its rules; nothing for the usual ones."""
    rules = Rules(**match["rules"]) if "rules" in match else Rules()
    return "" if rules == Rules() else f": {rules}"


def result_counts(tally: Json) -> str:
    """Return `12 / 3 / 5`: wins, draws and losses."""
    return f"{tally['wins']} / {tally['draws']} / {tally['losses']}"


def _points(tally: Json) -> str:
    """Return `12.5`: a draw is half a point."""
    return f"{tally['wins'] + tally['draws'] / 2:g}"


def _number(elo: float | None, unbounded: str) -> str:
    return unbounded if elo is None else f"{round(elo):+d}"


def elo_text(match: Json, infinity: str) -> str:
    """Return the Elo difference: `+85`, `+inf` after a clean sweep, or `unknown`."""
    if match["los"] is None:
        return "unknown"
    # Null is a clean sweep, of one side or the other.
    return _number(match["elo"], f"+{infinity}" if match["los"] > 0.5 else f"-{infinity}")


def elo_interval(match: Json, infinity: str) -> str:
    """Return the 95 % interval of the Elo difference: `+12 to +inf`."""
    low, high = match["elo_interval"]
    return f"{_number(low, f'-{infinity}')} to {_number(high, f'+{infinity}')}"


def score_interval(match: Json) -> str:
    """Return the 95 % interval of the score: `0.512 to 0.700`."""
    low, high = match["score_interval"]
    return f"{low:.3f} to {high:.3f}"


def los_text(match: Json) -> str:
    """Return the likelihood of superiority: `97.5 %` or `unknown`."""
    return "unknown" if match["los"] is None else f"{100 * match['los']:.1f} %"


def strength_cells(match: Json, infinity: str) -> tuple[str, ...]:
    """Return the result of a match as six cells: W / D / L, score, its interval, Elo, its interval, and LOS."""
    return (
        result_counts(match),
        f"{match['score']:.3f}",
        score_interval(match),
        elo_text(match, infinity),
        elo_interval(match, infinity),
        los_text(match),
    )


def pair_counts(match: Json) -> str:
    """Return the numbers of pairs in the five classes; a match without pairs counts single games."""
    return "no pairs" if match["pairs"] is None else " / ".join(map(str, match["pairs"]))


def move_time(seconds: float) -> str:
    """Return a time a move: `4.2 ms`, `0.31 s` or `12 s`."""
    if seconds < 0.1:
        return f"{1000 * seconds:.1f} ms"
    return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.0f} s"


def is_round_robin(standings: Sequence[Json], matches: Sequence[Json]) -> bool:
    """Return True if each player met each other one."""
    return len(matches) == len(standings) * (len(standings) - 1) // 2


def standings_tables(standings: Sequence[Json], matches: Sequence[Json]) -> list[Table]:
    """Return a tournament's standings, and each player's points against each other one if all met each other."""
    rows = []
    for place, standing in enumerate(standings, start=1):
        low, high = standing["elo_interval"]
        elo, interval = _number(standing["elo"], ""), f"{_number(low, '')} to {_number(high, '')}"
        counts = (str(standing["games"]), result_counts(standing), f"{standing['score']:.3f}")
        rows.append((str(place), standing["player"], elo, interval, *counts))
    tables = [Table("Standings", ("", "player", "Elo", "95 %", "games", "W / D / L", "score"), rows, 2)]
    if not is_round_robin(standings, matches):
        return tables
    points = {}
    for match in matches:
        points[match["player"], match["opponent"]] = _points(match)
        points[match["opponent"], match["player"]] = _points({**match, "wins": match["losses"]})
    names = [standing["player"] for standing in standings]
    crosses = [
        (str(place), name, *("x" if name == other else points.get((name, other), "") for other in names))
        for place, name in enumerate(names, start=1)
    ]
    places = (str(place) for place in range(1, len(names) + 1))
    return [*tables, Table("Points against each", ("", "player", *places), crosses, 2)]


def forfeits(matches: Iterable[Json]) -> Table:
    """Return the games that were lost otherwise than on the board."""
    rows = [
        (
            str(forfeit["game"]),
            forfeit["player"],
            match["opponent"] if forfeit["player"] == match["player"] else match["player"],
            forfeit["why"],
        )
        for match in matches
        for forfeit in match["forfeits"]
    ]
    return Table("Forfeits", ("game", "lost by", "against", "why"), rows, 4)


def ladder_table(ladder: Json) -> Table:
    """Return the rungs of a ladder."""
    rows = []
    for rung in ladder["rungs"]:
        mine, theirs = rung["mean_move_seconds"]
        counts = (str(rung[key]) for key in ("wins", "draws", "losses", "distinct_games"))
        ratio = f"{mine / theirs:.2f}" if theirs else "-"
        rows.append((f"{rung['playouts']:,}", *counts, move_time(mine), move_time(theirs), ratio))
    columns = ("playouts", "wins", "draws", "losses", "distinct", "a move", "opponent's", "ratio")
    return Table(f"{ladder['player']} against pure MCTS", columns, rows, 0)


def ladder_result(ladder: Json) -> str:
    """Return the rule of the ladder and the highest rung that the player passed."""
    stop_at, rungs = ladder["stop_at"], ladder["rungs"]
    rule = f"A rung is passed with more than {stop_at} wins of {rungs[0]['games']}; a draw is no win."
    passed = ladder["passed"]
    return f"{rule} " + ("None was passed." if passed is None else f"Highest rung passed: {passed:,} playouts.")


def suite_table(suite: Json) -> Table:
    """Return the solved positions of each kind, and of all."""
    rows = [
        (kind, str(tally["solved"]), str(tally["positions"]), f"{100 * tally['solved'] / tally['positions']:.1f} %")
        for kind, tally in (*suite["kinds"].items(), ("all", suite))
    ]
    return Table(suite_title(suite), ("kind", "solved", "positions", "share"), rows)


def missed_position(missed: Json) -> str:
    """Return a line about a missed position."""
    return printable(f"missed  {missed['kind']}: {missed['played']} for {missed['answers']} after {missed['moves']}")


def suite_title(suite: Json) -> str:
    """Return the title of a report about a suite."""
    rule = "" if suite["variant"] == Variant.FREESTYLE else f", {suite['variant']}"
    return f"{suite['player']}: suite {suite['suite']}{rule}"
