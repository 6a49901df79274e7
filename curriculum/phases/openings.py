"""Openings of self-play games."""

from core.records.record import RecordError
from core.rules import Cell
from curriculum.arena.opening_sets import BALANCED, load_openings, note_on_balanced
from curriculum.config import Config
from curriculum.reporting import Context


def training_openings(config: Config, context: Context) -> list[tuple[Cell, ...]]:
    """Return the balanced openings to start games from; none, with a note, where none are shipped for the rules."""
    share = config.selfplay.balanced_share
    if share <= 0:
        return []
    if note := note_on_balanced(config.rules):
        context.reporter.say(note)
    try:
        return load_openings(BALANCED, config.rules, for_training=True)
    except RecordError:
        context.reporter.say(
            f"no balanced openings are shipped for {config.rules}: the {100 * share:.0f} % of self-play games that "
            "selfplay.balanced_share starts from them start from the empty board"
        )
        return []
