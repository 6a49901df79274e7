"""`gomoku info`: the metadata of a model file."""

import dataclasses
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from curriculum.arena import player_names
from gomoku_cli import options
from gomoku_cli.printable import echo, shown

NAME = "info"
EXAMPLES = (
    "gomoku info",
    "gomoku info runs/mine",
    "gomoku info model.safetensors --json",
)


_MAX_WIDTH = 40
"""Longer names of values stand out of the column of names."""


def _model_path(model: str) -> Path:
    """Return the file that `model` names: the built-in model, a run's best, or itself."""
    from curriculum.run.folder import best_model, is_run
    from nets.checkpoint import DEFAULT_MODEL

    if model == "default":
        return DEFAULT_MODEL
    path = Path(model)
    if is_run(path) and not best_model(path).is_file():
        raise typer.BadParameter(f"the run in {path} has no model yet: train it further with --resume")
    if model in player_names.EXAMPLES and not path.exists():
        raise typer.BadParameter(f"{model} is a player without a model file")
    return best_model(path) if path.is_dir() else path


def _rows(mapping: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield a name and a text for each value; a match result is one text, other mappings have a row for each value."""
    for name, value in mapping.items():
        title = name.replace("_", " ")
        if isinstance(value, bool):
            yield title, "yes" if value else "no"
        elif isinstance(value, tuple):
            yield title, " ".join(value)
        elif not isinstance(value, Mapping):
            yield title, f"{value:,}" if isinstance(value, int) else str(value)
        elif {"wins", "draws", "losses"} <= value.keys():
            yield title, f"{value['wins']} wins, {value['draws']} draws, {value['losses']} losses"
        else:
            yield from _rows(value)


def command(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="default, a model file or a run folder.")] = "default",
    as_json: options.Json = False,
) -> None:
    """Show a model's architecture, parameters, rules, origin and results."""
    from nets.checkpoint import check_model

    path = _model_path(model)
    info = check_model(path)
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
    visible = facts | {"rules": str(info.rules), "made": {k: v for k, v in info.made.items() if k != "config"}}
    rows = [(shown(name), shown(text)) for name, text in _rows(visible)]
    width = max(len(name) for name, _ in rows if len(name) <= _MAX_WIDTH)
    for name, text in rows:
        echo(f"{name:<{width}}  {text}")
    if "config" in info.made:
        echo(f"\nmade with this configuration:\n\n{info.made['config']}".rstrip("\n"))
