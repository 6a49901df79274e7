"""Analyses that run until they are stopped: paused by a key, behind nothing, and with a tree that walks along."""

import threading

import pytest

from core.notation import parse_cell
from core.position import Position
from core.rules import Rules
from gomoku_cli.tui.engine import worker
from gomoku_cli.tui.engine.messages import PlayerChoice
from gomoku_cli.tui.engine.worker import open_choice
from search.analysis import Analysis
from search.engine import Engine
from search.limit import Limit
from search.players import PLAIN, Decision, How
from search.tree.player import MctsPlayer
from tests.support.scripted_players import LIMIT_S, AnalysingPlayer
from tests.support.tui import board_app
from tests.support.waiting import wait_until


class EndlessAnalyst(AnalysingPlayer):
    """Analyses until it is stopped."""

    def __init__(self) -> None:
        super().__init__(15, ["i9", "g7"])
        self.running = threading.Event()

    def search(self, position: Position, limit: Limit | None = None, how: How = PLAIN) -> tuple[Decision, Analysis]:
        """See `search.players.Player`."""
        seed, stop, report, _ = how
        if seed is None:
            report(self.view(position))
            self.running.set()
            wait_until(stop, LIMIT_S)
            self.running.clear()
        return super().search(position, limit, how)


async def test_an_analysis_is_paused_goes_on_and_holds_nothing_up() -> None:
    player = EndlessAnalyst()
    async with board_app(player, terminal=(120, 40)) as ui:
        await ui.press("0")
        assert "no analysis to pause" in ui.status
        await ui.press("c")
        await ui.until(player.running.is_set)
        await ui.until(lambda: "running" in ui.panel)
        await ui.press("0")
        await ui.until(lambda: not player.running.is_set())
        assert "paused" in ui.panel and "1 a1        60" in ui.panel, "the result so far stays"
        await ui.play("h8")
        await ui.until(lambda: ui.app.game.ply == 2)
        assert not player.running.is_set(), "a pause holds for the next positions"
        await ui.press("0")
        await ui.until(player.running.is_set)
        await ui.play("h9")
        await ui.until(lambda: ui.app.game.ply == 4 and player.running.is_set())


async def test_an_analysis_says_that_it_has_ended() -> None:
    async with board_app(AnalysingPlayer(15, ["i9", "g7"]), terminal=(120, 40)) as ui:
        await ui.press("c")
        await ui.until(lambda: "ended" in ui.panel)


def test_the_tree_of_an_analysis_has_more_memory_than_that_of_a_move(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "machine_bytes", lambda: 16 << 30)
    analyst, player = (open_choice(PlayerChoice(spec="default"), Rules(), keeps) for keeps in (True, False))
    assert isinstance(analyst, MctsPlayer) and isinstance(player, MctsPlayer)
    assert (analyst.max_bytes, player.max_bytes) == (4 << 30, None)


def test_an_analysis_goes_on_from_the_tree_of_the_one_before() -> None:
    rules = Rules()
    cells = [parse_cell(cell, 15) for cell in ("h8", "i10", "g7")]  # after which no replies are symmetric
    position = Position.from_moves(rules, cells)
    with Engine(open_choice(PlayerChoice(spec="default"), rules, True)) as engine:
        first = engine.analysis(position, Limit(nodes=400)).wait()
        position.push(first.moves[0].move)
        second = engine.analysis(position, Limit(nodes=20)).wait()
        assert second.nodes > 20 + (first.moves[0].visits or 0) // 2
        assert first.variation[1] in [each.move for each in second.moves[:3]]
    with Engine(open_choice(PlayerChoice(spec="default"), rules)) as engine:
        engine.analysis(Position(rules), Limit(nodes=400)).wait()
        assert engine.analysis(position, Limit(nodes=20)).wait().nodes <= 21, "the engine that plays keeps nothing"
