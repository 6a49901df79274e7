"""The Gomocup protocol: what the engine answers to every command, and to everything that is none."""

import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.fuzz_engine import Expected, fault
from core.notation import parse_point
from gomoku_cli.gomocup.engine import Engine
from gomoku_cli.gomocup.lines import MAX_LENGTH
from gomoku_cli.gomocup.swap2 import CANDIDATES
from search.players import RandomPlayer
from tests.support.gomocup import ABOUT, OneSeat, Talk

BOTTOM_LEFT, NEXT = "0,14", "1,14"
"""Where a player that takes the first cell begins: row 0 is at the bottom, and the protocol counts from the top."""
POINT = re.compile(r"\d+,\d+")


@pytest.fixture
def talk() -> Talk:
    """An engine at an empty board of 15x15."""
    talk = Talk()
    assert talk.say("START 15") == ["OK"]
    return talk


@pytest.mark.parametrize("size", [5, 15, 20, 25])
def test_start_is_answered_with_ok_and_no_move(size: int) -> None:
    talk = Talk()
    assert talk.say(f"START {size}") == ["OK"]
    assert talk.player.asked == []
    assert talk.say("BEGIN") == [f"0,{size - 1}"]


@pytest.mark.parametrize("line", ["START 4", "START 26", "START -15", "START 0", "START", "START x", "START 15.0"])
def test_a_board_that_cannot_be_played_on_is_an_error_and_the_game_before_goes_on(talk: Talk, line: str) -> None:
    talk.say("BEGIN")
    (answer,) = talk.say(line)
    assert answer.startswith("ERROR ")
    assert talk.say("TURN 7,7") == [NEXT]


def test_a_rectangle_is_played_on_if_it_is_a_square() -> None:
    talk = Talk()
    assert talk.say("RECTSTART 12,12") == ["OK"]
    assert talk.say("BEGIN") == ["0,11"]
    assert talk.say("RECTSTART 30,20") == ["ERROR only square boards are played, not 30x20"]
    for line in ("RECTSTART 12", "RECTSTART", "RECTSTART 12,12,12", "RECTSTART a,b", "RECTSTART 26,26"):
        assert talk.say(line)[0].startswith("ERROR ")
    assert talk.say("TURN 5,5") == ["1,11"]


@pytest.mark.parametrize(
    "lines", [["BEGIN"], ["TURN 1,1"], ["RESTART"], ["TAKEBACK 1,1"], ["PLAY 1,1"], ["BOARD", "1,1,2", "DONE"]]
)
def test_before_start_there_is_no_board(lines: list[str]) -> None:
    assert Talk().say(*lines) == ["ERROR there is no board yet: START comes first"]


def test_points_count_columns_from_the_left_and_rows_from_the_top(talk: Talk) -> None:
    talk.say("TURN 3,0")
    assert talk.player.asked == [[parse_point("3,0", 15)]]
    assert divmod(talk.player.asked[0][0], 15) == (14, 3)


def test_a_game_goes_on_turn_by_turn(talk: Talk) -> None:
    assert talk.say("BEGIN", "TURN 7,7", "TURN 8,8") == [BOTTOM_LEFT, NEXT, "2,14"]
    assert len(talk.player.asked[-1]) == 4


def test_restart_clears_the_board_and_keeps_its_size(talk: Talk) -> None:
    assert talk.say("BEGIN", "RESTART", "BEGIN") == [BOTTOM_LEFT, "OK", BOTTOM_LEFT]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("TURN 15,0", "off the board"),
        ("TURN 0,-1", "off the board"),
        ("TURN 0,14", "0,14 already holds a stone"),
        ("TURN", "is no point"),
        ("TURN seven,seven", "is no point"),
        ("TURN 7;7", "is no point"),
        ("TURN 99999999999999999999,1", "is no point"),
        ("BEGIN", "BEGIN is for the empty board"),
        ("PLAY 3,3", "it is not our turn"),
        ("TAKEBACK 5,5", "5,5 holds no stone"),
        ("TAKEBACK x", "is no point"),
        ("DONE", "there is none"),
    ],
)
def test_what_cannot_be_done_is_an_error_and_changes_nothing(talk: Talk, line: str, reason: str) -> None:
    talk.say("BEGIN")
    (answer,) = talk.say(line)
    assert answer.startswith("ERROR ")
    assert reason in answer
    assert talk.say("TURN 9,9") == [NEXT]


def test_a_turn_is_the_opponents_alone(talk: Talk) -> None:
    talk.say("TURN 7,7", f"TAKEBACK {BOTTOM_LEFT}")
    assert talk.say("TURN 8,8") == ["ERROR it is not the opponent's turn"]
    assert talk.say("PLAY 7,7") == ["ERROR 7,7 already holds a stone"]
    assert talk.say("PLAY 3,3", "TURN 8,8") == ["3,3", BOTTOM_LEFT]


def test_after_the_end_of_the_game_there_are_no_more_turns(talk: Talk) -> None:
    talk.say("BEGIN")
    answers = talk.say("TURN 0,0", "TURN 2,0", "TURN 4,0", "TURN 6,0")  # meanwhile five in a row at the bottom
    assert answers[-1] == "4,14"
    assert talk.say("TURN 8,0") == ["ERROR the game is over"]
    assert talk.say("PLAY 8,0")[0].startswith("ERROR ")
    assert talk.say("RESTART", "BEGIN") == ["OK", BOTTOM_LEFT]


def test_a_turn_that_ends_the_game_is_told_so_and_can_be_taken_back(talk: Talk) -> None:
    board = ["BOARD", *(f"{x},0,2" for x in range(4)), *(f"{3 * x},5,1" for x in range(3)), "DONE"]
    (answer,) = talk.say(*board)
    assert talk.say("TURN 4,0") == ["ERROR the game is over"]
    assert talk.say("TAKEBACK 4,0", "TURN 9,9") == ["OK", NEXT]
    assert answer == BOTTOM_LEFT


def test_the_last_stones_can_be_taken_back_one_by_one(talk: Talk) -> None:
    talk.say("TURN 7,7", "TURN 8,8")
    assert talk.say("TAKEBACK 7,7") == [f"ERROR 7,7 is not the last stone, {NEXT} is"]
    assert talk.say(f"TAKEBACK {NEXT}", "TAKEBACK 8,8", "TURN 9,9") == ["OK", "OK", NEXT]
    assert talk.player.asked[-1] == [parse_point(text, 15) for text in ("7,7", BOTTOM_LEFT, "9,9")]


def test_with_all_stones_taken_back_either_side_may_begin(talk: Talk) -> None:
    talk.say("BEGIN")
    assert talk.say(f"TAKEBACK {BOTTOM_LEFT}", "TURN 3,3") == ["OK", BOTTOM_LEFT]


def test_play_makes_the_managers_move_ours(talk: Talk) -> None:
    assert talk.say("PLAY 7,7", "TURN 8,8") == ["7,7", BOTTOM_LEFT]
    assert talk.say("PLAY 9,9") == ["ERROR it is not our turn"]


# BOARD


def test_stones_may_come_in_any_order(talk: Talk) -> None:
    stones = ["10,10,1", "10,11,2", "11,11,1", "9,10,2"]
    cells = {owner: [parse_point(stone[:-2], 15) for stone in stones if stone[-1] == owner] for owner in "12"}
    for order in (stones, stones[::-1], sorted(stones, key=lambda stone: stone[-1])):
        (answer,) = talk.say("BOARD", *order, "DONE")
        assert answer == BOTTOM_LEFT
        moves = talk.player.asked[-1]
        assert (set(moves[::2]), set(moves[1::2])) == (set(cells["1"]), set(cells["2"]))


def test_stones_in_the_order_of_the_game_are_taken_for_the_game(talk: Talk) -> None:
    talk.say("BOARD", "7,7,2", "8,8,1", "6,6,2", "DONE")
    assert talk.player.asked == [[parse_point(point, 15) for point in ("7,7", "8,8", "6,6")]]


def test_an_empty_board_asks_for_the_first_move(talk: Talk) -> None:
    assert talk.say("BOARD", "DONE") == [BOTTOM_LEFT]
    assert talk.player.asked == [[]]


def test_a_board_is_silent_until_it_is_done_and_the_game_goes_on_from_it(talk: Talk) -> None:
    assert talk.say("BOARD", "7,7,2", "", "INFO time_left 5000") == []
    assert talk.say("DONE", "TURN 8,8") == [BOTTOM_LEFT, NEXT]


@pytest.mark.parametrize(
    ("stones", "reason"),
    [
        (["7,7,1"], "it is not our turn"),
        (["7,7,2", "8,8,2"], "it is not our turn"),
        (["7,7,2", "7,7,1"], "7,7 holds two stones"),
        (["15,0,2"], "off the board"),
        (["7,7"], "not x,y,field"),
        (["7,7,4"], "not x,y,field"),
        (["7,7,"], "not x,y,field"),
        (["nonsense"], "not x,y,field"),
        (["7,7,3"], "field 3 is for games that go on after five"),
        (["\xff" * 5000], "not x,y,field"),
        ([f"{x},0,2" for x in range(5)] + [f"{2 * x},5,1" for x in range(4)], "the game is over"),
        ([f"{x},0,1" for x in range(5)] + [f"{2 * x},5,2" for x in range(5)], "the game is over"),
        ([f"{x},0,1" for x in range(6)] + [f"{2 * x},5,2" for x in range(6)], "the game is over"),
    ],
)
def test_a_board_that_is_wrong_is_one_error_and_the_board_before_stays(
    talk: Talk, stones: list[str], reason: str
) -> None:
    talk.say("BEGIN")
    (answer,) = talk.say("BOARD", *stones, "DONE")
    assert answer.startswith("ERROR ")
    assert reason in answer
    assert talk.say("TURN 7,7") == [NEXT]


def test_a_full_board_is_a_game_that_is_over() -> None:
    talk = Talk()
    talk.say("START 5")
    cells = [f"{x},{y},{1 + (x + y // 2) % 2}" for x in range(5) for y in range(5)]
    owners = [cell[-1] for cell in cells]
    assert sorted((owners.count("1"), owners.count("2"))) == [12, 13]
    if owners.count("1") == 13:
        cells = [f"{cell[:-1]}{3 - int(cell[-1])}" for cell in cells]
    assert talk.say("BOARD", *cells, "DONE") == ["ERROR the game is over"]


@pytest.mark.parametrize("command", ["BOARD", "SWAP2BOARD"])
def test_a_board_that_another_command_breaks_off_is_an_error_of_its_own(talk: Talk, command: str) -> None:
    talk.say("BEGIN")
    assert talk.say(command, "3,3,2", "TURN 7,7") == [f"ERROR {command} was not ended by DONE", NEXT]
    assert talk.say(command, "BOARD", "7,7,2", "DONE") == [f"ERROR {command} was not ended by DONE", BOTTOM_LEFT]


def test_a_board_that_the_end_of_the_input_breaks_off_is_an_error(talk: Talk) -> None:
    assert list(talk.engine.finish()) == []
    talk.say("BOARD", "7,7,2")
    assert list(talk.engine.finish()) == ["ERROR BOARD was not ended by DONE"]


# SWAP2BOARD


def test_the_three_stones_are_those_after_which_the_sides_are_most_even(talk: Talk) -> None:
    talk.say("SWAP2BOARD", "DONE")
    looked_at = [tuple(moves) for moves in talk.player.asked]
    assert len(set(looked_at)) == CANDIDATES
    talk.player.value = -0.5
    talk.player.values = {looked_at[5]: -0.04, looked_at[7]: 0.05}
    fresh = Talk(talk.player)
    fresh.say("START 15")
    (answer,) = fresh.say("SWAP2BOARD", "DONE")
    assert tuple(parse_point(point, 15) for point in answer.split()) == looked_at[5]


@pytest.mark.parametrize("stones", [3, 5])
def test_the_better_colour_is_taken(talk: Talk, stones: int) -> None:
    points = ["7,7", "8,7", "9,9", "8,8", "8,6"][:stones]
    talk.player.value = -0.1
    assert talk.say("SWAP2BOARD", *points, "DONE") == ["SWAP"]
    for talk.player.value in (0.1, 0.0, None):
        assert talk.say("SWAP2BOARD", *points, "DONE") == [BOTTOM_LEFT]
    assert talk.player.asked[-1] == [parse_point(point, 15) for point in points]


@pytest.mark.parametrize(
    ("value", "board", "turn"),
    [
        (0.1, ["7,7,2", "8,7,1", "9,9,2", f"{BOTTOM_LEFT},1", "3,3,2"], "3,3"),  # we kept White and made a move
        (-0.1, ["7,7,1", "8,7,2", "9,9,1", "3,3,2"], "3,3"),  # we took Black, and White has answered
    ],
)
def test_the_game_after_swap2_goes_on_by_board_or_by_turn(
    talk: Talk, value: float, board: list[str], turn: str
) -> None:
    talk.player.value = value
    swap2 = ["SWAP2BOARD", "7,7", "8,7", "9,9", "DONE"]
    talk.say(*swap2)
    by_turn = talk.say(f"TURN {turn}")
    talk.say(*swap2)
    assert talk.say("BOARD", *board, "DONE") == by_turn
    assert talk.player.asked[-1] == talk.player.asked[-3]


@pytest.mark.parametrize(
    "points", [["7,7"], ["7,7", "8,8", "7,7"], ["7,7", "8,8", "15,15"], ["7,7,1", "8,8,2", "9,9,1"]]
)
def test_swap2_is_about_0_3_or_5_stones(talk: Talk, points: list[str]) -> None:
    talk.say("BEGIN")
    (answer,) = talk.say("SWAP2BOARD", *points, "DONE")
    assert answer.startswith("ERROR ")
    assert talk.say("TURN 7,7") == [NEXT]


# INFO


@pytest.mark.parametrize(
    "info",
    [
        "timeout_turn 1000",
        "timeout_turn 0",
        "timeout_match 0",
        "time_left -5",
        "time_left 2147483647",
        "max_memory 0",
        "max_node 100",
        "thread_num 2",
        "game_type 1",
        "folder C:\\some where",
        "evaluate 3,4",
        "rule 99",
        "unheard_of 7",
        "timeout_turn",
        "timeout_turn soon",
        "timeout_turn 1e3",
        "timeout_turn 99999999999999999999",
        "timeout_match -9223372036854775808",
        "max_memory -1",
        "",
        "x" * 5000,
    ],
)
def test_info_is_never_answered(talk: Talk, info: str) -> None:
    assert talk.say(f"INFO {info}", f"info {info.upper()}") == []
    assert talk.say("ABOUT") == [ABOUT]  # not even later: a manager reads one line here
    assert talk.say("BEGIN")[-1] == BOTTOM_LEFT


def test_limits_of_memory_and_nodes_hold_from_the_next_move_on(talk: Talk) -> None:
    talk.say("INFO max_memory 83886080", "INFO max_node 500", "BEGIN")
    assert talk.seats.memory[-1] == 83_886_080
    assert talk.seats.seated[-1][1] == 500
    talk.say("INFO max_memory 0", "INFO max_node 0", "TURN 7,7")
    assert (talk.seats.memory[-1], talk.seats.seated[-1][1]) == (None, None)


@pytest.mark.parametrize(("rule", "named"), [(1, "exactly five"), (4, "renju"), (8, "caro"), (6, "renju")])
def test_rules_that_are_not_played_are_told_of_once_before_the_next_move(talk: Talk, rule: int, named: str) -> None:
    talk.say("INFO rule 0", f"INFO rule {rule}")
    message, move = talk.say("BEGIN")
    assert message.startswith("MESSAGE five or more in a row win here")
    assert named in message
    assert move == BOTTOM_LEFT
    assert talk.say("TURN 7,7") == [NEXT]


def test_what_the_seats_have_to_say_comes_before_a_move_or_before_a_long_wait(talk: Talk) -> None:
    talk.seats.notes.append("the mentor plays")
    assert talk.say("ABOUT", "START 20") == [ABOUT, "OK"]
    assert talk.say("BEGIN") == ["MESSAGE the mentor plays", "0,19"]
    talk.seats.why_waiting = "compiling"
    assert talk.say("START 15") == ["MESSAGE compiling", "OK"]


# Time


def test_thinking_ends_in_time_counted_from_when_the_line_was_read(talk: Talk) -> None:
    stopped = []

    def think(stop: object) -> None:
        assert callable(stop)
        while not stop():
            talk.now += 0.001
        stopped.append(talk.now)

    talk.player.thinks = think
    talk.say("INFO timeout_turn 1000")
    talk.now = 10.4  # the line waited for 0.4 s
    assert list(talk.engine.answer("BEGIN", 10.0)) == [BOTTOM_LEFT]
    assert 10.5 < stopped[0] < 11.0
    talk.say("INFO timeout_turn 60000", "INFO time_left 2000")
    started = talk.now
    talk.say("TURN 7,7")
    assert stopped[1] - started < 0.5


def test_a_clock_that_has_run_out_still_gets_its_move(talk: Talk) -> None:
    asked = []
    talk.player.thinks = lambda stop: asked.append(stop())
    talk.say("INFO time_left -300", "BEGIN")
    assert asked == [True]


def test_when_nobody_waits_any_more_a_glance_is_enough() -> None:
    over = False
    talk = Talk(hurry=lambda: over)

    def think(stop: object) -> None:
        nonlocal over
        assert callable(stop)
        while not stop():
            talk.now += 0.01
            over = talk.now > 0.5

    talk.player.thinks = think
    talk.say("START 15", "INFO timeout_turn 60000", "BEGIN")
    assert 0.5 < talk.now < 0.6
    talk.say("TURN 7,7")
    assert talk.now < 0.7


# Everything else


@pytest.mark.parametrize(
    "line", ["FOO", "YXSHOWINFO", "7,7", "SUGGEST 7,7", "#", "\x00\xff", "é", "7,7,1", "OK", "TURN7,7"]
)
def test_what_is_no_command_is_unknown(talk: Talk, line: str) -> None:
    (answer,) = talk.say(line)
    assert answer.startswith("UNKNOWN ")
    assert answer.isprintable()
    assert talk.say("BEGIN") == [BOTTOM_LEFT]


def test_a_line_beyond_all_measure_is_unknown(talk: Talk) -> None:
    (answer,) = talk.say("TURN 7,7" + " " * MAX_LENGTH + "x")
    assert answer.startswith("UNKNOWN ")
    assert talk.say("BEGIN") == [BOTTOM_LEFT]


def test_commands_may_be_written_in_any_case_and_with_any_spaces(talk: Talk) -> None:
    assert talk.say("begin", "Turn   7 , 7 ", "tUrN\t8,8", "", "  ") == [BOTTOM_LEFT, NEXT, "2,14"]


def test_about_is_one_line_at_any_time() -> None:
    talk = Talk()
    assert talk.say("ABOUT") == [ABOUT]


@st.composite
def scripts(draw: st.DrawFn) -> list[str]:
    """Lines of a manager that has lost its mind: commands, points and noise."""
    point = st.builds("{},{}".format, st.integers(-1, 7), st.integers(-1, 7))
    commands = st.sampled_from(
        ["START 6", "START 7", "START x", "RECTSTART 6,6", "RESTART", "BEGIN", "BOARD", "DONE", "SWAP2BOARD", "ABOUT"]
    )
    line = st.one_of(
        commands,
        st.builds("{} {}".format, st.sampled_from(["TURN", "TAKEBACK", "PLAY"]), point),
        st.builds("{},{}".format, point, st.integers(0, 4)),
        point,
        st.builds("INFO {} {}".format, st.sampled_from(["timeout_turn", "rule", "time_left", "x"]), st.integers()),
        st.text(st.characters(max_codepoint=255, exclude_characters="\r\n"), max_size=20),
    )
    return ["START 6", *draw(st.lists(line, max_size=40))]


@given(scripts())
def test_every_line_gets_what_the_protocol_says(lines: Sequence[str]) -> None:
    talk, expected = Talk(), Expected()
    for line in lines:
        assert fault(line, talk.say(line), expected.answers(line)) is None


@pytest.mark.parametrize("size", [5, 6, 15])
def test_two_engines_play_whole_games_against_each_other(size: int) -> None:
    for game in range(5):
        sides = [Engine(OneSeat(RandomPlayer()), about=ABOUT, seed=2 * game + number) for number in range(2)]
        for side in sides:
            assert list(side.answer(f"START {size}")) == ["OK"]
        seen: set[str] = set()
        (answer,) = sides[0].answer("BEGIN")
        while POINT.fullmatch(answer):
            assert answer not in seen
            seen.add(answer)
            (answer,) = sides[len(seen) % 2].answer(f"TURN {answer}")
        assert answer == "ERROR the game is over"
        assert 9 <= len(seen) <= size * size


def test_players_that_draw_their_moves_draw_others_in_every_game() -> None:
    engine = Engine(OneSeat(RandomPlayer()), about=ABOUT)
    for line in ("START 20", "BEGIN"):
        answers = list(engine.answer(line))
    for _ in range(5):
        assert list(engine.answer("RESTART")) == ["OK"]
        answers += engine.answer("BEGIN")
    assert len(set(answers)) > 1
