"""The figures of matches: results by colour, lengths of games, Elo; and the rungs of a ladder."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from core.rules import BLACK, WHITE
from gomoku_cli.reports.plots import BLUE, GREY, HEIGHT, WIDTH, abridged, count_on, drawn, legend_above

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from curriculum.arena.ladder import Ladder
    from curriculum.arena.results import MatchResult, Tally
    from curriculum.arena.tournament import Standing

_RESULTS = {"wins": BLUE, "draws": "#c4c9d0", "losses": "#e08214"}
"""Blue, grey and orange differ for every kind of colour vision, and in lightness too."""
_WINNERS = {"black won": "#3b4048", "drawn": "#a3a9b3", "white won": "#ffffff"}
_OF_SCORE = {1.0: "wins", 0.5: "draws", 0.0: "losses"}
_MAX_BINS = 24
_ROW = 0.3
"""Height of a player in a list, in inches."""
_MAX_ESTIMATES = 100
"""Points of the curve of Elo: each takes milliseconds, and more could not be seen."""
_FARTHEST = 800.0
"""Elo at which a curve is cut off if the games set no bound or a more distant one."""


def draw_match(results: "Sequence[MatchResult]", standings: "Sequence[Standing]", path: Path) -> None:
    """Draw a match, or a tournament if there are `standings`: results by colour, lengths of games, and Elo.

    The Elo panel of a match shows the difference after each number of games, that of a tournament each player's rating.
    """
    games = sum(result.total.games for result in results)
    title = f"{len(standings)} players, {games:,} games"
    if not standings:
        player, opponent = (abridged(name, longest=60) for name in (results[0].player, results[0].opponent))
        title = f"{player} against {opponent}, {games:,} games"
    height = max(HEIGHT, _ROW * 2 * len(standings) + 1.2)
    with drawn(path, title, width=3 * WIDTH, height=height + 0.4) as figure:
        colours, lengths, elo = figure.subplots(1, 3)
        if standings:
            _colours(colours, [_colours_of(standing.rating.name, results) for standing in standings])
            _lengths(lengths, results, by_winner=True)
            _ratings(elo, standings)
        else:
            _colours(colours, [(abridged(results[0].player), results[0].as_black, results[0].as_white)])
            _lengths(lengths, results, by_winner=False)
            _elo_curve(elo, results[0])


def draw_ladder(ladder: "Ladder", path: Path) -> None:
    """Draw a ladder against pure MCTS: the results of each rung with the line that ends it, and the times a move."""
    games = max(rung.result.total.games for rung in ladder.rungs)
    title = f"{abridged(ladder.player)} against pure MCTS, {games} games a rung"
    with drawn(path, title, width=2.6 * WIDTH, height=HEIGHT + 0.4) as figure:
        wins, times = figure.subplots(1, 2, width_ratios=(1.6, 1))
        playouts = [rung.playouts for rung in ladder.rungs]
        _rungs(wins, ladder, playouts, games)
        means = [[sum(side) / max(1, len(side)) for side in rung.result.thinking()] for rung in ladder.rungs]
        mine, theirs = zip(*means, strict=True)
        times.plot(playouts, theirs, "o--", markersize=4, color=GREY, label="pure MCTS")
        times.plot(playouts, mine, "o-", markersize=4, color=BLUE, label=abridged(ladder.player))
        times.set(title="Time", xlabel="playouts of the opponent", ylabel="seconds a move")
        times.set_ylim(bottom=0)
        for axes in (wins, times):
            every = math.ceil(len(playouts) / 8)
            axes.set_xticks(playouts[::every], [f"{number:,}" for number in playouts[::every]])
            legend_above(axes)


def _colours_of(player: str, results: "Sequence[MatchResult]") -> "tuple[str, Tally, Tally]":
    """Return a player's name, and its results as black and as white in all its matches."""
    from curriculum.arena.results import Tally

    tallies = {BLACK: Tally(), WHITE: Tally()}
    for result in results:
        for game in result.games:
            if player in (result.player, result.opponent):
                colour = result.colour_in(game) if player == result.player else -result.colour_in(game)
                tallies[colour].add(game.winner, colour)
    return abridged(player), tallies[BLACK], tallies[WHITE]


def _colours(axes: "Axes", players: "Sequence[tuple[str, Tally, Tally]]") -> None:
    """Draw stacked bars, two for each player, the first player on top."""
    tallies = [tally for _, *both in players for tally in both]
    # The two bars of a player stand close together.
    places = [2.3 * (number // 2) + number % 2 for number in range(len(tallies))]
    lefts = [0] * len(tallies)
    for result, colour in _RESULTS.items():
        counts = [getattr(tally, result) for tally in tallies]
        bars = axes.barh(places, counts, 0.86, lefts, color=colour, label=result)
        # A number needs some room.
        shown = [str(count) if count > 0.04 * tally.games else "" for count, tally in zip(counts, tallies, strict=True)]
        ink = "white" if colour == _RESULTS["wins"] else "black"
        axes.bar_label(bars, shown, label_type="center", fontsize=8, color=ink)
        lefts = [left + count for left, count in zip(lefts, counts, strict=True)]
    axes.set(title="Results by colour", xlabel="games")
    single = len(players) == 1
    names = [f"as {side}" if single else f"{name}, {side}" for name, *_ in players for side in ("black", "white")]
    axes.set_yticks(places, names)
    axes.set_ylim(places[-1] + 0.7, -0.7)
    axes.set_xlim(0, 1.04 * max(1, *lefts))
    count_on(axes.xaxis)
    axes.grid(visible=False, axis="y")
    legend_above(axes)


def _lengths(axes: "Axes", results: "Sequence[MatchResult]", *, by_winner: bool) -> None:
    """Draw a histogram of moves a game, with the groups stacked: by the first player's results, or by the winner."""
    colours: dict[str, str] = _WINNERS if by_winner else _RESULTS
    of_winner = dict(zip((BLACK, None, WHITE), _WINNERS, strict=True))
    groups: dict[str, list[int]] = {name: [] for name in colours}
    for result in results:
        for game in result.games:
            groups[of_winner[game.winner] if by_winner else _OF_SCORE[result.score_in(game)]].append(len(game.moves))
    longest = max((max(lengths, default=0) for lengths in groups.values()), default=0)
    width = next(width for width in (1, 2, 5, 10, 20, 50) if longest < _MAX_BINS * width or width == 50)
    bins = list(range(0, longest + 2 * width, width))
    names, inks = list(groups), list(colours.values())
    axes.hist(list(groups.values()), bins, stacked=True, label=names, color=inks, edgecolor=GREY, linewidth=0.4)
    axes.set(title="Lengths of games", xlabel="moves", ylabel="games")
    count_on(axes.yaxis)
    legend_above(axes)


def _elo_curve(axes: "Axes", result: "MatchResult") -> None:
    """Draw the Elo difference and its interval after each number of games."""
    from curriculum.arena.results import MatchResult

    so_far = MatchResult(result.player, result.opponent, first=result.first, paired=result.paired)
    every = max(2, 2 * math.ceil(len(result.games) / (2 * _MAX_ESTIMATES)))
    games, estimates = [], []
    for number, game in enumerate(result.games, start=1):
        so_far.add(game)
        if number % every == 0 or number == len(result.games):
            games.append(number)
            estimates.append(so_far.estimate)
    lows, middles, highs = (
        [min(max(getattr(elo, name), -_FARTHEST), _FARTHEST) for elo in estimates] for name in ("low", "elo", "high")
    )
    axes.axhline(0, color=GREY, linestyle="--", linewidth=1)
    axes.fill_between(games, lows, highs, color=BLUE, alpha=0.18, linewidth=0, label="95 % interval")
    last = f"{_signed(estimates[-1].elo)} ({_signed(estimates[-1].low)} to {_signed(estimates[-1].high)})"
    axes.plot(games, middles, "-" if len(games) > 1 else "o", color=BLUE, label=f"measured: {last}")
    # The first few pairs bound nothing; the limits leave room for the later ones.
    later = [*lows[len(lows) // 4 :], *highs[len(highs) // 4 :], 0]
    margin = 0.08 * (max(later) - min(later)) + 10
    axes.set_ylim(min(later) - margin, max(later) + margin)
    axes.set_xlim(0, 1.02 * len(result.games))
    count_on(axes.xaxis)
    axes.set(title="Elo difference as the games went on", xlabel="games")
    axes.yaxis.set_major_formatter(_signed)
    legend_above(axes)


def _ratings(axes: "Axes", standings: "Sequence[Standing]") -> None:
    """Draw each rating with its interval on a line, the best on top."""
    ratings = [standing.rating for standing in standings]
    places = list(range(len(ratings)))
    reaches = [[rating.elo - rating.low for rating in ratings], [rating.high - rating.elo for rating in ratings]]
    axes.axvline(0, color=GREY, linestyle="--", linewidth=1)
    middles = [rating.elo for rating in ratings]
    axes.errorbar(middles, places, xerr=reaches, fmt="o", color=BLUE, capsize=3, label="with the 95 % interval")
    for place, rating in enumerate(ratings):
        axes.annotate(
            _signed(rating.elo), (rating.elo, place), (0, 6), textcoords="offset points", ha="center", fontsize=8
        )
    axes.set(title="Ratings", xlabel="Elo")
    axes.set_yticks(places, [abridged(rating.name) for rating in ratings])
    axes.set_ylim(len(ratings) - 0.4, -0.6)
    axes.xaxis.set_major_formatter(_signed)
    axes.grid(visible=False, axis="y")
    legend_above(axes)


def _signed(elo: float, _: object = None) -> str:
    """Return `+85`, `-120`, `0` or `+∞`. matplotlib passes the second argument to a formatter."""
    if math.isinf(elo):
        return "+∞" if elo > 0 else "-∞"
    return f"{round(elo):+,d}" if round(elo) else "0"


def _rungs(axes: "Axes", ladder: "Ladder", playouts: list[int], games: int) -> None:
    """Draw the wins and draws of each rung, and the line that ends the ladder."""
    totals = [rung.result.total for rung in ladder.rungs]
    step = playouts[1] - playouts[0] if len(playouts) > 1 else 100
    wins, draws = [total.wins for total in totals], [total.draws for total in totals]
    axes.bar(playouts, wins, 0.8 * step, color=_RESULTS["wins"], label="wins")
    axes.bar(playouts, draws, 0.8 * step, wins, color=_RESULTS["draws"], label="draws")
    axes.axhline(
        ladder.stop_at, color=_RESULTS["losses"], linestyle="--", label=f"ends at {ladder.stop_at} wins or fewer"
    )
    axes.set(title="Results of the rungs", xlabel="playouts of the opponent", ylabel="games")
    axes.set_ylim(0, games)
    count_on(axes.yaxis)
    axes.grid(visible=False, axis="x")
