"""Matches by an opening rule: players place stones and choose colours, and all results follow the colours."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.opening_rules import Choice, Opening, OpeningRule
from core.position import IllegalMoveError, Position
from core.records.formats import read_games
from core.rules import BLACK, EMPTY, WHITE, Rules
from curriculum.arena.fixtures import fixtures
from curriculum.arena.session import MatchSession, MatchSettings
from curriculum.arena.tournament import play_tournament
from curriculum.reporting import Context
from curriculum.run.locking import FolderError
from search.opening_choice import CANDIDATES
from search.players import Decision, RandomPlayer
from tests.support.players import OneByOne

RULES = Rules(7, 4)


class Valuing(OneByOne):
    """Has a value for each position, by its stones on the first row: White's stones count for White, twice."""

    def __init__(self, name: str, prefers: int = 1) -> None:
        self.name, self.prefers = name, prefers

    def value(self, position: Position) -> float:
        """Return the value for the side to move."""
        row = [colour for colour in position.stones[:7] if colour != EMPTY]
        worth = sum(2 if colour == WHITE else -1 for colour in row) / 20
        return self.prefers * worth * (1 if position.side_to_move == WHITE else -1)

    def decide(self, position: Position, seed: int, stop: Callable[[], bool]) -> Decision:
        """See `OneByOne`."""
        return Decision(position.legal_moves()[0], self.value(position))


class Adding(Valuing):
    """Places the first empty cells, and adds two stones where it may."""

    def choose_opening(self, position: Position, opening: Opening, **asked: Any) -> Choice | tuple[int, ...]:
        """See `Player`."""
        options = opening.options(position.ply)
        if not options:
            return tuple(position.legal_moves()[: opening.stones - position.ply])
        return Choice.MORE if Choice.MORE in options else Choice.BLACK


def test_stones_are_the_evenest_of_the_candidates_and_the_better_colour_is_taken() -> None:
    player, position, opening = Valuing("valuing"), Position(RULES), Opening(OpeningRule.SWAP2)
    asked: list[Sequence[Position]] = []
    whole = player.choose_batch
    player.choose_batch = lambda positions, **how: asked.append(positions) or whole(positions, **how)  # type: ignore
    placed = player.choose_opening(position, opening, seed=5)
    assert not isinstance(placed, Choice)
    assert (
        player.choose_opening(position, opening, seed=5) == placed != player.choose_opening(position, opening, seed=6)
    )
    candidates, finalists = asked[:2]
    assert len(candidates) == CANDIDATES > len(finalists)
    assert {each.ply for each in candidates} == {3}
    values = {tuple(each.moves): abs(player.value(each)) for each in candidates}
    assert values[placed] == min(values.values()) < max(values.values())
    assert sorted(values[tuple(each.moves)] for each in finalists) == sorted(values.values())[: len(finalists)]
    for moves, choice in (((0, 1, 20), Choice.WHITE), ((0, 20, 1), Choice.BLACK)):
        assert player.choose_opening(Position.from_moves(RULES, moves), opening, seed=1) is choice


@pytest.mark.parametrize("rule", [OpeningRule.SWAP, OpeningRule.SWAP2])
def test_the_colours_of_a_game_are_those_that_were_chosen(rule: OpeningRule) -> None:
    players = (Adding("adding"), Valuing("valuing", prefers=-1))
    games = fixtures(2, 8, openings=[()], seed=3, rule=rule)
    assert [(game.black, game.white) for game in games[:2]] == [(0, 1), (1, 0)], "the sides that begin"
    match = play_tournament(players, games, rules=RULES, context=Context()).matches[0, 1]
    for fixture, game in zip(games, match.games, strict=True):
        opening, stones = game.fixture.rule, game.fixture.opening
        assert stones == game.moves[: opening.stones]
        adding_begins = fixture.black == 0
        position = Position.from_moves(RULES, stones)
        if rule is OpeningRule.SWAP2 and not adding_begins:
            assert str(opening) in ("swap2 more white", "swap2 more black")
        else:
            assert str(opening) in (f"{rule} white", f"{rule} black")
            if not adding_begins:
                assert opening.choices == (Choice.BLACK,), "by swap the other one always takes Black"
        if adding_begins or rule is OpeningRule.SWAP2:
            chosen = Choice.WHITE if players[1].value(position) >= 0 else Choice.BLACK
            assert opening.choices[-1] is chosen
            assert (game.fixture.black == 1) == (chosen is Choice.BLACK)
        assert game.values[: len(stones)] == (None,) * len(stones)
        assert None not in game.values[len(stones) :]
    counted = {colour: sum(match.colour_in(game) == colour for game in match.games) for colour in (BLACK, WHITE)}
    assert (match.as_black.games, match.as_white.games) == (counted[BLACK], counted[WHITE])


def test_a_kept_match_by_an_opening_rule_goes_on_and_its_records_say_the_choices(tmp_path: Path) -> None:
    settings = MatchSettings(games=6, opening_rule=OpeningRule.SWAP2, seed=4)
    names = ("mentor:1", "random")

    def play(games: int) -> list[tuple[int, ...]]:
        session = MatchSession(replace(settings, games=games), RULES, Context())
        return [game.moves for game in session.play_match(names, folder=tmp_path).matches[0, 1].games]

    first = play(4)
    assert play(6)[:4] == first
    lines = {line["game"]: line for line in map(json.loads, (tmp_path / "games.jsonl").read_text().splitlines())}
    assert {line["opening"] for line in lines.values()} <= {3, 5}
    for record in read_games(tmp_path / "games.sgf"):
        line = lines[int(record.note.removeprefix("game "))]
        assert (str(record.opening), record.black, record.white) == (line["opening_rule"], line["black"], line["white"])
    (tmp_path / "games.jsonl").write_text(json.dumps({**lines[0], "opening_rule": "swap white"}) + "\n")
    with pytest.raises(FolderError, match="opening rule is another"):
        play(4)


def test_stones_stand_where_the_rule_says_or_the_game_cannot_go_on() -> None:
    games = fixtures(2, 4, openings=[()], seed=3, rule=OpeningRule.RIF)
    for game in play_tournament([RandomPlayer()] * 2, games, rules=RULES, context=Context()).matches[0, 1].games:
        assert game.moves[0] == RULES.cells // 2
        assert all(game.fixture.rule.allows(Position.from_moves(RULES, game.moves[:n]), game.moves[n]) for n in (1, 2))
    with pytest.raises(IllegalMoveError, match="in rif stone 1 stands at the centre"):
        play_tournament([Adding("adding")] * 2, games, rules=RULES, context=Context())
