"""Mutation tests: small changes of the code, one at a time, and the share of them that the tests of that code notice.

A subject is some modules and their tests, which are collected once. Each mutant is a fork of that process, in which
the code of one function is replaced; a mutant of the statements outside functions (constants, defaults) is imported
in a fork that has imported nothing of the project. Only tests that reach the mutated lines run: the fastest first,
for a few seconds at most, up to the first failure. Kernels of `search` run as plain Python, and tests draw few
examples, always the same. Texts, annotations, decorators, messages and `strict=` are not changed.

Outcomes: `killed`; `timeout`, which counts as killed; `survived`; `uncovered`, a survivor that no test reaches.
Survivors that change nothing are named in `equivalent_mutants.toml`, each with the reason, and count apart. Outcomes
are kept in a file, from which a command that was stopped goes on. The exit code is 1 if a subject is below the bar.
"""

import ast
import gc
import hashlib
import io
import json
import os
import random
import resource
import signal
import sys
import tempfile
import time
import tomllib
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from functools import partial
from importlib import import_module
from importlib.machinery import SourceFileLoader
from itertools import accumulate, permutations
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple
from unittest.mock import patch

import coverage
import hypothesis
import numba
import pytest

from benchmarks.measuring import Fault, exit_code_of, parser_of, progress, show
from tests.support.project import ROOT

EQUIVALENT = Path(__file__).with_name("equivalent_mutants.toml")
BAR = 0.9
_MAX_BYTES = 8 << 30
PATIENCE_S = 10.0
"""Processor time of the tests of a mutant, the fastest of those that reach it; others are left out."""
SUBJECTS = {
    name: (subject["modules"], subject["tests"])
    for name, subject in tomllib.loads(Path(__file__).with_name("mutants.toml").read_text(encoding="utf-8")).items()
}

_OPPOSITES = (
    "Add-Sub Mult-Div LShift-RShift BitAnd-BitOr Lt-LtE Gt-GtE Eq-NotEq Is-IsNot In-NotIn And-Or Break-Continue"
)
_SWAPS = [(one, other) for pair in _OPPOSITES.split() for one, other in permutations(pair.split("-"))]
_SWAPS += [("FloorDiv", "Mult"), ("Mod", "Mult"), ("Pow", "Mult"), ("BitXor", "BitOr")]
_SWAPPED: dict[type[ast.AST], type[ast.AST]] = {getattr(ast, one): getattr(ast, other) for one, other in _SWAPS}
_SWAPPED_NAMES = {"min": "max", "max": "min", "any": "all", "all": "any"}
_NEGATED_BY_A_SWAP = (ast.Eq, ast.NotEq, ast.Is, ast.IsNot, ast.In, ast.NotIn)
_UNCHANGED = {"annotation", "returns", "decorator_list"}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Mutant(NamedTuple):
    """One change of a module, at a place of its tree."""

    path: str
    tree: ast.Module
    owner: ast.AST
    field: str
    value: ast.AST | list[ast.AST]
    """The changed field of the owner."""
    function: str
    """The qualified name of the outermost function that holds the change; empty outside functions."""
    lines: range
    """Those of the statement, without the statements in it."""
    name: str

    def code(self) -> CodeType:
        """Return the code of the mutated module."""
        before = getattr(self.owner, self.field)
        setattr(self.owner, self.field, self.value)
        code: CodeType = compile(ast.fix_missing_locations(self.tree), str(ROOT / self.path), "exec")
        setattr(self.owner, self.field, before)
        return code


def mutants_of(path: str) -> Iterator[Mutant]:
    """Yield all mutants of a module; `path` is relative to the project."""
    text = (ROOT / path).read_text(encoding="utf-8")
    tree, source, seen = ast.parse(text), text.splitlines(), Counter[str]()

    def below(owner: ast.AST, names: str, function: str, lines: range) -> Iterator[Mutant]:
        for field, value in ast.iter_fields(owner):
            inside = isinstance(owner, (*_FUNCTIONS, ast.ClassDef)) and field == "body"
            for index, child in enumerate(value) if isinstance(value, list) else ((None, value),):
                if not isinstance(child, ast.AST) or _is_left_alone(child, field):
                    continue
                within, reached = names, lines
                scope = function or (names if inside and isinstance(owner, _FUNCTIONS) else "")
                if isinstance(child, (*_FUNCTIONS, ast.ClassDef)):
                    within = f"{names}.{child.name}" if names else child.name
                if isinstance(child, ast.stmt):
                    body = getattr(child, "body", None)
                    end = max(child.lineno, body[0].lineno - 1) if body else child.end_lineno or child.lineno
                    reached = range(child.lineno, end + 1)
                for new in _changes(owner, field, child):
                    before, after = (ast.unparse(each) or type(each).__name__ for each in (child, new))
                    line = getattr(child, "lineno", getattr(owner, "lineno", reached.start))
                    name = f"{path} {within}: {source[line - 1].strip()}: {before} -> {after}"
                    seen[name] += 1
                    name += f" ({seen[name]})" if seen[name] > 1 else ""
                    changed = new if index is None else [*value[:index], new, *value[index + 1 :]]
                    yield Mutant(path, tree, owner, field, changed, scope, reached, name)
                if not isinstance(child, ast.Raise):
                    yield from below(child, within, scope, reached)

    yield from below(tree, "", "", range(0))


def _is_left_alone(node: ast.AST, field: str) -> bool:
    """Return True for texts, annotations, decorators and messages."""
    name = getattr(node, "name", None) or getattr(getattr(node, "func", None), "attr", None)
    is_text = isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    is_guard = isinstance(node, ast.keyword) and node.arg == "strict"
    says = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and _is_left_alone(node.value, "")
    return field in _UNCHANGED or name in ("__repr__", "say") or is_text or is_guard or says


def _changes(owner: ast.AST, field: str, node: ast.AST) -> Iterator[ast.AST]:
    """Yield what may stand in place of a node."""
    if type(node) in _SWAPPED:
        yield _SWAPPED[type(node)]()
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        yield from (ast.Constant(node.value + 1), ast.Constant(node.value - 1))
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        yield node.operand
    elif isinstance(node, ast.Name) and field == "func" and node.id in _SWAPPED_NAMES:
        yield ast.Name(_SWAPPED_NAMES[node.id], ast.Load())
    elif isinstance(node, ast.Return) and node.value is not None and not isinstance(node.value, ast.Constant):
        yield ast.Return(ast.Constant(None))
    elif isinstance(node, ast.Expr | ast.AugAssign | ast.Raise | ast.Delete) or (
        isinstance(node, ast.Assign | ast.AnnAssign)
        and not isinstance(node.targets[0] if isinstance(node, ast.Assign) else node.target, ast.Name | ast.Tuple)
    ):
        yield ast.Pass()
    if field == "test" or (field == "ifs" and isinstance(owner, ast.comprehension)):
        is_swapped = (
            isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], _NEGATED_BY_A_SWAP)
        )
        if not is_swapped and not isinstance(node, ast.Constant | ast.UnaryOp):
            yield ast.UnaryOp(ast.Not(), node)  # type: ignore[arg-type]  # a test is an expression


_BROKEN = 70  # the exit code of a fork in which this program failed


def _in_fork(work: Callable[[], int], is_mutant: bool = True) -> int:
    """Return the exit code of `work` in a fork, negative for a signal; a mutant says nothing, and may be endless."""
    sys.stderr.flush()
    process = os.fork()
    if not process:
        code = _BROKEN
        try:
            if is_mutant:
                os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
                os.dup2(1, 2)
                resource.setrlimit(resource.RLIMIT_DATA, (_MAX_BYTES, _MAX_BYTES))
                signal.signal(signal.SIGALRM, signal.SIG_DFL)
                _limit(60.0)
            code = work()
        except Exception:
            progress(traceback.format_exc())
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def _limit(seconds: float) -> None:
    """Let this process end after so many seconds of processor time, or ten times as long if it waits."""
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    signal.setitimer(signal.ITIMER_REAL, 10 * seconds)


def _outcome(code: int) -> str:
    if code == _BROKEN:
        raise Fault("a mutant could not be made")
    return {0: "survived", -signal.SIGALRM: "timeout", -signal.SIGVTALRM: "timeout"}.get(code, "killed")


def _tested(tests: Sequence[str], plugin: object, *options: str) -> int:
    """Run pytest without output on the tests, with a plugin."""
    words = ["-qq", "-s", "--assert=plain", "-p", "no:cacheprovider", "--hypothesis-profile=mutants", *options]
    words += [f"{ROOT}/{test}" for test in tests]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, redirect_stdout(io.StringIO()) as said:
        code = int(pytest.main([*words, f"--basetemp={folder}/tests"], plugins=[plugin]))
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        progress(said.getvalue())
    return code


def _imported_mutant(mutant: Mutant, tests: Sequence[str]) -> int:
    """Import a mutated module for its tests."""
    module, code, usual = mutant.path.removesuffix(".py").replace("/", "."), mutant.code(), SourceFileLoader.get_code

    def get_code(loader: SourceFileLoader, name: str) -> CodeType | None:
        return code if name == module else usual(loader, name)

    with patch.object(SourceFileLoader, "get_code", get_code):
        return _tested(tests, None, "-x")


class _Loop:
    """A plugin of pytest that tests mutants in place of the collected tests."""

    def __init__(self, mutants: list[Mutant], report: Callable[[Mutant, str], None]) -> None:
        self._mutants, self._report, self._failure = mutants, report, ""
        self._seconds: dict[str, float] = {}
        self._is_mutated = False

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Note the failure of a test."""
        self._failure = self._failure or (str(report.longrepr) if report.failed else "")

    def pytest_runtest_makereport(self, item: Any, call: Any) -> None:
        """End a mutant at its first failure, before that is written out."""
        if self._is_mutated and call.excinfo is not None and call.excinfo.typename != "Skipped":
            os._exit(1)

    def pytest_runtestloop(self, session: Any) -> bool:
        """Test all mutants."""
        with tempfile.TemporaryDirectory() as folder:
            found = Path(folder, "found.json")
            if _in_fork(partial(self._cover, session.items, found), is_mutant=False):
                raise Fault("the tests fail without a mutant")
            self._seconds, contexts = json.loads(found.read_text())
        files = {str(ROOT / mutant.path): mutant.path for mutant in self._mutants}
        functions: dict[tuple[str, str], list[FunctionType]] = defaultdict(list)
        gc.unfreeze()  # frozen objects are none of `get_objects`
        for each in gc.get_objects():
            if type(each) is FunctionType and (path := files.get(each.__code__.co_filename)):
                functions[path, each.__code__.co_qualname].append(each)
        gc.collect()
        gc.freeze()
        tests = {test.nodeid: test for test in session.items}
        for mutant in self._mutants:
            reached = {name for line in mutant.lines for name in contexts[mutant.path].get(str(line), ())}
            names = sorted(reached & tests.keys(), key=lambda name: self._seconds[name])
            ends = accumulate(self._seconds[name] for name in names)
            items = [tests[name] for name, end in zip(names, ends, strict=True) if end < PATIENCE_S]
            if not (changed := functions[mutant.path, mutant.function]) and items:
                raise Fault(f"no function of {mutant.name} was found")
            work = partial(self._with, mutant, changed, items)
            self._report(mutant, _outcome(_in_fork(work)) if items else "uncovered")
        return True

    def _cover(self, items: list[Any], found: Path) -> int:
        """Run the tests as they are; write their seconds, and the tests that reach each line."""
        paths = sorted({mutant.path for mutant in self._mutants})
        measure = coverage.Coverage(data_file=None, include=[str(ROOT / path) for path in paths], config_file=False)
        measure.start()
        for item in items:
            measure.switch_context(item.nodeid)
            start = time.process_time()
            if self._fails(item, None):
                raise Fault(self._failure)
            self._seconds[item.nodeid] = time.process_time() - start
        measure.stop()
        data = measure.get_data()
        contexts = {path: data.contexts_by_lineno(str(ROOT / path)) for path in paths}
        found.write_text(json.dumps([self._seconds, contexts]))
        return 0

    def _with(self, mutant: Mutant, functions: list[FunctionType], items: list[Any]) -> int:
        """Give the mutant's functions their code, and run tests up to the first failure."""
        self._is_mutated = True
        codes = {code.co_firstlineno: code for code in _codes(mutant.code()) if code.co_qualname == mutant.function}
        for function in functions:
            function.__code__ = codes[function.__code__.co_firstlineno]
        for item, after in zip(items, [*items[1:], None], strict=True):
            _limit(1 + 4 * self._seconds[item.nodeid])
            if self._fails(item, after):
                return 1
        return 0

    def _fails(self, item: Any, after: Any) -> bool:
        item.ihook.pytest_runtest_protocol(item=item, nextitem=after)
        return bool(self._failure)


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of all functions in a code."""
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield each
            yield from _codes(each)


def run_subject(name: str, sample: int, results: Path) -> dict[str, Any]:
    """Test a sample of a subject's mutants, but for those with an outcome in `results`; return the row of all.

    Outcomes of other code or tests do not count.
    """
    paths, tests = SUBJECTS[name]
    in_search = paths[0].startswith("search/")
    files = [ROOT / test.partition("::")[0] for test in tests]
    tested = [file for test in files for file in (sorted(test.rglob("*.py")) if test.is_dir() else [test])]
    sources = b"".join(file.read_bytes() for file in (*(ROOT / path for path in paths), *dict.fromkeys(tested)))
    digest = hashlib.sha256(sources).hexdigest()[:16]
    mutants = [mutant for path in paths for mutant in mutants_of(path)]
    mutants = random.Random(1).sample(mutants, min(sample, len(mutants)))
    start = time.monotonic()

    def known() -> dict[str, str]:
        rows = [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
        return {row["mutant"]: row["outcome"] for row in rows if (row["subject"], row["digest"]) == (name, digest)}

    def report(mutant: Mutant, outcome: str) -> None:
        with results.open("a") as file:
            row = {"subject": name, "digest": digest, "mutant": mutant.name, "outcome": outcome}
            file.write(json.dumps(row) + "\n")
        done = len(known().keys() & {each.name for each in left})
        minutes = (time.monotonic() - start) / done * (len(left) - done) / 60
        progress(f"{name}: {done} of {len(left)}, about {minutes:.0f} minutes left: {outcome}: {mutant.name}")

    os.environ["NUMBA_DISABLE_JIT"] = str(int(in_search))
    vars(numba.config)["DISABLE_JIT"] = in_search  # numba creates its settings at import
    left = [mutant for mutant in mutants if mutant.name not in known()]
    inside = sorted((mutant for mutant in left if mutant.function), key=lambda mutant: mutant.lines.start)
    if inside and _in_fork(partial(_tested, tests, _Loop(inside, report)), is_mutant=False):
        raise Fault(f"{name}: the mutants could not be tested")
    for mutant in (mutant for mutant in left if not mutant.function):
        report(mutant, _outcome(_in_fork(partial(_imported_mutant, mutant, tests))))
    outcomes = {mutant.name: known()[mutant.name] for mutant in mutants}
    equivalent = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))
    survivors = [mutant for mutant, outcome in outcomes.items() if outcome in ("survived", "uncovered")]
    real = [mutant for mutant in survivors if mutant not in equivalent]
    for each in real:
        progress(f"{name}: {outcomes[each]}: {each}")
    killed = len(mutants) - len(survivors)
    return {
        "subject": name,
        "mutants": len(mutants),
        "killed": killed,
        "timeouts": sum(outcome == "timeout" for outcome in outcomes.values()),
        "uncovered": sum(outcome == "uncovered" for outcome in outcomes.values()),
        "equivalent": len(survivors) - len(real),
        "share": killed / len(mutants),
        "share of others": killed / (killed + len(real)),
    }


def main() -> int:
    """Run the command; return its exit code."""
    parser = parser_of(__doc__)
    parser.add_argument(
        "subjects", nargs="*", choices=SUBJECTS, metavar="SUBJECT", help=f"of {', '.join(SUBJECTS)}; all without any"
    )
    parser.add_argument("--sample", type=int, default=150, help="mutants a subject, 150 unless given")
    parser.add_argument("--results", type=Path, default=Path("mutants.jsonl"), help="file of outcomes")
    arguments = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    for module in ("scipy.optimize", "torch", "torch._dynamo"):  # what takes longest to import, for all forks
        import_module(module)
    hypothesis.settings.register_profile(
        "mutants",
        deadline=None,
        max_examples=20,
        derandomize=True,
        phases=(hypothesis.Phase.explicit, hypothesis.Phase.generate),
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    names = arguments.subjects or SUBJECTS
    rows = [run_subject(name, arguments.sample, arguments.results) for name in names]
    show(rows, arguments.json)
    return int(any(row["share of others"] < BAR for row in rows))


if __name__ == "__main__":
    sys.exit(exit_code_of(main))
