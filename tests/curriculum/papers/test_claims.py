"""Claims of the papers: our figures are those of the pages, and a check finds a difference."""

import json
from dataclasses import replace

import pytest

from core.rules import Rules
from curriculum.arena.players import PlayerSettings, parse_player
from curriculum.papers import claims
from curriculum.papers.claims import Claim, Measured, agree, load_claims, measure, parse_tally
from curriculum.presets import resolve
from curriculum.reporting import Context, Interrupted
from gomoku_cli import app
from gomoku_cli.exit_codes import ExitCode
from tests.support.commands import Capsys
from tests.support.project import ROOT


def test_the_figures_are_those_of_the_pages() -> None:
    every = load_claims()
    assert {claim.paper for claim in every} == {"A", "Y", "S"}
    for paper in "AYS":
        page = (ROOT / "docs" / "papers" / f"{paper.lower()}.md").read_text(encoding="utf-8")
        claims = load_claims(paper)
        assert claims == [claim for claim in every if claim.paper == paper]
        assert [claim for claim in claims if claim.here not in page] == []
    for preset in {claim.preset for claim in every if claim.preset}:
        assert resolve(preset).rules.size
    matches = [claim for claim in every if not claim.preset]
    assert all(parse_tally(claim.here).games == claim.games for claim in matches)
    for size, connect, player in {(m.size, m.connect, each) for m in matches for each in (m.player, m.opponent)}:
        parse_player(player, rules=Rules(size, connect), settings=PlayerSettings())


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("95-0-5", "90-0-10", True),
        ("95-0-5", "75-0-25", False),
        ("20-0-0", "17-0-3", True),
        ("20-0-0", "8-0-12", False),
    ],
)
def test_results_agree_as_far_as_chance_explains(first: str, second: str, same: bool) -> None:
    assert agree(parse_tally(first), parse_tally(second)) is same
    assert agree(parse_tally(second), parse_tally(first)) is same


def test_a_number_of_parameters_is_counted() -> None:
    claim = Claim(paper="S", text="base net", stated="", here="131,132", preset="s-basic")
    assert (measure(claim, 1, Context()).now, measure(claim, 1, Context()).agrees) == ("131,132", True)
    assert not measure(replace(claim, here="131,133"), 1, Context()).agrees


def test_a_match_is_played_again() -> None:
    claim = Claim(
        paper="A", text="random", stated="", here="10-0-0", player="mentor:2", opponent="random", size=9, games=10
    )
    found = measure(claim, 3, Context())
    assert (found.now, found.agrees) == ("10-0-0", True)
    assert not measure(replace(claim, player="random", opponent="mentor:2"), 3, Context()).agrees


def test_an_interrupted_check_prints_the_claims_that_are_measured(
    capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    def measured(claim: Claim, seed: int, context: Context) -> Measured:
        if claim != load_claims("A")[0]:
            raise Interrupted
        return Measured(claim, claim.here, True)

    monkeypatch.setattr(claims, "measure", measured)
    assert app.run(["papers", "check", "A", "--json", "--quiet"]) == ExitCode.INTERRUPTED
    (only,) = json.loads(capsys.readouterr().out)["claims"]
    assert (only["now"], only["agrees"]) == ("147,053", True)
