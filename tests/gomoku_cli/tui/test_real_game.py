"""A whole game against the built-in model, with the real engine's process."""

from pathlib import Path

import pytest

from gomoku_cli.study.saved import saved_games
from gomoku_cli.tui.app import GomokuApp
from gomoku_cli.tui.engine.client import EngineProcess
from gomoku_cli.tui.engine.messages import PlayerChoice
from gomoku_cli.tui.game import Seats
from gomoku_cli.tui.setup import BoardSetup
from nets.config import RuntimeChoice
from tests.support.tui import LIMIT_S, BoardDriver


@pytest.mark.slow
async def test_a_whole_game_against_the_built_in_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    engine = EngineProcess(RuntimeChoice())
    setup = BoardSetup(seats=Seats(None, PlayerChoice(spec="default", simulations=20)))
    app = GomokuApp(engine, setup)
    try:
        async with app.run_test(size=(120, 40)) as pilot:
            ui = BoardDriver(app, pilot)
            # Moves along the lowest row: the model wins within a few moves.
            for column in "acegikmobdfhjln":
                if app.game.is_game_over():
                    break
                await ui.press(column.upper(), "1", "enter")
                await ui.until(lambda: not app.control.is_busy, 6 * LIMIT_S)
            assert "default has won" in ui.status
            assert app.game.winner == -1
            known = [app.game.analysis_at(ply) for ply in range(app.game.ply)]
            assert sum(view is not None for view in known) >= app.game.ply // 2
        moves = list(app.game.moves)
    finally:
        engine.close()
    (entry,) = saved_games(tmp_path / "gomoku" / "games")
    assert entry.is_finished
    assert (entry.moves, entry.record.winner) == (len(moves), -1)
