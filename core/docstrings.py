"""Docstrings below the fields of classes: the one place that explains a setting or an option."""

import ast
import functools
import inspect
import itertools
import sys


def field_docstrings(kind: type) -> dict[str, str]:
    """Return the docstring below each field of a class, on one line; none where the source is not at hand."""
    try:
        tree = _tree(kind.__module__)
    except (OSError, TypeError):
        return {}
    body = next(node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name == kind.__name__)
    found: dict[str, str] = {}
    for before, statement in itertools.pairwise(body):
        target = before.targets[0] if isinstance(before, ast.Assign) else getattr(before, "target", None)
        if (
            isinstance(target, ast.Name)
            and isinstance(statement, ast.Expr)
            and isinstance(statement.value, ast.Constant)
            and isinstance(statement.value.value, str)
        ):
            found[target.id] = one_line(statement.value.value)
    return found


@functools.cache
def _tree(module: str) -> ast.Module:
    return ast.parse(inspect.getsource(sys.modules[module]))


def one_line(text: str) -> str:
    """Return a paragraph on one line."""
    return " ".join(text.split())
