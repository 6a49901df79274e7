"""JUnit reports for CI: a test case for each bar of a match, a tournament or a suite."""

from collections.abc import Sequence
from xml.etree import ElementTree

from gomoku_cli.printable import printable
from gomoku_cli.reports import texts
from gomoku_cli.reports.texts import Json


def match_junit(title: str, matches: Sequence[Json], bars: Sequence[Json], seconds: float) -> str:
    """Return a report about matches that took `seconds`: a test case for each bar, or a single case `played`.

    Results and forfeits are the suite's output, and part of each failure.
    """
    forfeits = (
        printable(f"game {game} was lost by {player} against {other} otherwise than on the board: {why}")
        for game, player, other, why in texts.forfeits(matches).rows
    )
    output = "\n".join((*map(_summary, matches), *forfeits))
    return _junit(title, output, bars or [{"name": "played", "met": True}], seconds)


def suite_junit(suite: Json, bars: Sequence[Json]) -> str:
    """Return a report about a suite, whose missed positions are the output."""
    output = "\n".join(
        (f"solved {suite['solved']} of {suite['positions']}", *map(texts.missed_position, suite["missed"]))
    )
    return _junit(texts.suite_title(suite), output, bars or [{"name": "solved", "met": True}], suite["seconds"])


def _junit(title: str, output: str, cases: Sequence[Json], seconds: float) -> str:
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
        # One measurement serves all bars, and readers of the file add the times up.
        time = f"{0 if number else seconds:.3f}"
        case = ElementTree.SubElement(
            suite, "testcase", {"classname": name, "name": printable(bar["name"]), "time": time}
        )
        if not bar["met"]:
            message = printable(f"{bar['name']}: {bar['reached']}, required {bar['wanted']}")
            failure = ElementTree.SubElement(case, "failure", {"message": message, "type": "bar"})
            failure.text = f"{message}\n{output}"
    ElementTree.SubElement(suite, "system-out").text = output
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _summary(match: Json) -> str:
    """Return a match in one line."""
    return (
        f"{texts.versus(match)}{texts.unusual_rules(match)}: "
        f"{match['wins']} wins, {match['draws']} draws, {match['losses']} losses, "
        f"score {match['score']:.3f}, Elo {texts.elo_text(match, 'inf')} (95 %: {texts.elo_interval(match, 'inf')}), "
        f"LOS {texts.los_text(match)}"
    )
