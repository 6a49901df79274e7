"""`gomoku info`: a model file by its metadata, and a run by its metrics."""

import dataclasses
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from core.rules import Rules
from gomoku_cli import options
from gomoku_cli.printable import echo, echo_json, shown
from search.tree.settings import DEFAULT_SIMULATIONS

_MAX_WIDTH = 40
"""Longer names of values stand out of the column of names."""


def _rows(mapping: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield a name and a text for each known value; a match result is one text, other mappings have a row for each."""
    for name, value in mapping.items():
        title = name.replace("_", " ")
        if value is None:
            continue
        if isinstance(value, bool):
            yield title, "yes" if value else "no"
        elif isinstance(value, tuple):
            yield title, " ".join(value) or "none"
        elif not isinstance(value, Mapping):
            yield title, f"{value:,}" if isinstance(value, int) else str(value)
        elif {"wins", "draws", "losses"} <= value.keys():
            yield title, f"{value['wins']} wins, {value['draws']} draws, {value['losses']} losses"
        else:
            yield from _rows(value)


def command(
    model: Annotated[str, typer.Argument(metavar="MODEL")] = "default",
    as_json: options.Json = False,
) -> None:
    """Show a model's architecture, parameters, rules, origin, results and play; of a run folder, the run first.

    The whole file is checked, its weights too.

    Args:
        model: default, paper, a model file or a run folder.

    Examples:
        gomoku info
        gomoku info runs/mine
        gomoku info model.safetensors --json
    """
    from curriculum.run.folder import best_model, is_run, why_no_model
    from nets.runtimes.devices import device_text, may_have_gpu

    path, run = Path(model), None
    if model != "default" and is_run(path):
        from gomoku_cli.reports.training.overview import overview

        run = overview(path)
    if run is not None and not best_model(path).is_file():
        # A young run is described by what it has.
        facts: dict[str, Any] = {"file": None, "run": run}
    else:
        facts = _model_facts(options.model_of(model)) | {"run": run}
    facts["device"] = device_text()
    if as_json:
        echo_json(facts)
        return
    rows = list(_run_rows(run)) if run is not None else []
    if facts["file"] is None:
        rows.append(("model", why_no_model(path)))
    else:
        made = {key: value for key, value in facts["made"].items() if key not in ("config", "changes")}
        number = facts["plays"]["simulations"]
        plays = f"{number} simulations a move by default, with tactics (--no-tactics turns them off)"
        visible = facts | {"rules": str(Rules(**facts["rules"])), "made": made, "plays": plays}
        rows += _rows({key: value for key, value in visible.items() if key != "run"})
        if run is None:
            rows += _change_rows(facts["made"].get("changes", []))
    if may_have_gpu():
        rows.append(("nets run on", facts["device"]))
    shown_rows = [(shown(name), shown(text)) for name, text in rows]
    width = max(len(name) for name, _ in shown_rows if len(name) <= _MAX_WIDTH)
    for name, text in shown_rows:
        echo(f"{name:<{width}}  {text}")
    if "config" in facts.get("made", {}):
        echo(f"\nmade with this configuration:\n\n{facts['made']['config']}".rstrip("\n"))


def _model_facts(path: Path) -> dict[str, Any]:
    """Return the description of a model file. Raises `CheckpointError`."""
    from nets.checkpoint import check_model

    info = check_model(path)
    return {
        "file": str(path),
        "bytes": path.stat().st_size,
        "parameters": info.parameters,
        "rules": dataclasses.asdict(info.rules),
        "net": dataclasses.asdict(info.net),
        "plays": {"simulations": DEFAULT_SIMULATIONS, "tactics": True},
        "made": info.made,
    }


def _run_rows(run: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield a name and a text for each fact about a run."""
    from curriculum.toml_text import toml_value
    from gomoku_cli.console import duration

    yield "run", run["run"]
    yield "progress", run["progress"]
    if run["seconds_left"]:
        yield "time left", f"about {duration(run['seconds_left'])} of work"
    if run["rounds"]:
        yield "accepted", f"{run['rounds_accepted']} of {run['rounds']} rounds"
    for opponent, score in run["scores"].items():
        yield f"best score against {opponent}", f"{score:.2f}"
    yield from _change_rows(run["changes"])
    for key, (old, new) in run["edited"].items():
        yield "edited", f"{key}: {toml_value(old)} so far, {toml_value(new)} in config.toml, from the next start on"


def _change_rows(changes: Any) -> Iterator[tuple[str, str]]:
    """Yield a row for each setting that changed during a run; a model file of another program may hold anything."""
    from curriculum.run.settings import are_changes, change_lines

    for change in changes if are_changes(changes) else ():
        for line in change_lines(change):
            yield "changed", line
