"""The commands of matches by their command lines: reports, bars, and matches that continue."""

import errno
import json
import os
import signal
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from core.files import atomic
from core.records.formats import read_games
from core.records.record import Ending
from core.rules import Rules
from curriculum.arena.results import PlayedGame
from curriculum.arena.session import MatchSession
from curriculum.arena.tournament import Tournament
from curriculum.reporting import Interrupted
from gomoku_cli.exit_codes import ExitCode
from gomoku_cli.match_options import ReportOptions
from gomoku_cli.process import ORDERLY_SIGNALS
from gomoku_cli.reports import terminal
from gomoku_cli.reports.junit import match_junit
from gomoku_cli.reports.markdown import match_markdown
from tests.support.commands import Capsys, done, refused, run
from tests.support.nets import save_small_model
from tests.support.project import ROOT, SUPPORT
from tests.support.waiting import wait_until

QUICK = ("--board-size", 9, "--openings", "empty", "--quiet")


def result_of(capsys: Capsys, *arguments: object) -> Any:
    """Return the JSON that the command prints."""
    return json.loads(done(run(capsys, *arguments, "--json")))


@pytest.mark.parametrize(
    ("bars", "code", "complaint"),
    [
        (("--sprt", "elo0=2900,elo1=3000"), ExitCode.BAR_NOT_MET, "missed: sequential test"),
        (("--sprt", "elo0=0,elo1=100", "--min-score", 0.9, "--min-elo", 100), ExitCode.DONE, ""),
    ],
)
def test_bars_decide_about_the_exit_code(
    bars: tuple[object, ...], code: ExitCode, complaint: str, capsys: Capsys
) -> None:
    found, out, err = run(capsys, "evaluate", "mentor", "--against", "random", "--games", 40, *QUICK, *bars, "--json")
    assert found == code, err
    assert [bar["met"] for bar in json.loads(out)["bars"]] == [code == ExitCode.DONE] * (len(bars) // 2)
    assert err.startswith(complaint)


def test_a_missed_bar_names_what_was_reached(capsys: Capsys) -> None:
    line = ("evaluate", "random", "--against", "mentor", "--games", 4, *QUICK)
    code, out, err = run(capsys, *line, "--min-score", 0.5, "--min-elo", -10)
    assert code == ExitCode.BAR_NOT_MET
    assert "MISSED" in out
    assert err.splitlines() == [
        "missed: score 0.000, required: at least 0.5",
        "missed: Elo difference -inf, required: at least -10",
    ]


def test_a_sequential_test_ends_the_match_once_the_result_is_sure(capsys: Capsys) -> None:
    line = ("evaluate", "mentor", "--against", "random", "--games", 400, *QUICK, "--concurrency", 8)
    result = result_of(capsys, *line, "--sprt", "elo0=0,elo1=200")
    assert result["games"] < 100
    assert result["sprt"]["verdict"] == "accepted"
    assert result["sprt"]["llr"] >= result["sprt"]["upper_bound"]
    code, out, err = run(capsys, *line[:5], 4, *QUICK, "--sprt", "elo0=0,elo1=10", "--json")
    assert code == ExitCode.BAR_NOT_MET
    found = json.loads(out)
    assert found["sprt"]["verdict"] == "continue"
    assert found["settings"].keys() >= {"players", "models", "openings", "seed", "simulations", "seconds"}
    assert "undecided" in err


def test_reports_are_written(capsys: Capsys, tmp_path: Path) -> None:
    files = {option: tmp_path / f"match.{option}" for option in ("junit", "markdown")}
    options = [word for option, path in files.items() for word in (f"--{option}", path)]
    figure, games = tmp_path / "match.png", tmp_path / "match.sgf"
    line = ("evaluate", "random", "--against", "random", "--games", 4, *QUICK, *options)
    result = result_of(capsys, *line, "--figure", figure, "--games-file", games, "--min-score", 0)
    cases = ET.fromstring(files["junit"].read_text(encoding="utf-8")).findall(".//testcase")
    assert [case.get("name") for case in cases] == ["score"]
    assert f"{result['score']:.3f}" in files["markdown"].read_text(encoding="utf-8")
    assert figure.read_bytes().startswith(b"\x89PNG")
    records = read_games(games)
    assert len(records) == 4
    assert all((record.black, record.white) == ("random", "random") and record.date for record in records)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device there")
@pytest.mark.parametrize(
    ("line", "option"),
    [
        ("evaluate random mentor:paper --games 4", "--games-file"),
        ("tournament random mentor:paper --games 4", "--games-file"),
        ("openings --player mentor --count 2 --stones 4", "--output"),
    ],
    ids=lambda text: str(text).split()[0],
)
def test_games_and_openings_without_room_are_kept_elsewhere(
    line: str, option: str, capsys: Capsys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "kept").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "kept"))
    (tmp_path / "full.sgf").symlink_to("/dev/full")
    words = (*line.split(), "--board-size", 9, "--quiet", "--json", option, tmp_path / "full.sgf")
    code, out, err = run(capsys, *words)
    (kept,) = (tmp_path / "kept").rglob("full.sgf")
    assert (code, err.count("\n")) == (ExitCode.FAILED, 1)
    assert err.endswith(f"full.sgf: No space left on device; it is kept as {kept}\n")
    if option == "--output":
        assert out == "", "the openings are no JSON"
        assert len([each for each in kept.read_text().splitlines() if not each.startswith("#")]) == 2
    else:
        assert json.loads(out), "the result is printed all the same"
        assert len(read_games(kept)) == 4


def test_a_match_is_continued_by_the_same_command(capsys: Capsys, tmp_path: Path) -> None:
    line = ("evaluate", "random", "--against", "mentor:paper", *QUICK, "--run", tmp_path / "match", "--games")
    first, again, more = (result_of(capsys, *line, games) for games in (6, 6, 10))
    assert first | {"seconds": 0} == again | {"seconds": 0}
    assert more["games"] == 10
    *games, last = (tmp_path / "match" / "games.jsonl").read_text(encoding="utf-8").splitlines()
    hour = json.dumps(json.loads(last) | {"elapsed_seconds": 3600})
    (tmp_path / "match" / "games.jsonl").write_text("\n".join((*games, hour, "")), encoding="utf-8")
    assert 3600 <= result_of(capsys, *line, 12)["seconds"] < 7200, "the time before the stop counts"
    assert result_of(capsys, *line, 6)["seconds"] < 3600, "and that of games that are left out does not"
    assert "seed is 42 there and 7 here" in refused(capsys, ExitCode.USAGE, *line, 6, "--seed", 7)
    (tmp_path / "match" / "games.jsonl").write_text("{}\n", encoding="utf-8")
    assert "games.jsonl, line 1" in refused(capsys, ExitCode.BAD_DATA, *line, 6)


@pytest.mark.parametrize("command", ["evaluate", "tournament"])
def test_a_match_that_is_stopped_saves_its_finished_games(
    command: str, capsys: Capsys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    games_file = tmp_path / "games.sgf"
    line = (command, "random", "mentor:paper", "--games", 20, "--concurrency", 1, *QUICK, "--games-file", games_file)
    add = Tournament.add

    def stop_at_five(tournament: Tournament, game: PlayedGame) -> None:
        if tournament.games == 4:
            raise Interrupted
        add(tournament, game)

    monkeypatch.setattr(Tournament, "add", stop_at_five)
    code, out, err = run(capsys, *line)
    assert (code, out) == (ExitCode.INTERRUPTED, "")
    count = len(read_games(games_file))
    assert 5 <= count < 20
    assert f"{games_file}: {count} finished games" in err
    games_file.unlink()
    run(capsys, *line, "--run", tmp_path / "match")
    assert not games_file.exists(), "the same command goes on later, and writes it then"


@pytest.mark.parametrize("command", ["evaluate", "tournament"])
def test_a_match_whose_report_cannot_be_written_is_repeated_by_the_same_command(
    command: str, capsys: Capsys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    games_file, table = tmp_path / "games.sgf", tmp_path / "table.md"
    line = (command, "random", "mentor:paper", "--games", 2, *QUICK, "--games-file", games_file, "--markdown", table)

    def full(path: Path, text: str) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    with monkeypatch.context() as patch:
        patch.setattr(atomic, "atomic_write_text", full)
        assert run(capsys, *line, "--run", tmp_path / "match")[0] == ExitCode.FAILED
        assert not games_file.exists(), "the next time it would be in the way"
        assert run(capsys, *line)[0] == ExitCode.FAILED
        assert len(read_games(games_file)) == 2, "these games are nowhere else"
    games_file.unlink()
    done(run(capsys, *line, "--run", tmp_path / "match"))
    assert len(read_games(games_file)) == 2
    assert table.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="no such signal there")
@pytest.mark.slow
def test_ctrl_c_keeps_the_games_and_prints_the_command_that_continues(tmp_path: Path) -> None:
    folder = tmp_path / "match"
    line = ["evaluate", "pure-mcts:400", "--against", "pure-mcts:400", "--games", "100", "--concurrency", "2"]
    line += ["--board-size", "9", "--openings", "balanced", "--run", str(folder)]
    process = subprocess.Popen(
        [sys.executable, "-m", "gomoku_cli", *line], cwd=ROOT, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    games = folder / "games.jsonl"
    wait_until(lambda: process.poll() or (games.exists() and games.read_text(encoding="utf-8").count("\n") >= 2))
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == ExitCode.INTERRUPTED
    assert out == ""
    assert f"continue with: python -m gomoku_cli {' '.join(line)}" in err
    kept = games.read_text(encoding="utf-8").count("\n")
    assert 2 <= kept < 100
    assert len(read_games(folder / "games.sgf")) == kept


def test_a_tournament_ranks_its_players(capsys: Capsys, tmp_path: Path) -> None:
    line = ("tournament", "random", "mentor", "mentor:paper", "--games", 4, *QUICK, "--run", tmp_path / "pool")
    result = result_of(capsys, *line)
    assert [player["player"] for player in result["players"]] == ["mentor", "mentor:paper", "random"]
    assert len(result["matches"]) == 3
    assert sum(match["games"] for match in result["matches"]) == 12
    assert result_of(capsys, *line)["players"] == result["players"]
    assert "Standings" in done(run(capsys, *line))
    gauntlet = result_of(capsys, *line[:-2], "--format", "gauntlet")
    assert {match["player"] for match in gauntlet["matches"]} == {"random"}
    assert len(gauntlet["matches"]) == 2


def test_an_engine_that_fails_loses_and_is_reported(capsys: Capsys, tmp_path: Path) -> None:
    engine = f"engine:{sys.executable} {SUPPORT / 'engines' / 'scripted.py'} illegal"
    games = tmp_path / "games.sgf"
    line = ("evaluate", "random", "--against", engine, "--games", 2, *QUICK, "--engine-seconds", 5)
    result = result_of(capsys, *line, "--games-file", games)
    assert (result["wins"], result["losses"]) == (2, 0)
    assert len(result["forfeits"]) == 2
    assert all("already holds a stone" in forfeit["why"] for forfeit in result["forfeits"])
    assert [record.ending for record in read_games(games)] == [Ending.FORFEIT] * 2
    assert "--force overwrites it" in refused(capsys, ExitCode.USAGE, *line, "--games-file", games)
    assert result_of(capsys, *line, "--games-file", games, "--force")["wins"] == 2


def test_a_bar_is_not_met_by_an_engine_that_never_plays(capsys: Capsys) -> None:
    engine = f"engine:{sys.executable} -c pass"
    line = ("evaluate", "random", "--against", engine, "--games", 20, *QUICK, "--min-score", 0.9)
    code, out, err = run(capsys, *line)
    assert code == ExitCode.FAILED
    assert out == ""
    assert "made no move in any game, so there is no result" in err
    assert "no answer to START" in err


def test_a_climb_ends_at_its_last_rung(capsys: Capsys, tmp_path: Path) -> None:
    line = ("ladder", "mentor", "--from", 2, "--step", 3, "--games", 4, *QUICK)
    climbed = result_of(capsys, *line, "--stop-at", 0, "--to", 8, "--run", tmp_path / "climb")
    assert [rung["playouts"] for rung in climbed["rungs"]] == [2, 5, 8]
    assert sorted(path.name for path in (tmp_path / "climb").iterdir()) == ["pure-mcts-2", "pure-mcts-5", "pure-mcts-8"]
    weak = ("ladder", "random", *line[2:])
    ended = result_of(capsys, *weak, "--stop-at", 3, "--figure", tmp_path / "climb.svg")
    assert len(ended["rungs"]) == 1
    assert (tmp_path / "climb.svg").read_text(encoding="utf-8").startswith("<?xml")
    assert "no rung of 4 games has more than 4 wins" in refused(capsys, ExitCode.USAGE, *line, "--stop-at", 4)
    out = done(run(capsys, *line, "--stop-at", 3, "--to", 4, "--markdown", tmp_path / "climb.md"))
    assert "playouts" in out
    assert "playouts" in (tmp_path / "climb.md").read_text(encoding="utf-8")


def test_a_suite_is_scored_kind_by_kind(capsys: Capsys, tmp_path: Path) -> None:
    line = ("suite", "random", "tactics", "--quiet")
    result = result_of(capsys, *line)
    assert result["positions"] >= 500
    assert 0 < result["solved"] < 100
    assert sum(kind["positions"] for kind in result["kinds"].values()) == result["positions"]
    assert len(result["missed"]) == result["positions"] - result["solved"]
    files = {option: tmp_path / f"suite.{option}" for option in ("junit", "markdown")}
    options = [word for option, path in files.items() for word in (f"--{option}", path)]
    code, out, err = run(capsys, *line, "--min-score", 0.9, *options)
    assert code == ExitCode.BAR_NOT_MET
    assert "only-defence" in out
    assert "--json names them" in out
    assert "missed: solved 0.0" in err
    failure = ET.fromstring(files["junit"].read_text(encoding="utf-8")).find(".//testcase[@name='solved']/failure")
    assert "at least 0.9" in failure.attrib["message"]
    assert "| only-defence |" in files["markdown"].read_text(encoding="utf-8").replace("\\", "")


def test_a_suite_of_another_rule_is_played_under_it_by_players_of_its_board(capsys: Capsys, tmp_path: Path) -> None:
    result = result_of(capsys, "suite", "random", "--variant", "renju", "--quiet")
    assert result["variant"] == "renju"
    assert {"foul-net", "foul-trap", "no-five"} < result["kinds"].keys()
    assert "random: suite tactics, renju" in run(capsys, "suite", "random", "--variant", "renju", "--quiet")[1]
    why = refused(capsys, ExitCode.USAGE, "suite", "random", "hard", "--variant", "caro", "--quiet")
    assert "there is no suite hard for caro on 15x15; it is for 5 in a row on 15x15" in why
    why = refused(capsys, ExitCode.USAGE, "suite", save_small_model(tmp_path / "small.safetensors", Rules(9)))
    assert "tactics is for 5 in a row on 15x15" in why


# Signals


@pytest.fixture
def signals() -> Iterator[None]:
    """The handlers of this process come back."""
    kept = {number: signal.signal(number, signal.SIG_DFL) for number in ORDERLY_SIGNALS}
    yield
    for number, handler in kept.items():
        signal.signal(number, handler)


@pytest.mark.skipif(sys.platform == "win32", reason="signals end a process at once there")
@pytest.mark.usefixtures("signals")
@pytest.mark.parametrize(("number", "as_json"), [(signal.SIGINT, False), (signal.SIGTERM, True)])
def test_a_ladder_that_is_stopped_shows_its_finished_rungs(
    as_json: bool, number: signal.Signals, monkeypatch: pytest.MonkeyPatch, capsys: Capsys, tmp_path: Path
) -> None:
    real, rungs = MatchSession.play_match, []

    def play_match(self: MatchSession, *args: Any, **kwargs: Any) -> Any:
        if len(rungs) == 2:
            os.kill(os.getpid(), number)
        rungs.append(1)
        return real(self, *args, **kwargs)

    monkeypatch.setattr(MatchSession, "play_match", play_match)
    line = ("ladder", "mentor", "--from", 2, "--games", 4, "--stop-at", 0, *QUICK, "--markdown", tmp_path / "ladder.md")
    code, out, err = run(capsys, *line, *(["--json"] if as_json else []))
    assert code == ExitCode.INTERRUPTED
    assert "stopped" in err
    if as_json:
        assert [rung["playouts"] for rung in json.loads(out)["rungs"]] == [2, 102]
    else:
        assert "mentor against pure MCTS" in out
    assert "102" in (tmp_path / "ladder.md").read_text(encoding="utf-8")


@pytest.mark.skipif(sys.platform == "win32", reason="signals end a process at once there")
@pytest.mark.usefixtures("signals")
@pytest.mark.parametrize(
    ("command", "report", "number"),
    [
        *((("evaluate", "mentor", "random", "--games", 2, *QUICK), "show_match", each) for each in ORDERLY_SIGNALS),
        (("tournament", "mentor", "random", "mentor:1", "--games", 2, *QUICK), "show_standings", signal.SIGTERM),
        (("ladder", "random", "--from", 2, "--games", 2, "--stop-at", 1, *QUICK), "show_ladder", signal.SIGINT),
        (("suite", "mentor:paper", "--quiet"), "show_suite", signal.SIGTERM),
    ],
)
def test_a_signal_after_the_last_game_costs_no_result(
    command: tuple[object, ...],
    report: str,
    number: signal.Signals,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Capsys,
    tmp_path: Path,
) -> None:
    real = getattr(terminal, report)

    def signalled(*args: Any) -> None:
        os.kill(os.getpid(), number)
        real(*args)

    monkeypatch.setattr(terminal, report, signalled)
    assert done(run(capsys, *command, "--markdown", tmp_path / "report.md"))
    assert (tmp_path / "report.md").is_file()


@pytest.mark.parametrize("option", ["--junit", "--markdown"])
def test_a_report_replaces_reports_alone(option: str, tmp_path: Path) -> None:
    for kept in ("(;GM[4]SZ[15])", "# Notes\n", "<?xml version='1.0'?><project/>"):
        (tmp_path / "kept").write_text(kept, encoding="utf-8")
        with pytest.raises(typer.BadParameter, match="exists and is no report; name another file"):
            ReportOptions(**{option[2:]: tmp_path / "kept"}).check()
    reports = {"--junit": match_junit("a against b", [], [], 1.0), "--markdown": match_markdown("a", [], [], [])}
    for text in ("", reports[option]):
        (tmp_path / "report").write_text(text, encoding="utf-8")
        ReportOptions(**{option[2:]: tmp_path / "report"}).check()
    with pytest.raises(typer.BadParameter, match=r"two options write to .*new\.sgf"):
        ReportOptions(**{option[2:]: tmp_path / "new.sgf", "games_file": tmp_path / "new.sgf"}).check()
