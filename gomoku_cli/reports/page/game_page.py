"""The report of a game: its turning points on boards, a graph, sentences, and the accuracy of both players."""

from pathlib import Path

from core.files.atomic import atomic_write_text
from core.notation import cell_name
from core.rules import BLACK, WHITE, Colour, colour_name
from gomoku_cli.printable import printable
from gomoku_cli.reports.analyses.lines import loss_reason
from gomoku_cli.reports.game import players_text, result_text
from gomoku_cli.reports.page.games import BoardPicture
from gomoku_cli.reports.page.report import template
from gomoku_cli.study.explain import Explainer
from gomoku_cli.study.game import StudiedGame
from gomoku_cli.study.review import GRADES, Grade, MoveReview, Review, review_of

_MAX_BOARDS = 11
"""Turning points that are shown: those with the greatest losses."""
_LINE = 6
"""Moves of a better line."""


def write_game_report(game: StudiedGame, output: Path) -> None:
    """Write the report of a game to `output`, one page that needs nothing else. Raises `OSError`."""
    review = review_of(game)
    record, first = game.record, game.record.set_up
    page = template("game.html.j2").render(
        title=players_text(record),
        sentences=_sentences(game, review),
        columns=("moves", "lost a move", "inaccuracies", "mistakes", "blunders", "missed wins", "missed defences"),
        players=[_player(game, review, colour) for colour in (BLACK, WHITE)],
        note=_note(game),
        chances={ply - first: chance for ply, chance in enumerate(review.black) if chance is not None and ply >= first},
        plies=len(review.black) - 1 - first,
        faults=[(move.ply - first, _number(game, move)) for move in review.mistakes()],
        boards=_boards(game, review),
        moves=[_move(game, move) for move in review.moves[record.set_up :]],
    )
    atomic_write_text(output, page)


def _number(game: StudiedGame, move: MoveReview) -> str:
    return f"{move.ply - game.record.set_up} {cell_name(move.move, game.record.rules.size)}"


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.0f} %"


def _sentences(game: StudiedGame, review: Review) -> list[str]:
    record = game.record
    date = f", {printable(record.date)}" if record.date else ""
    sentences = [f"{record.rules}{date}: {result_text(record)}."]
    worst = max(review.mistakes(), key=lambda move: move.loss or 0.0, default=None)
    if worst is None:
        sentences.append("No move lost much.")
    else:
        sentences.append(
            f"The greatest loss: {_number(game, worst)} by {colour_name(worst.colour)}, {_percent(worst.loss)} to win."
        )
    decided = review.decided_at()
    if decided is not None and (proof := review.proofs[decided]) and decided < len(record.moves):
        winner = colour_name(BLACK if proof > 0 else WHITE).capitalize()
        sentences.append(
            f"From move {max(1, decided + 1 - record.set_up)} on {winner}'s win was proven, and was not given away."
        )
    return sentences


def _player(game: StudiedGame, review: Review, colour: Colour) -> tuple[str, ...]:
    moves = review.of(colour)
    name = game.record.black if colour == BLACK else game.record.white
    counts = {grade: sum(move.grade is grade for move in moves) for grade in GRADES}
    worst = max(moves, key=lambda move: move.loss or 0.0, default=None)
    mean = review.mean_loss(colour)
    return (
        colour_name(colour),
        printable(name),
        str(len(moves)),
        "" if mean is None else f"{100 * mean:.1f} %",
        *(str(counts[grade]) for grade in (Grade.INACCURACY, Grade.MISTAKE, Grade.BLUNDER)),
        str(review.missed_wins(colour)),
        str(review.missed_defences(colour)),
        "" if worst is None or not worst.loss else f"{_number(game, worst)}, {_percent(worst.loss)}",
    )


def _note(game: StudiedGame) -> str:
    players = dict.fromkeys(kept.player for kept in game.analyses if kept is not None)
    grades = ", ".join(f"from {100 * least:.0f} % on {_a(grade)}" for grade, least in reversed(GRADES.items()))
    return (
        f"Losses of the probability to win as {printable(', '.join(players)) or 'nobody'} sees it: {grades}. "
        "A missed win was proven before the move; after a missed defence the opponent's is, which was not."
    )


def _a(grade: Grade | None) -> str:
    return f"{'an' if grade is Grade.INACCURACY else 'a'} {grade}"


def _boards(game: StudiedGame, review: Review) -> list[BoardPicture]:
    record, explainer = game.record, Explainer(game.record.rules)
    worst = sorted(review.mistakes(), key=lambda move: -(move.loss or 0.0))[:_MAX_BOARDS]
    boards = []
    for move in sorted(worst, key=lambda each: each.ply):
        kept = game.analyses[move.ply - 1]
        line = [] if kept is None else [cell_name(cell, record.rules.size) for cell in kept.analysis.variation[:_LINE]]
        parts = [f"{_percent(move.before)} to win before, {_percent(move.after)} after."]
        if line:
            parts.append(f"Better {line[0]}{', then ' if line[1:] else ''}{' '.join(line[1:])}.")
        if reason := loss_reason(explainer, game, move):
            parts.append(reason)
        title = f"{_number(game, move)}: {_a(move.grade)} by {colour_name(move.colour)}"
        boards.append(BoardPicture(title, " ".join(parts), record, move.ply, move.best))
    end = result_text(record)
    return [*boards, BoardPicture("The end", f"{end[0].upper()}{end[1:]}.", record, len(record.moves))]


def _move(game: StudiedGame, move: MoveReview) -> tuple[str, ...]:
    number, name = _number(game, move).split()
    better = "" if move.best in (None, move.move) else cell_name(move.best or 0, game.record.rules.size)
    grade = "" if move.grade in (None, Grade.GOOD) else str(move.grade)
    chances = map(_percent, (move.before, move.after, move.loss))
    return (number, name, colour_name(move.colour), *chances, grade, better)
