"""Engines that break the protocol or are too slow lose in one sentence."""

import re
import tracemalloc
from pathlib import Path

import pytest

from search.engines.player import GRACE_S, EngineLimits, EnginePlayer
from search.players import ForfeitError
from tests.support.cases import cases
from tests.support.engine_players import LINUX_ONLY, POSIX_ONLY, RULES, at, cell, engine, move_of

pytestmark = POSIX_ONLY


@pytest.mark.parametrize(("mode", "why"), cases("forfeits"))
def test_an_engine_forfeits_with_a_reason(mode: str, why: str) -> None:
    with engine(mode).start_game() as game:
        with pytest.raises(ForfeitError, match=why) as caught:
            move_of(game, at("8,8"))
        assert not caught.value.on_time
        assert len(str(caught.value)) < 200
        with pytest.raises(ForfeitError, match=why):
            move_of(game, at("8,8"))


@pytest.mark.parametrize(("mode", "limits", "why"), cases("forfeits_on_time"))
def test_an_engine_without_an_answer_in_time_forfeits_on_time(mode: str, limits: dict[str, float], why: str) -> None:
    with engine(mode, **limits).start_game() as game, pytest.raises(ForfeitError, match=why) as caught:
        move_of(game, at("8,8"))
    assert caught.value.on_time


@pytest.mark.parametrize(
    ("mode", "why"),
    [
        ("crash-at-second-move", "no move: it ended with exit code 3; its last words were 'out of memory'$"),
        ("leaves-after-move", "no move: it ended with exit code 0"),
        # Its end may be seen with the line, or after it.
        ("error-after-move", "(last words were|it answered) 'ERROR the licence is over'"),
    ],
)
def test_an_engine_that_ends_in_the_middle_forfeits_with_its_last_words(mode: str, why: str) -> None:
    with engine(mode).start_game() as game:
        position = at()
        position.push(move_of(game, position))
        position.push(cell("5,5"))
        with pytest.raises(ForfeitError, match=why):
            move_of(game, position)


def test_a_flood_of_output_is_not_kept() -> None:
    tracemalloc.start()
    try:
        with engine("huge", turn_seconds=0.3).start_game() as game, pytest.raises(ForfeitError):
            move_of(game, at())
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()


@LINUX_ONLY
@pytest.mark.parametrize("mode", ["hog", "child-hogs"])
def test_an_engine_with_too_much_memory_is_ended(mode: str) -> None:
    """Memory of its children counts, those too that have left its session."""
    limits = {"turn_seconds": 60.0, "memory_bytes": 100_000_000}
    with engine(mode, **limits).start_game() as game, pytest.raises(ForfeitError) as caught:
        move_of(game, at())
    assert re.fullmatch(r"no move: it used [0-9,]+ MB of memory, above the limit of 200 MB", str(caught.value))


def test_the_time_of_a_match_is_a_limit_too() -> None:
    with (
        engine("slow", match_seconds=0.9).start_game() as game,
        pytest.raises(ForfeitError, match="that were left of its game") as caught,
    ):
        position = at()
        while True:
            position.push(move_of(game, position))
            position.push(max(position.legal_moves(), key=lambda cell: (cell // 9, -cell)))  # the engine's next cell
    assert caught.value.on_time
    assert 1 <= position.ply // 2 <= (0.9 + GRACE_S) // 0.15


def test_a_program_that_the_system_does_not_start_forfeits(tmp_path: Path) -> None:
    program = tmp_path / "engine"
    program.write_bytes(b"\x00 no program")
    program.chmod(0o755)
    player = EnginePlayer([str(program)], RULES, EngineLimits())
    with player.start_game() as game, pytest.raises(ForfeitError, match="could not be started: Exec format error"):
        move_of(game, at())
