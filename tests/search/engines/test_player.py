"""Engines as players: the lines that they get, the moves that they make, their limits and specs."""

import shlex
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from core.opening_rules import Choice, Opening, OpeningRule
from core.rules import Rules
from curriculum.arena.players import PlayerSettings, PlayerSpecError, model_path, parse_player
from search.limit import Limit
from search.players import ForfeitError
from tests.support.engine_players import LIMIT_S, POSIX_ONLY, RULES, at, cell, command, engine, move_of, wait_until_gone

pytestmark = POSIX_ONLY


def test_an_engine_gets_a_game_in_the_words_of_the_protocol(notes: Path) -> None:
    with engine("correct", notes, turn_seconds=2.5).start_game() as game:
        assert move_of(game, at()) == cell("0,0")
        assert move_of(game, at("0,0", "4,4")) == cell("1,0")
        assert move_of(game, at("0,0", "4,4", "1,0", "2,0")) == cell("3,0")
    _pid, *received = notes.read_text().splitlines()
    infos = [line for line in received if line.startswith("INFO")]
    assert [line for line in received if line not in infos] == ["START 9", "BEGIN", "TURN 4,4", "TURN 2,0", "END"]
    *plain, folder, left = infos
    limits = ["timeout_turn 2500", "timeout_match 0", "max_memory 350000000", "game_type 1", "rule 0"]
    assert plain == [f"INFO {limit}" for limit in limits]
    assert folder.startswith("INFO folder /") and not Path(folder.removeprefix("INFO folder ")).exists()
    assert left == "INFO time_left 2147483647"


def test_an_opening_is_sent_in_order_with_the_owner_of_each_stone(notes: Path) -> None:
    with engine("correct", notes).start_game() as game:
        assert move_of(game, at("0,0", "8,8", "3,2")) == cell("1,0")
        assert move_of(game, at("0,0", "8,8", "3,2", "1,0", "5,5")) == cell("2,0")
    received = notes.read_text().splitlines()
    assert received[received.index("BOARD") :] == ["BOARD", "0,0,2", "8,8,1", "3,2,2", "DONE", "TURN 5,5", "END"]


@pytest.mark.parametrize(
    ("mode", "choice", "further"), [("correct", "white", ()), ("swaps", "black", ()), ("adds-two", "more", (1, 2))]
)
def test_a_program_opens_by_swap2(mode: str, choice: str, further: tuple[int, ...], notes: Path) -> None:
    opening = Opening(OpeningRule.SWAP2)
    with engine(mode, notes).start_game() as game:
        assert game.choose_opening(at(), opening, seed=0) == (cell("0,0"), cell("1,0"), cell("2,0"))
        board = at("0,0", "4,4", "5,5")
        assert game.choose_opening(board, opening, seed=0) == choice
        if further:
            placed = game.choose_opening(board, opening.after(Choice.MORE), seed=0)
            assert placed == (cell("1,0"), cell("2,0"))
            board = at("0,0", "4,4", "5,5", "1,0", "2,0")
        assert move_of(game, board) == cell("3,0" if further else "1,0")
    received = notes.read_text().splitlines()
    first = received.index("SWAP2BOARD")
    assert received[first : first + 7] == ["SWAP2BOARD", "DONE", "SWAP2BOARD", "0,0", "4,4", "5,5", "DONE"]
    assert "BOARD" in received, "the game goes on from a board that is set up anew"


def test_by_the_rule_of_swap_a_program_keeps_white_or_swaps() -> None:
    opening, board = Opening(OpeningRule.SWAP), at("0,0", "4,4", "5,5")
    for mode, choice in (("swaps", Choice.BLACK), ("adds-two", Choice.WHITE), ("correct", Choice.WHITE)):
        with engine(mode).start_game() as game:
            assert game.choose_opening(board, opening, seed=0) is choice


def test_a_program_without_swap2_loses_by_that() -> None:
    match = r"no answer to SWAP2BOARD within the 0\.2 s; it said 'UNKNOWN command'$"
    with engine("no-swap2", turn_seconds=0.2).start_game() as game, pytest.raises(ForfeitError, match=match):
        game.choose_opening(at(), Opening(OpeningRule.SWAP2), seed=0)


def test_a_program_that_places_too_few_stones_loses() -> None:
    with engine("off-board").start_game() as game, pytest.raises(ForfeitError, match="SWAP2BOARD with '1,0'"):
        game.choose_opening(at("0,0", "4,4", "5,5"), Opening.parse("swap2 more"), seed=0)


@pytest.mark.parametrize(
    "mode",
    [
        *("cr-only", "lower-case", "wordy", "chatty", "banner", "spaces", "suggest", "twice", "slow", "remarks"),
        pytest.param("hang-at-end", marks=pytest.mark.slow),
    ],
)
def test_engines_of_odd_manners_can_play(mode: str) -> None:
    with engine(mode).start_game() as game:
        assert move_of(game, at("8,8")) == cell("0,0")
        assert move_of(game, at("8,8", "0,0", "7,7")) == cell("1,0")


def test_a_decision_has_the_time_of_its_move() -> None:
    with engine("slow").start_game() as game:
        (decision,) = game.choose_batch([at()], seeds=[0])
    assert decision.seconds is not None and 0.15 <= decision.seconds < 5.0
    assert decision.value is None and decision.policy is None


def test_the_time_of_a_match_runs_from_the_start_and_is_sent_before_each_move(notes: Path) -> None:
    with engine("slow", notes, match_seconds=3.0).start_game() as game:
        move_of(game, at())
        move_of(game, at("0,0", "4,4"))
    received = notes.read_text().splitlines()
    assert "INFO timeout_match 3000" in received
    left = [int(line.split()[-1]) for line in received if line.startswith("INFO time_left")]
    assert [received[i + 1].split()[0] for i, line in enumerate(received) if "time_left" in line] == ["BEGIN", "TURN"]
    assert left[0] < 3000 and left[1] <= left[0] - 150


# Limits


def test_a_limit_of_seconds_replaces_the_time_of_a_move_for_one_call(notes: Path) -> None:
    with closing(engine("correct", notes, turn_seconds=4.0)) as player:
        player.choose(at("0,0"), Limit(seconds=2.5))
        player.choose(at("1,1"), Limit(seconds=2.5))
        player.choose(at("2,2"))
    kept = [line for line in notes.read_text().splitlines() if line.startswith(("INFO timeout_turn", "TURN", "DONE"))]
    first, second, third = "INFO timeout_turn 4000", "INFO timeout_turn 2500", "INFO timeout_turn 4000"
    assert kept == [first, second, "TURN 0,0", "DONE", third, "DONE"]


def test_a_limit_of_seconds_ends_the_wait_for_a_move() -> None:
    with (
        engine("hang-at-move").start_game() as game,
        pytest.raises(ForfeitError, match=r"no move within the 0\.2 s$") as caught,
    ):
        game.choose(at(), Limit(seconds=0.2))
    assert caught.value.on_time


@pytest.mark.parametrize("limit", [Limit(nodes=5), Limit(depth=2), Limit(nodes=5, seconds=1.0)])
def test_a_limit_of_nodes_or_depth_is_refused(limit: Limit) -> None:
    with engine("correct").start_game() as game:
        with pytest.raises(ValueError, match="a time alone"):
            game.choose(at(), limit)
        assert move_of(game, at()) == cell("0,0")


# Without a game


def test_several_positions_get_a_move_each_and_threads_have_processes_of_their_own() -> None:
    positions = [at("0,0"), at("0,0", "1,0", "2,0")]
    both = threading.Barrier(2)

    def decide() -> list[int]:
        both.wait(LIMIT_S)
        return [decision.move for decision in player.choose_batch(positions, seeds=[0, 0])]

    with closing(engine("correct")) as player, ThreadPoolExecutor(2) as pool:
        futures = [pool.submit(decide) for _ in range(2)]
        assert [future.result() for future in futures] == [[cell("1,0"), cell("3,0")]] * 2


def test_a_stop_ends_the_engine_and_a_later_request_starts_another(notes: Path) -> None:
    with closing(engine("hang-at-move", notes)) as player:
        (decision,) = player.choose_batch([at("8,8")], seeds=[0], stop=lambda: "TURN" in notes.read_text())
        assert at("8,8").is_legal(decision.move)
        wait_until_gone(int(notes.read_text().splitlines()[0]))
        player.choose_batch([at("8,8")], seeds=[0], stop=lambda: True)  # starts it, and requests nothing
    received = [line for line in notes.read_text().splitlines() if line[:4] in ("STAR", "TURN")]
    assert received == ["START 9", "TURN 8,8", "START 9"]


def test_a_forfeit_without_a_game_is_raised_and_the_next_request_starts_anew() -> None:
    with closing(engine("crash-at-second-move")) as player:
        assert move_of(player, at()) == cell("0,0")
        with pytest.raises(ForfeitError, match=r"scripted\.py.*: no move: it ended with exit code 3"):
            move_of(player, at("0,0", "4,4"))
        assert move_of(player, at("0,0", "4,4")) == cell("1,0")


def test_a_player_that_is_dropped_ends_its_processes(notes: Path) -> None:
    player = engine("correct", notes)
    move_of(player, at())
    del player
    wait_until_gone(int(notes.read_text().splitlines()[0]))


def test_a_position_that_does_not_follow_is_set_up_in_the_same_process(notes: Path) -> None:
    player = engine("correct", notes)
    assert move_of(player, at("8,8")) == cell("0,0")
    assert move_of(player, at("8,8", "0,0")) == cell("1,0")  # for the other side, as a teacher plays
    assert move_of(player, at("7,7")) == cell("0,0")
    assert move_of(player, at()) == cell("0,0")
    player.close()
    received = notes.read_text().splitlines()
    assert received.count("START 9") == 1
    boards = [index for index, line in enumerate(received) if line == "BOARD"]
    assert [received[index + 1 : received.index("DONE", index)] for index in boards] == [["8,8,1", "0,0,2"], ["7,7,2"]]
    assert received[received.index("RESTART") + 1] == "BEGIN"


# As player specs


def test_an_engine_is_written_with_its_command() -> None:
    spec = "engine:" + shlex.join(command("correct"))
    player = parse_player(spec, rules=RULES, settings=PlayerSettings(engine_seconds=5.0))
    assert player.starts_games
    assert model_path(spec) is None
    assert player.name == spec.removeprefix("engine:")
    with player.start_game() as game:
        assert move_of(game, at()) == cell("0,0")


@pytest.mark.parametrize(
    ("settings", "received"),
    [
        (PlayerSettings(), 1000),
        (PlayerSettings(seconds=0.5), 500),
        (PlayerSettings(seconds=0.5, engine_seconds=0.25), 250),
    ],
)
def test_an_engine_has_its_own_time_or_that_of_all_players(
    settings: PlayerSettings, received: int, notes: Path
) -> None:
    player = parse_player("engine:" + shlex.join(command("correct", notes)), rules=RULES, settings=settings)
    assert player.starts_games
    with player.start_game() as game:
        move_of(game, at())
    assert f"INFO timeout_turn {received}" in notes.read_text().splitlines()


def test_a_command_that_cannot_be_run_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("no program")
    for spec, why in (
        ("engine:", "names no program"),
        ("engine:'half", "No closing quotation"),
        ("engine:no-such-engine --fast", "no-such-engine cannot be found"),
        (f"engine:{tmp_path / 'letter.txt'}", "letter.txt is no program that can be run"),
        (f"engine:{tmp_path}", "is no program that can be run"),
    ):
        with pytest.raises(PlayerSpecError, match=why):
            parse_player(spec, rules=RULES, settings=PlayerSettings())


def test_engines_play_five_in_a_row_only() -> None:
    with pytest.raises(PlayerSpecError, match="engines play 5 in a row, not 4 in a row on 7x7"):
        parse_player("engine:" + sys.executable, rules=Rules(7, 4), settings=PlayerSettings())
