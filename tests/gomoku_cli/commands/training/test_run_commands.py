"""`gomoku config`, `gomoku runs` and `gomoku info` of a run."""

import json
from pathlib import Path

import pytest

from gomoku_cli import completion
from gomoku_cli.exit_codes import ExitCode
from gomoku_cli.reports.training.overview import best_score, runs_at
from nets.checkpoint import save_model
from tests.support.cases import cases
from tests.support.commands import Capsys, done, refused, run
from tests.support.nets import model_of
from tests.support.runs import make_run


def test_config_lists_a_section_with_a_star_at_changed_values(capsys: Capsys) -> None:
    out = done(run(capsys, "config", "list", "gate", "--of", "quick"))
    assert out.startswith("[gate]\n* games ")
    assert "\n  threshold " in out


def test_config_answers_an_unknown_name_with_the_sections(capsys: Capsys) -> None:
    code, _, error = run(capsys, "config", "list", "foo")
    assert code == ExitCode.USAGE
    assert "there is no setting foo; valid are rules, net, search, " in error
    assert "search.c_puct" not in error


def test_config_names_each_preset_and_model_once(capsys: Capsys) -> None:
    names = refused(capsys, ExitCode.USAGE, "config", "diff", "quick", "@").partition("valid are ")[2].split(", ")
    assert len(names) == len(set(names)) > 1


def test_config_explains_a_choice_of_names(capsys: Capsys) -> None:
    out = done(run(capsys, "config", "explain", "search.first_play"))
    assert "- zero: 0, as in the papers." in out
    assert 'default: "reduced"' in out
    out = done(run(capsys, "config", "explain", "gate", "--json"))
    keys = [each["key"] for each in json.loads(out)["settings"]]
    names = ("games", "threshold", "paired_openings", "simulations", "keep_rejected")
    assert keys == [f"gate.{name}" for name in names]


def test_config_compares_presets_runs_files_and_models(tmp_path: Path, capsys: Capsys) -> None:
    make_run(tmp_path / "run")
    out = done(run(capsys, "config", "diff", "quick", tmp_path / "run", "--json"))
    assert json.loads(out)["differences"] == [{"key": "selfplay.iterations", "values": [2, 4]}]
    (tmp_path / "mine.toml").write_text("seed = 7\n")
    out = done(run(capsys, "config", "diff", tmp_path / "mine.toml", "defaults", "--json"))
    assert [each["key"] for each in json.loads(out)["differences"]] == ["seed"]
    assert "the same settings" in run(capsys, "config", "diff", "quick", "quick")[1]
    assert run(capsys, "config", "diff", "default.safetensors", "quick")[0] == ExitCode.BAD_DATA
    assert run(capsys, "config", "diff", "nets/weights/default.safetensors", "quick")[0] == 0


def test_settings_are_completed_with_values_that_are_names() -> None:
    assert completion.settings("search.first") == ["search.first_play="]
    assert completion.settings("search.first_play=r") == ["search.first_play=reduced"]
    assert "imitation.teacher=mentor:3" in completion.settings("imitation.teacher=mentor:")
    assert completion.settings("gate.games=") == []
    assert completion.keys("gat")[:2] == ["gate", "gate.games"]


def test_runs_are_listed_with_phase_and_score(tmp_path: Path, capsys: Capsys) -> None:
    make_run(tmp_path / "a")
    make_run(tmp_path / "below" / "b", rounds=4)
    (tmp_path / "c").mkdir()
    out = done(run(capsys, "runs", tmp_path, "--json"))
    first, second = json.loads(out)["runs"]
    assert first["progress"] == "phase 3 of 3, self-play, round 3 of 4"
    assert (first["rounds"], first["rounds_accepted"], first["in_progress"]) == (2, 1, False)
    assert first["scores"] == {"mentor:paper": 0.85}
    assert first["seconds_left"] > 100
    assert second["phase"] == "evaluation"
    assert "1 of 2" in done(run(capsys, "runs", tmp_path))
    out = done(run(capsys, "info", tmp_path / "a"))
    assert "phase 3 of 3, self-play, round 3 of 4" in out
    assert "best.safetensors is missing, the best model of its run: copy another model" in out


def test_info_says_how_a_model_plays(capsys: Capsys) -> None:
    _, out, _ = run(capsys, "info", "--json")
    assert json.loads(out)["plays"] == {"simulations": 400, "tactics": True}
    assert "400 simulations a move by default, with tactics" in run(capsys, "info")[1]


def test_info_leaves_out_what_is_not_known(tmp_path: Path, capsys: Capsys) -> None:
    path = tmp_path / "model.safetensors"
    save_model(path, model_of(), {"phase": "basics", "commit": None})
    out = done(run(capsys, "info", path))
    assert "basics" in out
    assert "None" not in out
    assert "commit" not in out


def test_a_chain_stands_for_its_runs(tmp_path: Path) -> None:
    paths = [make_run(tmp_path / "chain" / name) for name in ("a", "b")]
    assert runs_at([tmp_path / "chain"]) == paths
    assert runs_at([paths[1], tmp_path / "chain"]) == [paths[1], paths[0]]
    assert runs_at([paths[0], paths[1] / ".." / "a"]) == paths[:1]


@pytest.mark.parametrize(("scores", "shown"), cases("best_scores"))
def test_the_best_score_is_against_the_strongest_that_lost_a_point(scores: dict[str, float], shown: str) -> None:
    assert best_score(scores) == shown
