"""What the documents say is so: commands parse, settings and files exist, and nothing is left to be filled in."""

import re
import shlex
import tomllib

import pytest
from typer.main import get_command

from curriculum.presets import KEYS, preset_names, resolve, to_toml
from gomoku_cli import app
from tests.support.project import ROOT

DOCUMENTS = ("README.md", "ARCHITECTURE.md", "CHANGELOG.md")
README, ARCHITECTURE, CHANGELOG = ((ROOT / name).read_text(encoding="utf-8") for name in DOCUMENTS)
PACKAGES = ("core", "search", "nets", "curriculum", "gomoku_cli")

GROUP = get_command(app.app)
COMMANDS = GROUP.commands  # type: ignore[attr-defined]

_FENCE = re.compile(r"^```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SHOWN = [
    line.removeprefix("$ ")
    for block in _FENCE.findall(README)
    for line in re.sub(r"\\\n\s*", "", block).splitlines()  # a line that goes on is one
]
_PROSE = re.findall(r"`([^`\n]+)`", _FENCE.sub("", README))


def arguments(text: str) -> list[str]:
    """The words after `gomoku`."""
    return shlex.split(text, comments=True)[1:]


def option_names(command: str | None) -> set[str]:
    """The options of a command (None: of `gomoku` itself)."""
    params = (GROUP if command is None else COMMANDS[command]).params
    return {"--help"} | {name for param in params for name in (*param.opts, *param.secondary_opts)}


@pytest.mark.parametrize("line", [line for line in _SHOWN if line.startswith("gomoku ")])
def test_a_command_line_that_is_shown_parses(line: str) -> None:
    name, *rest = arguments(line)
    if name.startswith("-"):
        assert name in option_names(None)
    else:
        COMMANDS[name].make_context(name, rest)


def test_the_examples_cover_every_command() -> None:
    assert {arguments(line)[0] for line in _SHOWN if line.startswith("gomoku ")} >= COMMANDS.keys()


@pytest.mark.parametrize("text", sorted({text for text in _PROSE if text.startswith("gomoku ")}))
def test_a_command_in_prose_exists(text: str) -> None:
    name, *rest = arguments(text)
    if name == "COMMAND":  # any of them
        assert rest == ["--help"]
        return
    options = {word for word in (name, *rest) if word.startswith("-")}
    assert options <= option_names(None if name.startswith("-") else name)
    if "--against" in options or "--run" in options:  # a whole command line
        COMMANDS[name].make_context(name, rest)


def test_settings_in_prose_exist() -> None:
    sections = "|".join({key.partition(".")[0] for key in KEYS if "." in key})
    named = {text.partition(" ")[0] for text in _PROSE if re.match(rf"(?:{sections})\.[a-z_0-9]+\b", text)}
    assert named, "the README names settings"
    assert named <= KEYS.keys()


def test_every_setting_of_which_the_paper_has_another_value_is_named() -> None:
    ours, papers = (tomllib.loads(to_toml(resolve(preset))) for preset in (None, "alphagomoku"))
    sections = {name for name, value in ours.items() if isinstance(value, dict)}
    differing = {f"{name}.{key}" for name in sections for key in ours[name] if ours[name][key] != papers[name][key]}
    assert sorted(differing - set(_PROSE)) == []


def test_every_preset_is_described() -> None:
    assert set(preset_names()) <= set(_PROSE)


def test_make_targets_exist() -> None:
    known = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = [text.split() for text in (*_PROSE, *_SHOWN) if text.startswith("make ")]
    assert {next(word for word in words[1:] if "=" not in word) for words in named} <= known


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_and_paths_lead_somewhere(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text)]
    paths = re.findall(rf"`((?:{'|'.join(PACKAGES)})/[\w/.]+)`", text)
    assert [path for path in (*links, *paths) if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("name", DOCUMENTS)
def test_anchors_are_headings(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    for file, anchor in re.findall(r"\]\(([\w.]*)#([^)]+)\)", text):
        target = (ROOT / file).read_text(encoding="utf-8") if file else text
        headings = re.findall(r"^#+ (.+)$", _FENCE.sub("", target), re.MULTILINE)
        # As GitHub makes them: lower case, punctuation dropped, spaces as hyphens.
        assert anchor in {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_nothing_is_left_to_be_filled_in(name: str) -> None:
    assert re.findall(r"TODO\S*", (ROOT / name).read_text(encoding="utf-8")) == []
