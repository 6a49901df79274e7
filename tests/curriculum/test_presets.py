"""Presets, files, assignments and flags: their order, their checks, and the text of their errors."""

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import Notice
from core.input_limits import MAX_INTEGER
from core.rules import Rules
from curriculum.config import Config
from curriculum.keys import KEYS
from curriculum.presets import Choice, preset_names, read_config, resolve, revised, to_toml
from curriculum.stated import ConfigError
from nets.config import Planes
from search.tree.settings import DecayForm, FirstPlay
from tests.support.cases import cases


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_a_configuration_names_the_preset_it_began_with() -> None:
    assert resolve() == Config()
    assert Config().preset == "custom"
    for name in preset_names():
        assert resolve(name, assignments=["seed=5"]).preset == name
    with pytest.raises(ConfigError, match="the run was made from the preset quick, not smoke"):
        revised(resolve("quick"), Choice("smoke"))


def test_the_written_configuration_has_every_key_once() -> None:
    lines = [line.partition(" = ")[0] for line in to_toml(Config()).splitlines() if " = " in line]
    assert lines == [key.rpartition(".")[2] for key in KEYS]


FLAGS = {
    "seed": st.integers(0, MAX_INTEGER),
    "basics.learning_rate": st.floats(0, 1e6),
    "rules.size": st.integers(5, 25),
    "net.planes": st.sampled_from(Planes),
    "net.dual": st.booleans(),
    "basics.kinds": st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), min_size=1, max_size=3),
    "basics.noise_stones": st.tuples(st.integers(0, 9), st.integers(9, 99)),
}


@given(flags=st.fixed_dictionaries(FLAGS))
def test_any_configuration_reads_back_the_same(
    tmp_path_factory: pytest.TempPathFactory, flags: dict[str, object]
) -> None:
    config = resolve(flags=flags)
    file = tmp_path_factory.mktemp("config") / "config.toml"
    assert read_config(write(file, to_toml(config))) == config


def test_settings_of_earlier_versions_are_read_and_said_to_have_no_effect_if_they_had_one(tmp_path: Path) -> None:
    file = write(tmp_path / "config.toml", "[selfplay]\ngames = 7\nforced_playouts = 0.0\n")
    assert read_config(file).selfplay.games == 7
    with pytest.warns(Notice, match=r"config.toml: selfplay.forced_playouts is no setting any more"):
        read_config(write(file, "[selfplay]\nforced_playouts = 2.0\n"))
    with pytest.raises(ConfigError, match=r"there is no key selfplay\.forced_playouts"):
        resolve(assignments=["selfplay.forced_playouts=2"])


@pytest.mark.parametrize(
    ("preset", "stated", "complaint"),
    [
        (None, {"flags": {"seed": MAX_INTEGER + 1}}, "it must be at most 9,223,372,036,854,775,807"),
        (None, {"flags": {"basics.positions": -1}}, r"^--positions: basics\.positions is -1"),
        ("qick", {}, r"--preset qick: there is no such preset; did you mean quick\?"),
        (None, {"assignments": ["preset=smoke"]}, "--set preset=smoke: write it as --preset smoke"),
    ],
)
def test_a_mistake_names_its_option(preset: str | None, stated: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        resolve(preset, **stated)


def test_file_then_set_then_flag_override_the_preset(tmp_path: Path) -> None:
    file = write(tmp_path / "mine.toml", "seed = 2\n[search]\nsimulations = 20\nc_puct = 2\n")
    assert resolve("alphagomoku").search.simulations == 800
    assert resolve("alphagomoku", file=file).search.simulations == 20
    both = resolve("alphagomoku", file=file, assignments=["search.simulations=30", "seed=3"])
    assert (both.search.simulations, both.seed, both.search.c_puct) == (30, 3, 2.0)
    assert resolve("alphagomoku", file=file, assignments=["seed=3"], flags={"seed": 4}).seed == 4


def test_settings_that_belong_together_are_checked_together() -> None:
    assert resolve(assignments=["rules.size=3", "rules.connect=3"]).rules == Rules(3, 3)


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("search.c_puct=3", "c_puct", 3.0),
        ("search.c_puct = 2.5", "c_puct", 2.5),
        ("search.decay_form=repository", "decay_form", DecayForm.REPOSITORY),
        ('search.first_play="zero"', "first_play", FirstPlay.ZERO),
    ],
)
def test_an_assignment_is_read_in_its_fields_type(text: str, key: str, value: object) -> None:
    found = getattr(resolve(assignments=[text]).search, key)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("text", ["basics.noise_stones=0,8", "basics.noise_stones=[0, 8]"])
def test_a_list_may_leave_its_brackets_out(text: str) -> None:
    assert resolve(assignments=[text]).basics.noise_stones == (0, 8)


def test_names_may_leave_their_quotes_out() -> None:
    config = resolve(assignments=["imitation.teacher=pure-mcts:1000", "basics.kinds=attack-four, defend-four"])
    assert config.imitation.teacher == "pure-mcts:1000"
    assert config.basics.kinds == ("attack-four", "defend-four")


@pytest.mark.parametrize(("assignment", "words"), cases("assignments_refused"))
def test_a_mistake_is_named_with_its_place_and_a_right_value(assignment: str, words: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        resolve(assignments=[assignment])
    message = str(caught.value)
    assert message.startswith(f"--set {assignment}: ")
    assert "\n" not in message
    for word in words:
        assert word in message


def test_a_mistake_in_a_file_names_the_file(tmp_path: Path) -> None:
    file = write(tmp_path / "mine.toml", "[search]\nsimulation = 5\n")
    with pytest.raises(ConfigError, match=r"mine\.toml: there is no key search\.simulation; did you mean search\.simu"):
        resolve(file=file)
    with pytest.raises(ConfigError, match=r"mine\.toml: there is no section serch; did you mean search\?"):
        resolve(file=write(file, "[serch]\n"))
    with pytest.raises(ConfigError, match=r"mine\.toml: .*line 1"):
        resolve(file=write(file, "seed = = 5"))
    with pytest.raises(ConfigError, match=r"none\.toml cannot be read: No such file"):
        resolve(file=tmp_path / "none.toml")


def test_only_what_is_stated_changes_a_run() -> None:
    config = resolve("quick", assignments=["search.simulations=33"])
    assert revised(config, Choice()) == revised(config, Choice("quick")) == config
    assert revised(config, Choice(assignments=["search.simulations=33"])) == config
    changed = revised(config, Choice("quick", assignments=["search.simulations=34"]))
    assert changed == resolve("quick", assignments=["search.simulations=34"])


def test_the_preset_of_a_file_is_the_one_under_it(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('preset = "smoke"\n[selfplay]\ngames = 7\n')
    assert resolve(file=file) == resolve("smoke", assignments=["selfplay.games=7"])
    assert resolve("smoke", file=file) == resolve(file=file)
    with pytest.raises(ConfigError, match="preset is smoke, but the command line has --preset quick"):
        resolve("quick", file=file)
    for name, complaint in (
        ("smok", "did you mean smoke"),
        ("y-chain", "is a chain"),
        (3, "the name of a preset"),
    ):
        file.write_text(f"preset = {json.dumps(name)}\n")
        with pytest.raises(ConfigError, match=complaint):
            resolve(file=file)
    file.write_text(to_toml(resolve("quick", assignments=["seed=5"])))
    assert resolve(file=file) == resolve("quick", assignments=["seed=5"])
    file.write_text(to_toml(Config(seed=3)))
    assert resolve(file=file) == Config(seed=3)


def test_a_file_has_a_preset_or_a_file_under_it(tmp_path: Path) -> None:
    mine, other = tmp_path / "mine.toml", tmp_path / "folder" / "other.toml"
    other.parent.mkdir()
    mine.write_text('base = "hour"\n[selfplay]\ngames = 7\n')
    other.write_text('base = "../mine.toml"\nseed = 5\n[selfplay]\niterations = 2\n')
    assert resolve(file=mine) == resolve("hour", assignments=["selfplay.games=7"])
    assert resolve(file=other) == resolve("hour", assignments=["selfplay.games=7", "seed=5", "selfplay.iterations=2"])
    with pytest.raises(ConfigError, match="preset is hour, but the command line has --preset quick"):
        resolve("quick", file=other)
    for base, complaint in (
        ('"folder/other.toml"', "makes a circle of files"),
        ('"none.toml"', r"mine\.toml: base = none\.toml: there is no file .*none\.toml"),
        ('""', "base must be the name of a preset or a TOML file"),
        ('"hout"', r"mine\.toml: base = hout: there is no such preset; did you mean hour"),
        ('"y-chain"', "is a chain"),
        ("3", "must be the name of a preset or a TOML file"),
        ('"hour"\npreset = "smoke"', "preset and base both name the settings"),
    ):
        mine.write_text(f"base = {base}\n")
        with pytest.raises(ConfigError, match=complaint):
            resolve(file=other)


def test_a_file_that_states_the_scale_states_scaled_values(tmp_path: Path) -> None:
    run = resolve("quick", flags={"scale": 0.1})
    file = tmp_path / "config.toml"
    file.write_text(to_toml(run))
    assert resolve(file=file) == run
    assert revised(run, Choice(file=file)) == run
    assert revised(run, Choice("quick", flags={"scale": 0.1})) == run, "it is not scaled again"
    file.write_text('base = "quick"\nscale = 0.1\n[selfplay]\ngames = 50\n')
    assert resolve(file=file) == resolve("quick", assignments=["selfplay.games=500"], flags={"scale": 0.1})


def test_tactics_are_on_in_the_strong_presets_and_off_in_the_others() -> None:
    for name in (None, *preset_names()):
        search, is_strong = resolve(name).search, (name or "").startswith("strongest")
        assert search == (search.with_tactics() if is_strong else search.without_tactics()), name


def test_the_papers_preset_has_the_papers_numbers() -> None:
    config = resolve("alphagomoku")
    assert config.rules == Rules(15, 5)
    assert (config.net.trunk, config.net.dual) == (("conv3-32", "residual*2"), True)
    assert (config.search.simulations, config.search.c_puct, config.search.value_decay) == (800, 5.0, 0.9)
    assert config.search.first_play is FirstPlay.ZERO
    assert (config.search.virtual_loss, config.search.leaves_in_flight) == (10, 8)
    training = config.training
    assert (training.batch_size, training.momentum, training.l2, training.z_decay) == (512, 0.9, 1e-4, 0.9)
    assert (config.basics.positions, config.basics.epochs, config.basics.colour_swapped) == (80_000, 40, False)
    for phase in (config.basics, config.imitation, config.selfplay):
        assert phase.learning_rate == phase.final_learning_rate == 2e-3
    assert (config.gate.games, config.gate.threshold, config.gate.paired_openings) == (20, 0.5, False)
    assert (config.selfplay.dirichlet_epsilon, config.selfplay.switch_stage) == (0.0, 6)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("seed = " + "9" * 5000, "above the limit of 9,223"),
        ("seed = 0x" + "f" * 5000, "above the limit of 9,223"),
        ("seed = " + "[" * 5000, "nested more than 8 levels"),
        ("seed = " + "[" * 20 + "]" * 20, "nested more than 8 levels"),
        ("a." * 30_000 + "a = 1", "line 1 has more than 100 dots"),
        ("a." * 50 + "a = 1", "nested more than 8 levels"),
        ("# " + "x" * 70_000, "the limit of such files is 65,536 bytes"),
        ("\0", "Invalid statement"),
        ("seed = 1e999", "seed is Infinity; it must be a whole number"),
        ("[training]\nl2 = nan", "l2 is NaN; it must be a finite number"),
        ("[training]\nl2 = 1979-05-27", "it must be a number"),
        ('seed = "' + "x" * 5000 + '"', r"xxx\.\.\.; it must be a whole number"),
    ],
)
def test_a_hostile_configuration_is_refused_in_a_line(text: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=why) as caught:
        read_config(write(tmp_path / "config.toml", text))
    assert len(str(caught.value)) < 1000
    assert "\n" not in str(caught.value)


def test_a_hostile_assignment_is_refused_in_a_line() -> None:
    for value in ("9" * 5000, "0x" + "f" * 5000, "[" * 5000, "{" + "a." * 9000 + "a=1}", "1e999", "nan", "\0"):
        with pytest.raises(ConfigError, match="--set seed=") as caught:
            resolve(assignments=[f"seed={value}"])
        assert len(str(caught.value)) < 1000


def test_what_is_no_file_is_no_configuration(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: Is a directory"):
        read_config(tmp_path)
    loop = tmp_path / "loop.toml"
    loop.symlink_to(loop)
    with pytest.raises(ConfigError, match="cannot be read: "):
        read_config(loop)
    with pytest.raises(ConfigError, match="cannot be read: File name too long"):
        read_config(tmp_path / ("x" * 300))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_a_configuration_may_come_from_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=("seed = 9\n",))
    writer.start()
    assert read_config(pipe).seed == 9
    writer.join()
