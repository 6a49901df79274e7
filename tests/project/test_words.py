"""Words, sizes and clocks: names and docstrings keep to docs/glossary.md; modules and signatures stay small."""

import ast
import inspect
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from gomoku_cli.commands.table import commands
from tests.support.project import ROOT

PACKAGES = ("core", "search", "nets", "curriculum", "gomoku_cli")
MODULES = sorted(path for name in PACKAGES for path in (ROOT / name).rglob("*.py"))
CODE = [*MODULES, *sorted(path for name in ("benchmarks", "tests") for path in (ROOT / name).rglob("*.py"))]
DOCUMENTS = [*ROOT.glob("*.md"), *sorted((ROOT / "docs").rglob("*.md")), ROOT / "Makefile", ROOT / "pyproject.toml"]
PRESETS = sorted((ROOT / "curriculum" / "presets").glob("*.toml"))
THIS = Path(__file__).resolve()
GLOSSARY = ROOT / "docs" / "glossary.md"  # names the words that nobody uses

_JUDGE = re.compile(r"judg\w*", re.IGNORECASE)
_OPENING = re.compile(r'"\s*(?:What|Whether|Who|How|Where)\b')
_PREFIX = re.compile(r"\b_?(?:most|fewest)_(?!common\b)\w+")


@cache
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def docstrings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield line and text of all docstrings: of modules, classes, functions and, after an assignment, attributes."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if not isinstance(body, list):
            continue
        owner = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        for before, statement in zip([None, *body], body, strict=False):
            if (
                isinstance(statement, ast.Expr)
                and isinstance(statement.value, ast.Constant)
                and isinstance(statement.value.value, str)
                and ((before is None and owner) or isinstance(before, ast.AnnAssign | ast.Assign))
            ):
                yield statement.lineno, statement.value.value.strip()


def test_docstrings_of_all_kinds_are_found() -> None:
    source = '"""Module."""\nX = 1\n"""Attribute."""\nclass C:\n    """Class."""\n    y: int\n    """Field."""\n'
    source += '    def f(self):\n        """Function."""\n'
    found = {text for _, text in docstrings(ast.parse(source))}
    assert found == {"Module.", "Attribute.", "Class.", "Field.", "Function."}


def test_no_docstring_opens_with_a_question_word() -> None:
    found = [
        f"{name_of(path)}:{line}: {text[:60]}"
        for path in CODE
        if _OPENING.search(text_of(path))  # few are worth parsing
        for line, text in docstrings(ast.parse(text_of(path)))
        if _OPENING.match(f'"{text}')
    ]
    assert found == []


def test_nets_and_searches_evaluate() -> None:
    found = [
        f"{name_of(path)}:{number}: {line.strip()}"
        for path in (*CODE, *DOCUMENTS, *PRESETS)
        if path not in (THIS, GLOSSARY)
        if _JUDGE.search(text_of(path))
        for number, line in enumerate(text_of(path).splitlines(), 1)
        if _JUDGE.search(line)
    ]
    assert found == []


def test_limits_are_named_max_and_min() -> None:
    found = set()
    for path in (path for path in CODE if _PREFIX.search(text_of(path))):
        for node in ast.walk(ast.parse(text_of(path))):
            for field in ("id", "attr", "arg", "name"):
                name = getattr(node, field, None)
                if isinstance(name, str) and _PREFIX.fullmatch(name):
                    found.add(f"{name_of(path)}: {name}")
    assert sorted(found) == []


def test_a_module_has_450_lines_at_most() -> None:
    lengths = {name_of(path): len(text_of(path).splitlines()) for path in MODULES}
    assert {name: length for name, length in lengths.items() if length > 450} == {}


def test_a_folder_has_15_modules_at_most() -> None:
    counts = Counter(name_of(path.parent) for path in MODULES if not path.name.startswith("__"))
    assert {name: count for name, count in counts.items() if count > 15} == {}


def test_a_command_has_20_parameters_at_most() -> None:
    callbacks = {name: command.load().callback for name, command in commands().items()}
    counts = {name: len(inspect.signature(inspect.unwrap(call)).parameters) for name, call in callbacks.items()}
    assert {name: count for name, count in counts.items() if count > 20} == {}


# Clocks

_CALENDAR = re.compile(r"time\.time\(|time_ns\(|datetime\.now|st_mtime|st_ctime|getmtime|localtime|gmtime")
_ALLOWED = {
    "core/compiled/kernel_files.py",  # the order in which folders of old versions go
    "curriculum/run/json_files.py",  # dates that people read: no code compares them
    "gomoku_cli/reports/page/tensorboard.py",  # the name of an event file, by which TensorBoard sorts them
    "gomoku_cli/reports/training/outlook.py",  # the pace of mentor games: an estimate that people read
    "gomoku_cli/reports/training/overview.py",  # ages that people read
    "gomoku_cli/study/rating.py",  # the times of results; a daily set is one of a date
    "gomoku_cli/study/saved.py",  # names and order of saved games
    "gomoku_cli/watch/followed_run.py",  # the newest file, and its changes
    "core/files/cache_folder.py",  # the order in which old files go
}


def test_no_other_module_reads_the_clock_of_the_calendar() -> None:
    packages = ("core", "search", "nets", "curriculum", "gomoku_cli")
    modules = [path for package in packages for path in (ROOT / package).rglob("*.py")]
    found = {
        path.relative_to(ROOT).as_posix() for path in modules if _CALENDAR.search(path.read_text(encoding="utf-8"))
    }
    assert found == _ALLOWED
