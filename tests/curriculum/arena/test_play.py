"""Matches: colours change in pairs, results belong to players, and openings differ from those of training."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from core.compiled.symmetry import targets
from core.notation import parse_cell
from core.position import Position
from core.records.openings import parse_openings
from core.records.record import RecordError
from core.rules import BLACK, WHITE, Rules, Variant
from curriculum.arena import opening_sets
from curriculum.arena.opening_sets import evaluation_openings, load_openings
from curriculum.arena.results import MatchResult, Tally
from curriculum.arena.statistics.elo import estimate, game_counts
from curriculum.arena.tournament import play_match
from search.players import Decision, Player, RandomPlayer
from tests.support.players import OneByOne

RULES = Rules(7, 4)
OPENINGS = [(24,), (25, 16), (0, 48, 6), (10, 30)]


class Scripted(OneByOne):
    """Plays the first empty one of its cells, in any colour; keeps all positions and seeds."""

    def __init__(self, name: str, cells: Sequence[int]) -> None:
        self.name, self.cells = name, list(cells)
        self.positions: list[tuple[int, ...]] = []
        self.seeds: list[int] = []

    def decide(self, position: Position, seed: int, stop: Callable[[], bool]) -> Decision:
        self.positions.append(tuple(position.moves))
        self.seeds.append(seed)
        return Decision(next(cell for cell in (*self.cells, *range(49)) if position.is_legal(cell)))


def builder(name: str = "builder") -> Scripted:
    """Makes a line of four along row 2 or row 6 as fast as can be."""
    return Scripted(name, [7, 8, 9, 10, 11, 12, 13, 35, 36, 37, 38])


def strewer() -> Scripted:
    """Never makes a line: its stones are knights' moves apart."""
    return Scripted("strewer", [48, 46, 44, 42, 33, 31, 29, 20])


def match(player: Player, opponent: Player, games: int = 8, **options: Any) -> MatchResult:
    options = {"rules": RULES, "openings": OPENINGS, "seed": 1} | options
    return play_match(player, opponent, games=games, **options)


def test_unpaired_games_take_the_openings_in_turn() -> None:
    player, opponent = builder(), strewer()
    match(player, opponent, games=4, paired=False)
    starts = {moves for moves in player.positions + opponent.positions if moves in OPENINGS}
    assert starts == set(OPENINGS)


def test_results_belong_to_players_not_to_colours() -> None:
    """The paper's repository counted colours after the swap (PAPERS 3.1, defect 6): a winner of all games got half."""
    won, lost = match(builder(), strewer()), match(strewer(), builder())
    assert won.as_black == won.as_white == Tally(wins=4)
    assert lost.as_black == lost.as_white == Tally(losses=4)
    assert (won.total, won.total.score) == (Tally(wins=8), 1.0)
    assert (lost.total, lost.total.score) == (Tally(losses=8), 0.0)
    for number, game in enumerate(won.games):
        assert game.winner == (BLACK if number % 2 == 0 else WHITE)
        record = game.record(RULES, ("builder", "strewer"))
        assert (record.black if record.winner == BLACK else record.white) == "builder"


def test_players_choose_only_on_their_turn_and_every_move_has_a_seed_of_its_own() -> None:
    player, opponent = builder(), strewer()
    result = match(player, opponent)
    for who, first in ((player, 0), (opponent, 1)):
        mine = set()
        for number, game in enumerate(result.games):
            parity = (number + first) % 2  # plies at which `who` moves in this game
            mine |= {game.moves[:ply] for ply in range(len(game.moves)) if ply % 2 == parity}
        assert set(who.positions) <= mine
    seeds = player.seeds + opponent.seeds
    assert len(set(seeds)) == len(seeds)


def test_searches_are_loaded_before_their_times_are_measured() -> None:
    class Compiling(Scripted):
        compiles = True
        stops: ClassVar[list[bool]] = []

        def decide(self, position: Position, seed: int, stop: Callable[[], bool]) -> Decision:
            self.stops.append(stop())
            return super().decide(position, seed, stop)

    player = Compiling("builder", [7, 8, 9, 10, 11, 12, 13])
    match(player, strewer(), games=2)
    assert player.stops.count(True) == 1
    assert player.stops[0]
    assert player.positions[0] == (0,)


def test_a_drawn_game_is_half_a_point_for_each() -> None:
    tally = Tally()
    for winner in (None, BLACK, WHITE, WHITE):
        tally.add(winner, WHITE)
    assert (tally.wins, tally.draws, tally.losses, tally.games) == (2, 1, 1, 4)
    assert tally.score == 0.625
    assert Tally().score == 0.5
    small = Rules(3, 3)
    drawn = [parse_cell(name, 3) for name in "b2 a1 a3 c1 b1 b3 a2 c2".split()]
    result = match(RandomPlayer(), RandomPlayer(), rules=small, openings=[drawn], games=2)
    assert result.as_black == result.as_white == Tally(draws=1)


def test_distinct_games_are_counted() -> None:
    repeated = match(builder(), strewer(), games=16)
    assert repeated.total.games == 16
    assert repeated.distinct_games == 8, "four openings, twice with each colour, between players without chance"
    assert match(RandomPlayer(), RandomPlayer(), games=16).distinct_games == 16


def test_json_has_all_results() -> None:
    result_json = match(builder(), strewer(), games=6).to_json()
    assert result_json.pop("seconds") >= 0
    assert 0 < min(result_json.pop("mean_move_seconds")) <= max(result_json.pop("longest_move_seconds"))
    low, high = result_json.pop("score_interval")
    assert 0.3 < low < high == 1
    low, high = result_json.pop("elo_interval")
    assert -200 < low < 0, "three pairs prove little"
    assert high is None
    assert 0.8 < result_json.pop("los") < 1
    assert 8 <= result_json.pop("mean_plies") <= 14
    assert (result_json.pop("player"), result_json.pop("opponent")) == ("builder", "strewer")
    half = {"wins": 3, "draws": 0, "losses": 0}
    total = {"wins": 6, "draws": 0, "losses": 0, "score": 1.0, "games": 6, "distinct_games": 6}
    rest = {"as_black": half, "as_white": half, "pairs": [0, 0, 0, 0, 3], "elo": None, "forfeits": []}
    assert result_json == total | rest


def test_unpaired_matches_have_the_statistics_of_single_games() -> None:
    result = match(RandomPlayer(), RandomPlayer(), games=9, paired=False)
    total, result_json = result.total, result.to_json()
    expected = estimate(game_counts(total.wins, total.draws, total.losses))
    assert total.wins != total.losses
    assert result_json["pairs"] is None
    assert result_json["elo"] == pytest.approx(expected.elo, abs=0.01)
    assert result_json["elo_interval"] == pytest.approx([expected.low, expected.high], abs=0.01)
    assert (result_json["los"] > 0.5) == (total.wins > total.losses)
    swept = match(builder(), strewer(), games=3, paired=False).to_json()
    assert (swept["elo"], swept["elo_interval"][1], swept["score"]) == (None, None, 1.0)
    assert 0.8 < swept["los"] < 1


def canonical(moves: Sequence[int], size: int) -> frozenset[tuple[int, int]]:
    """The stones of an opening under the symmetry that puts them first."""
    turned = [sorted((int(symmetry[move]), ply % 2) for ply, move in enumerate(moves)) for symmetry in targets(size)]
    return frozenset(min(turned))


@pytest.mark.parametrize("size", [9, 11, 15, 20])
def test_no_opening_is_for_training_and_evaluation_however_turned_and_under_whatever_rule(size: int) -> None:
    found: dict[bool, set[frozenset[tuple[int, int]]]] = {True: set(), False: set()}
    for variant in (Variant.FREESTYLE, Variant.STANDARD, Variant.RENJU, Variant.CARO):
        rules = Rules(size, variant=variant)
        for for_training, seen in found.items():
            openings = load_openings("balanced", rules, for_training=for_training)
            assert len(openings) >= 20
            assert not any(Position.from_moves(rules, opening).is_game_over() for opening in openings)
            seen |= {canonical(opening, size) for opening in openings}
    assert not found[True] & found[False]


def test_the_place_in_a_file_does_not_choose_openings_for_training() -> None:
    # There, those that favour Black and those that favour White take turns.
    rules = Rules()
    training = set(load_openings("balanced", rules, for_training=True))
    openings = parse_openings(
        (Path(opening_sets.__file__).parents[1] / "openings" / "freestyle15.txt").read_text(), rules
    )
    of_even_places = sum(opening in training for opening in openings[::2])
    assert 0.35 * len(training) < of_even_places < 0.65 * len(training)


def test_openings_by_name_and_by_file(tmp_path: Path) -> None:
    assert load_openings("empty", RULES) == [()]
    assert evaluation_openings(RULES) == [()]
    assert evaluation_openings(Rules()) == load_openings("balanced", Rules())
    with pytest.raises(RecordError, match="no balanced openings for 4 in a row on 7x7: use --openings empty"):
        load_openings("balanced", RULES)
    with pytest.raises(RecordError):
        load_openings(str(tmp_path / "missing.txt"), RULES)
