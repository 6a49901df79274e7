"""Pondering: the model thinks during the human's turns, and only then."""

import time

from tests.support.tui import PonderingPlayer, async_test, board_app


@async_test
async def test_the_model_ponders_only_during_the_humans_turns() -> None:
    player = PonderingPlayer(15, ["a1", "a2"])
    async with board_app(player, ponders=True) as ui:
        await ui.until(lambda: player.pondered == [[]])
        assert "The model ponders" in ui.panel
        assert ui.status == "Your move."
        await ui.play("h8")
        await ui.until(lambda: len(player.pondered) == 2)
        assert player.requests == [player.pondered[1][:1]]
        assert player.pondered[1] == ui.app.game.position.moves
        await ui.click("h8")
        assert ui.status == "h8 already holds a stone."
        assert player.is_pondering, "an illegal move changes nothing"
        await ui.pilot.press("u")
        await ui.until(lambda: player.pondered[2:] == [[]])
        assert player.ended == 2
        await ui.pilot.press("c")
        await ui.until(lambda: len(player.pondered) == 4)
        assert ui.moves == ["a2"]
        await ui.pilot.press("n")
        await ui.until(lambda: len(player.pondered) == 5)
        assert len(player.threads) == 1
    assert not player.is_pondering
    assert not any(thread.is_alive() for thread in player.threads)


@async_test
async def test_the_model_does_not_ponder_after_the_end_of_the_game() -> None:
    player = PonderingPlayer(3, ["b1", "b2"])
    async with board_app(player, size=3, connect=3, ponders=True) as ui:
        for name in ("a1", "a2", "a3"):
            await ui.play(name)
        assert "you have won" in ui.status
        await ui.until(lambda: not player.is_pondering)
        assert "The model ponders" not in ui.panel


@async_test
async def test_the_model_does_not_ponder_by_default() -> None:
    player = PonderingPlayer(15)
    async with board_app(player) as ui:
        await ui.play("h8")
        assert player.pondered == []
        assert "The model ponders" not in ui.panel


@async_test
async def test_quitting_stops_pondering_at_once() -> None:
    player = PonderingPlayer(15)
    async with board_app(player, ponders=True) as ui:
        await ui.until(lambda: player.is_pondering)
        started = time.monotonic()
        await ui.pilot.press("q")
    assert time.monotonic() - started < 2
    assert player.ended == 1
    assert not any(thread.is_alive() for thread in player.threads)


@async_test
async def test_pondering_that_ends_by_itself_is_no_longer_shown() -> None:
    player = PonderingPlayer(15, ["a1"])
    async with board_app(player, ponders=True) as ui:
        player.full.set()
        await ui.until(lambda: "The model ponders" not in ui.panel)
        await ui.play("h8")
        assert ui.moves == ["h8", "a1"]


@async_test
async def test_a_failure_to_ponder_is_shown_and_the_game_goes_on_without() -> None:
    player = PonderingPlayer(15, ["a1"], failure=MemoryError("too many nodes"))
    async with board_app(player, ponders=True) as ui:
        await ui.until(lambda: "MemoryError: too many nodes" in ui.status)
        await ui.play("h8")
        assert ui.moves == ["h8", "a1"]
        assert ui.status == "Your move."
        assert len(player.pondered) == 1
