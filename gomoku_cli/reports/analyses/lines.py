"""Analyses of many positions: one line each, as text or JSON, and the review of a game after its last position."""

from collections.abc import Sequence
from typing import Any

from core.notation import cell_name
from core.position import Position
from core.records.record import GameRecord
from core.rules import BLACK, WHITE, Colour, colour_name
from gomoku_cli.printable import counted, printable
from gomoku_cli.reports.analyses.position import analysis_json
from gomoku_cli.reports.game import players_text, result_text
from gomoku_cli.reports.plots import abridged
from gomoku_cli.study.explain import Explainer
from gomoku_cli.study.game import KeptAnalysis, StudiedGame
from gomoku_cli.study.review import GRADES, Grade, MoveReview, Review, review_of
from gomoku_cli.study.values import percent, proof_text

_MAX_LINE = 8
"""Moves of a line that are shown."""


def heading(record: GameRecord, source: str) -> str:
    """Return the line above the positions of a game: its place, its players and its result."""
    return printable(f"{source}: {players_text(record)}, {record.rules}; {result_text(record)}")


COLUMNS = f"{'move':>9}  {'loss':>15}  {'to move':<7}  {'value':>6}  {'win':>5}  result      line"
"""The line below it."""


def position_text(kept: KeptAnalysis, position: Position, move: MoveReview | None = None, set_up: int = 0) -> str:
    """Return a line: the last move and its loss, then the side to move with value, chance to win, proof and line.

    `set_up`: stones that were set up before the first move.
    """
    analysis = kept.analysis
    last = f"{position.ply - set_up} {position.name_of(position.moves[-1])}" if position.ply > set_up else "start"
    return (
        f"{last:>9}  {_loss(move):>15}  {colour_name(position.side_to_move):<7}  {analysis.value:>+6.3f}"
        f"  {percent(analysis.value):>5}  {proof_text(analysis.moves[0].proof):<10}  {_line(kept, position)}"
    )


def _line(kept: KeptAnalysis, position: Position) -> str:
    variation = kept.analysis.variation
    return " ".join(map(position.name_of, variation[:_MAX_LINE])) + (" .." if len(variation) > _MAX_LINE else "")


def _loss(move: MoveReview | None) -> str:
    """Return `34 % blunder`; nothing for a good move and for one without a loss."""
    if move is None or move.loss is None or move.grade is Grade.GOOD:
        return ""
    return f"{100 * move.loss:.0f} % {move.grade}"


def position_json(kept: KeptAnalysis, position: Position, move: MoveReview | None = None) -> dict[str, Any]:
    """Return an analysis as the JSON of `gomoku analyze`, with the loss of the last move if its review is given."""
    result = analysis_json(kept.player, position, kept.analysis)
    if move is not None:
        result |= {"loss": _rounded(move.loss), "grade": move.grade}
    return result


def review_text(game: StudiedGame) -> list[str]:
    """Return lines below a game: the mean loss of each side, and its mistakes with their reasons."""
    review, lines = review_of(game), []
    for colour in (BLACK, WHITE):
        mean = review.mean_loss(colour)
        if mean is None:
            continue
        counts = [
            f"{count} {grade if count == 1 else _PLURALS[grade]}"
            for grade in GRADES
            if (count := sum(move.grade is grade and move.colour == colour for move in review.moves))
        ]
        found = ", ".join(counts) or "no inaccuracy"
        faults = {"missed win": review.missed_wins(colour), "missed defence": review.missed_defences(colour)}
        missed = [f", {counted(count, name)}" for name, count in faults.items() if count]
        lines.append(f"{colour_name(colour):>9}  lost {100 * mean:.1f} % a move; {found}{''.join(missed)}")
    explainer, size = Explainer(game.record.rules), game.record.rules.size
    for move in review.mistakes():
        better = "" if move.best is None else f"; better {cell_name(move.best, size)}"
        reason = loss_reason(explainer, game, move)
        name = f"{move.ply - game.record.set_up} {cell_name(move.move, size)}"
        lines.append(f"{name:>9}  {_loss(move)}{better}. {reason}".rstrip())
    return lines


def accuracy_text(games: Sequence[StudiedGame]) -> list[str]:
    """Return a table of the players of several games: games, moves, mean loss, grades, and missed wins and defences."""
    found: dict[str, list[tuple[Review, Colour]]] = {}
    for game in games:
        review = review_of(game)
        for colour, name in ((BLACK, game.record.black), (WHITE, game.record.white)):
            found.setdefault(name or "?", []).append((review, colour))
    lines = [f"{'player':<24}  games  moves  lost a move  {'  '.join(_PLURALS.values())}  missed wins  missed defences"]
    for name, sides in sorted(found.items()):
        moves = [move for review, colour in sides for move in review.of(colour)]
        mean = sum(move.loss or 0.0 for move in moves) / len(moves) if moves else 0.0
        grades = (f"{sum(move.grade is each for move in moves):>{len(plural)}}" for each, plural in _PLURALS.items())
        missed = (sum(move.ends_forced_win for move in moves), sum(move.allows_forced_win for move in moves))
        lines.append(
            f"{printable(abridged(name, 24)):<24}  {len(sides):>5}  {len(moves):>5}  {100 * mean:>9.1f} %  "
            f"{'  '.join(grades)}  {missed[0]:>11}  {missed[1]:>15}"
        )
    return lines


def loss_reason(explainer: Explainer, game: StudiedGame, move: MoveReview) -> str:
    """Return a sentence on why a move loses by force; nothing if it does not, or if no reason is known."""
    after = game.analyses[move.ply]
    return explainer.loss(game.position(move.ply - 1), move.move, after.analysis if after else None)


_PLURALS = {Grade.BLUNDER: "blunders", Grade.MISTAKE: "mistakes", Grade.INACCURACY: "inaccuracies"}


def review_json(game: StudiedGame) -> dict[str, Any]:
    """Return the review of a game as the JSON of `gomoku analyze --review`."""
    review: Review = review_of(game)
    explainer, position = Explainer(game.record.rules), game.position()
    return {
        "mean_loss": {colour_name(colour): _rounded(review.mean_loss(colour)) for colour in (BLACK, WHITE)},
        "missed_wins": {colour_name(colour): review.missed_wins(colour) for colour in (BLACK, WHITE)},
        "missed_defences": {colour_name(colour): review.missed_defences(colour) for colour in (BLACK, WHITE)},
        "black_wins": [_rounded(chance) for chance in review.black],
        "key_moments": review.key_moments(),
        "mistakes": [
            {
                "ply": move.ply,
                "move": position.name_of(move.move),
                "by": colour_name(move.colour),
                "grade": move.grade,
                "loss": _rounded(move.loss),
                "best": None if move.best is None else position.name_of(move.best),
                "reason": loss_reason(explainer, game, move) or None,
            }
            for move in review.mistakes(least=GRADES[Grade.INACCURACY])
        ],
    }


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(number, 4)
