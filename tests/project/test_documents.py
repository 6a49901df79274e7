"""The documents: links lead somewhere, command lines parse, settings exist, figures have a source, examples run."""

import doctest
import os
import re
import shlex
import tomllib
from enum import StrEnum

import pytest
from typer.main import get_command

from curriculum.keys import KEYS
from curriculum.presets import preset_names, resolve, to_toml
from gomoku_cli import app
from gomoku_cli.commands.table import commands
from nets.config import Backend, Precision
from tests.support.commands import Capsys, run
from tests.support.project import ROOT

PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in (
        *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "benchmarks/README.md")),
        *sorted((ROOT / "docs").rglob("*.md")),
    )
}
README = PAGES["README.md"]
GROUP = get_command(app.app)
COMMANDS = {name: command.load() for name, command in commands().items() if not command.hidden}

_FENCE = re.compile(r"^```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_CURRENT = {name: text for name, text in PAGES.items() if name != "CHANGELOG.md"}  # which names former commands too


def shown(text: str) -> list[str]:
    """Return the lines of all code blocks, continued lines joined, prompts removed."""
    blocks = [re.sub(r"\\\n\s*", "", block) for block in _FENCE.findall(text)]
    return [line.removeprefix("$ ") for block in blocks for line in block.splitlines()]


def prose(text: str) -> list[str]:
    """Return the code spans outside of code blocks."""
    return re.findall(r"`([^`\n]+)`", _FENCE.sub("", text))


SHOWN = [line for text in _CURRENT.values() for line in shown(text)]
PROSE = {span for text in _CURRENT.values() for span in prose(text)}


def arguments(text: str) -> list[str]:
    """Return the words after `gomoku`."""
    return shlex.split(text, comments=True)[1:]


def option_names(command: str | None) -> set[str]:
    """Return the options of a command and of the commands below it (None: of `gomoku` itself)."""
    chosen = [GROUP] if command is None else [COMMANDS[command], *getattr(COMMANDS[command], "commands", {}).values()]
    params = [param for each in chosen for param in each.params]
    return {"--help"} | {name for param in params for name in (*param.opts, *param.secondary_opts)}


def anchors(text: str) -> set[str]:
    """Return the anchors of a page: headings as GitHub makes them, and explicit ids."""
    headings = re.findall(r"^#+ (.+)$", _FENCE.sub("", text), re.MULTILINE)
    made = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return made | set(re.findall(r'<a id="([^"]+)"></a>', text))


@pytest.mark.parametrize("line", sorted({line for line in SHOWN if line.startswith("gomoku ")}))
def test_a_command_line_that_is_shown_parses(line: str) -> None:
    name, *rest = arguments(line)
    if name.startswith("-"):
        assert name in option_names(None)
    else:
        COMMANDS[name].make_context(name, rest)


def test_the_examples_cover_every_command() -> None:
    assert {arguments(line)[0] for line in SHOWN if line.startswith("gomoku ")} >= COMMANDS.keys()


@pytest.mark.parametrize("text", sorted(text for text in PROSE if text.startswith("gomoku ")))
def test_a_command_in_prose_exists(text: str) -> None:
    name, *rest = arguments(text)
    if name == "COMMAND":  # any of them
        assert rest == ["--help"]
        return
    options = {word for word in (name, *rest) if word.startswith("-")}
    assert options <= option_names(None if name.startswith("-") else name)
    if "--against" in options or "--run" in options:  # a whole command line
        COMMANDS[name].make_context(name, rest)


def test_every_json_has_its_row() -> None:
    paths = [(name, command) for name, command in COMMANDS.items()]
    paths += [
        (f"{name} {part}", each) for name, command in paths for part, each in getattr(command, "commands", {}).items()
    ]
    written = [name for name, command in paths if any("--json" in option.opts for option in command.params)]
    assert len(written) > 15
    assert [name for name in written if f"\n| `gomoku {name}" not in PAGES["docs/json.md"]] == []


def test_settings_in_prose_exist() -> None:
    sections = "|".join({key.partition(".")[0] for key in KEYS if "." in key})
    settings = re.compile(rf"(?:{sections})\.[a-z_0-9]+\b(?!\.)")
    named = {match[0] for text in PROSE if (match := settings.match(text)) and not text.endswith(".json")}
    assert len(named) > 30
    assert sorted(named - KEYS.keys()) == []


def test_every_setting_of_which_the_paper_has_another_value_is_named() -> None:
    ours, papers = (tomllib.loads(to_toml(resolve(preset))) for preset in (None, "alphagomoku"))
    sections = {name for name, value in ours.items() if isinstance(value, dict)}
    differing = {f"{name}.{key}" for name in sections for key in ours[name] if ours[name][key] != papers[name][key]}
    assert sorted(differing - set(prose(PAGES["docs/papers/a.md"]))) == []


def test_every_preset_is_described() -> None:
    assert set(preset_names()) <= set(prose(PAGES["docs/configuration.md"]))


@pytest.mark.parametrize(("option", "values"), [("--backend", Backend), ("--precision", Precision)])
def test_every_value_of_an_option_of_nets_is_described(option: str, values: type[StrEnum]) -> None:
    row = next(line for line in PAGES["docs/commands.md"].splitlines() if line.startswith(f"| `{option}` |"))
    assert set(values) <= set(prose(row))


def test_make_targets_exist() -> None:
    known = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = [shlex.split(text, comments=True) for text in (*PROSE, *SHOWN) if text.startswith("make ")]
    assert {next(word for word in words[1:] if "=" not in word) for words in named} <= known


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_to_files_and_anchors(name: str) -> None:
    text = _FENCE.sub("", PAGES[name])
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"https?://", target):
            continue
        file, _, anchor = target.partition("#")
        path = (ROOT / name).parent / file if file else ROOT / name
        assert path.exists(), target
        if anchor:
            page = os.path.relpath(path.resolve(), ROOT).replace(os.sep, "/")
            assert anchor in anchors(PAGES[page]), target


@pytest.mark.parametrize("name", _CURRENT)
def test_paths_in_prose_exist(name: str) -> None:
    roots = "core|search|nets|curriculum|gomoku_cli|benchmarks|tests"
    paths = [text for text in prose(PAGES[name]) if re.fullmatch(rf"(?:{roots})/[\w/.]*", text)]
    assert [path for path in paths if "NAME" not in path and not (ROOT / path).exists()] == []


def test_kernels_named_in_the_way_of_a_position_exist() -> None:
    kernels = "".join(path.read_text("utf-8") for path in sorted((ROOT / "search" / "tree").rglob("*.py")))
    text = PAGES["docs/architecture/index.md"] + PAGES["docs/architecture/search.md"]
    for name in ("select", "descend", "gather", "expand", "back_up", "release", "prove_parents"):
        assert f"`{name}" in text
        assert f"def {name}(" in kernels


@pytest.mark.parametrize("name", ["README.md", "docs/architecture/index.md"])
def test_the_first_pages_are_short(name: str) -> None:
    assert len(PAGES[name].splitlines()) <= 200


def test_the_figures_of_the_readme_link_to_their_rows_in_the_results() -> None:
    table = README.partition("| measured |")[2].partition("\n\n")[0].splitlines()[2:]
    assert len(table) == 5
    for row in table:
        assert re.match(r"\| \[[^]]+\]\(docs/results/\w+\.md#[\w-]+\) \|", row), row


def cells(row: str) -> list[str]:
    """Return the cells of a table's row as they are written, without their anchors."""
    return [re.sub(r'<a id="[^"]*"></a>', "", cell).strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]]


def tables(text: str) -> list[list[list[str]]]:
    """Return the tables of a page as rows of cells: the header first, the line of dashes left out."""
    blocks = re.findall(r"(?:^\|.*\n)+", _FENCE.sub("", text) + "\n", re.MULTILINE)
    return [[cells(row) for number, row in enumerate(block.splitlines()) if number != 1] for block in blocks]


RESULTS = [name for name in PAGES if name.startswith("docs/results/")]
LINKED_COMMAND = re.compile(r"\[[^]]+\]\(#([\w-]+)\)(?:, phase \d)?")


@pytest.mark.parametrize("name", RESULTS)
def test_every_figure_in_the_results_leads_to_its_command(name: str) -> None:
    linked = set(re.findall(r"\]\(#(cmd-[\w-]+)\)", PAGES[name]))
    for header, *rows in tables(PAGES[name]):
        for row in rows if header[-1] == "command" else []:
            link = LINKED_COMMAND.fullmatch(row[-1])
            assert link, row
            linked.add(link[1])
    assert set(re.findall(r'<a id="(cmd-[^"]+)"', PAGES[name])) <= linked
    for anchor in linked:
        below = PAGES[name].partition(f'<a id="{anchor}"></a>')[2]
        assert "\n```sh\n" in below.partition("<a id=")[0], anchor


def test_every_figure_with_an_anchor_has_a_command() -> None:
    """A row with an anchor stands in a table whose last column holds commands."""
    blocks = [block for name in RESULTS for block in re.findall(r"(?:^\|.*\n)+", PAGES[name], re.MULTILINE)]
    figures = [block for block in blocks if '| <a id="' in block]
    assert sum(block.count('| <a id="') for block in figures) > 40
    assert [block for block in figures if cells(block.splitlines()[0])[-1] != "command"] == []


# Pages whose tables are not shortened yet; no page joins them.
LONG_CELLS = {
    "README.md",
    "benchmarks/README.md",
    "docs/architecture/index.md",
    "docs/configuration.md",
    "docs/engines.md",
    "docs/evaluation.md",
    "docs/json.md",
    "docs/reliability.md",
    "docs/training.md",
}


@pytest.mark.parametrize("name", [name for name in PAGES if name not in LONG_CELLS])
def test_a_table_cell_holds_a_phrase(name: str) -> None:
    assert [cell for table in tables(PAGES[name]) for row in table for cell in row if len(cell) > 160] == []


@pytest.mark.parametrize("name", PAGES)
def test_nothing_is_left_to_be_filled_in(name: str) -> None:
    assert re.findall(r"TODO\S*", PAGES[name]) == []


def python_blocks(text: str) -> str:
    """Return all Python examples of a page, one after the other."""
    return "\n".join(re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, text in PAGES.items() if python_blocks(text)])
@pytest.mark.usefixtures("here")
def test_the_python_examples_run(name: str) -> None:
    source = python_blocks(PAGES[name])
    if ">>> " not in source:
        exec(compile(source, name, "exec"), {"__name__": "example"})
        return
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
    test = doctest.DocTestParser().get_doctest(source, {"__name__": "example"}, name, name, 0)
    report: list[str] = []
    doctest.DocTestRunner(optionflags=flags).run(test, out=report.append, clear_globs=False)
    assert not report, "".join(report)


STEADY = re.compile("gomoku (evaluate (mentor|random) |tournament mentor |config explain|train .*serch)")
"""Commands whose output is the same on every machine, but for times: they ask no net."""
_TIME = re.compile(r"\d+:\d\d\b|\d+(\.\d+)? (ms|s)\b")


def shown_outputs() -> dict[str, list[str]]:
    """Return the shown commands whose output is shown too, and the lines of it on all pages."""
    blocks = [
        block for text in _CURRENT.values() for block in re.findall(r"^```console\n(.*?)^```$", text, re.M | re.S)
    ]
    parts = [part.partition("\n") for block in blocks for part in ("\n" + block).split("\n$ ")[1:]]
    lines = {line: [text for each in parts if each[0] == line for text in each[2].splitlines()] for line, _, _ in parts}
    return {line: shown for line, shown in lines.items() if STEADY.match(line)}


@pytest.mark.slow
@pytest.mark.parametrize(("line", "output"), shown_outputs().items())
def test_a_command_prints_what_is_shown(
    line: str, output: list[str], monkeypatch: pytest.MonkeyPatch, capsys: Capsys
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    _, out, err = run(capsys, *arguments(line))
    printed = [_TIME.sub("T", each.rstrip()) for each in (out + err).splitlines()]
    for each in output:
        pattern = ".*".join(map(re.escape, _TIME.sub("T", each).split("...")))
        assert any(re.fullmatch(pattern, other) for other in printed), (each, printed)
