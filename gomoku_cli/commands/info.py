"""`gomoku info`: what a model file is."""

import dataclasses
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from gomoku_cli import options

NAME = "info"
EXAMPLES = (
    "gomoku info",
    "gomoku info runs/mine",
    "gomoku info model.safetensors --json",
)


def _model_path(model: str) -> Path:
    """The file that `model` names: the built-in one, a run's best, or itself."""
    from curriculum.run_folder import best_model
    from nets.checkpoint import DEFAULT_MODEL

    if model == "default":
        return DEFAULT_MODEL
    path = Path(model)
    return best_model(path) if path.is_dir() else path


def _rows(mapping: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Names and values of nested mappings, one row a value."""
    for name, value in mapping.items():
        if isinstance(value, Mapping):
            yield from _rows(value, f"{prefix}{name} ")
        else:
            yield f"{prefix}{name}".replace("_", " "), str(value)


def command(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="default, a model file or a run folder.")] = "default",
    as_json: options.Json = False,
) -> None:
    """Say what a model is: architecture, parameters, rules, how it was made, its results."""
    from nets.checkpoint import load_model

    path = _model_path(model)
    info = load_model(path)[1]
    facts = {
        "file": str(path),
        "bytes": path.stat().st_size,
        "parameters": info.parameters,
        "rules": dataclasses.asdict(info.rules),
        "net": dataclasses.asdict(info.net),
        "made": info.made,
    }
    if as_json:
        typer.echo(json.dumps(facts))
        return
    from rich.table import Table

    from gomoku_cli.console import STDOUT

    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for row in _rows(facts):
        table.add_row(*row)
    STDOUT.print(table, markup=False)
