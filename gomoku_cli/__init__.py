"""The library: `import gomoku_cli as gomoku` gives all names of `__all__`, each at its first use.

Nothing is imported before, so a program pays for numpy, the kernels and torch only where it uses them. docs/python.md
shows each name in an example. The `gomoku` command line and its screens are in this package too.

`__init__.pyi` lists the names, for type checkers and for this module.
"""

import os

__version__ = "0.1.0"


def _listed() -> dict[str, tuple[str, str]]:
    """Return the module of each name of the stub, and its name there."""
    text = __spec__.loader.get_data(os.path.splitext(__file__)[0] + ".pyi").decode()
    found = {}
    for line in text.splitlines():
        if line.startswith("from "):
            _, module, _, names = line.split(" ", 3)
            for each in names.split(", "):
                there, _, name = each.partition(" as ")
                found[name or there] = module, there
    return found


_NAMES = _listed()
"""The module of each name, and its name there."""
__all__ = sorted(_NAMES)  # linters know the names from the stub


def __getattr__(name: str) -> object:
    """Return a name of `__all__` and keep it. Raises `ImportError` where another package takes our place."""
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    check_packages()
    from importlib import import_module

    module, there = _NAMES[name]
    value = globals()[name] = getattr(import_module(module), there)
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})


def check_packages() -> None:
    """Raise `ImportError` if Python finds other packages of the names of ours, such as a `nets.py` beside a script."""
    from importlib.util import find_spec

    root = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    for name in ("core", "search", "nets", "curriculum"):
        spec = find_spec(name)
        found = "nothing" if spec is None else os.path.realpath(spec.origin or name)
        if found != os.path.join(root, name, "__init__.py"):
            raise ImportError(
                f"gomoku_cli needs its own package {name}, but Python finds {found} under this name: rename that one, "
                "or start Python from another folder"
            )
