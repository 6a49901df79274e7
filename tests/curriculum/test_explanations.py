"""Explanations of settings: every setting and every named value has one, and a run's file carries them."""

from pathlib import Path

from curriculum.explanations import comment_lines, explanations
from curriculum.keys import KEYS, SECTIONS, allowed, names_of
from curriculum.presets import preset_names, read_config, resolve, to_toml
from curriculum.run.folder import RunFolder


def test_every_setting_and_section_is_explained() -> None:
    assert explanations().keys() == KEYS.keys() | set(SECTIONS)
    assert [name for name, known in explanations().items() if not known.text] == []


def test_values_that_are_names_are_explained() -> None:
    assert explanations()["search.first_play"].values["zero"] == "0, as in the papers."
    assert names_of("search.first_play") == ["reduced", "zero"]
    assert names_of("phases") == ["basics", "imitation", "selfplay"]
    assert names_of("gate.paired_openings") == ["true", "false"]
    assert names_of("gate.games") == []


def test_a_first_sentence_ends_after_references() -> None:
    assert explanations()["search.c_puct"].first_sentence == "Weight of exploration (A eq. 8)"


def test_allowed_values_are_texts() -> None:
    assert allowed("selfplay.window") == "a whole number, above 0"
    assert allowed("imitation.opening_stones") == "a list of 2 whole numbers, 0 or more"
    assert allowed("search.first_play") == "one of reduced, zero"
    assert all(allowed(key) for key in KEYS)


def test_comments_change_no_value(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    for name in preset_names():
        file.write_text(to_toml(resolve(name), comment_lines), encoding="utf-8")
        assert read_config(file) == resolve(name)
        assert max(map(len, file.read_text(encoding="utf-8").splitlines())) < 250


def test_the_file_of_a_run_explains_its_settings(tmp_path: Path) -> None:
    config = resolve("smoke")
    with RunFolder.create(tmp_path / "run", config):
        text = (tmp_path / "run" / "config.toml").read_text(encoding="utf-8")
        assert "# Weight of exploration (A eq. 8).\nc_puct = " in text
    with RunFolder.open(tmp_path / "run") as run:
        assert run.config == config
