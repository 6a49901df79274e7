"""Records of games with characters that are hard for a format, and strategies that draw such."""

from dataclasses import replace

from hypothesis import strategies as st

from core.position import Position
from core.records.record import Ending, GameRecord
from core.rules import BLACK, WHITE, Rules
from tests.conftest import games
from tests.conftest import rules as any_rules

# Without control characters, which SGF leaves open, and without the carriage return, which it makes a line end.
texts = st.text(st.one_of(st.sampled_from("\\]:[;()\n a"), st.characters(exclude_categories=("Cs", "Cc"))), max_size=12)
names = texts.map(lambda text: text.replace("\n", " "))

WITHOUT_WINNER = (Ending.BOARD, Ending.UNKNOWN)
WON = tuple(ending for ending in Ending if ending is not Ending.UNKNOWN)


@st.composite
def records(draw: st.DrawFn, rules: st.SearchStrategy[Rules] | None = None) -> GameRecord:
    """Finished and unfinished games, also ones that were won without a line."""
    drawn = draw(rules or any_rules())
    moves = draw(games(drawn))
    outcome = Position.from_moves(drawn, moves).outcome()
    winner = outcome.winner if outcome else draw(st.sampled_from((BLACK, WHITE, None)))
    few = len(moves) < 12
    comments = draw(st.lists(texts, min_size=len(moves), max_size=len(moves))) if few else []
    times_ms = draw(st.lists(st.integers(1, 10**7), min_size=len(moves), max_size=len(moves))) if few else []
    value = st.one_of(st.none(), st.floats(-1, 1).map(lambda value: round(value, 4)))
    values = draw(st.lists(value, min_size=len(moves) + 1, max_size=len(moves) + 1)) if few else []
    analyses = draw(st.lists(texts, min_size=len(moves) + 1, max_size=len(moves) + 1)) if few else []
    return GameRecord(
        drawn,
        tuple(moves),
        winner,
        black=draw(names),
        white=draw(names),
        comments=tuple(comments) if any(comments) else (),
        note=draw(texts),
        date=draw(st.one_of(st.just(""), st.dates().map(str))),
        times_ms=draw(st.sampled_from(((), tuple(times_ms)))),
        ending=Ending.BOARD if outcome else draw(st.sampled_from(WITHOUT_WINNER if winner is None else WON)),
        values=tuple(values) if any(value is not None for value in values) else (),
        analyses=tuple(analyses) if any(analyses) else (),
    )


GAMES = [
    GameRecord(Rules(9), (40, 41, 31), black="Łukasz", white="碁", note="one"),
    GameRecord(Rules(15, 4), (112, 113, 97), WHITE, black="A", comments=("value -0.125\n400 visits", "", "[\\]")),
]


def kept_by_psq(game: GameRecord) -> GameRecord:
    """The game as a .psq file holds it."""
    ending = Ending.FORFEIT if game.ending == Ending.RESIGNATION else game.ending
    names = {side: " ".join(getattr(game, side).split()) for side in ("black", "white")}
    return replace(game, comments=(), values=(), analyses=(), note="", date="", ending=ending, **names)
