"""`gomoku export`: a model as a file for other programs."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from gomoku_cli import completion, options
from gomoku_cli.expansion import check_new, check_output, check_suffix, require
from gomoku_cli.printable import echo, print_result

_SUFFIXES = {"onnx": ".onnx", "safetensors": ".safetensors", "torchscript": ".pt"}
_TOLERANCE = 1e-4


def command(
    model: Annotated[str, typer.Argument(metavar="MODEL", autocompletion=completion.players)],
    kind: Annotated[Literal["onnx", "safetensors", "torchscript"], typer.Option("--format")] = "onnx",
    output: Annotated[Path | None, typer.Option("--output", "-o")] = None,
    check: Annotated[int, typer.Option(min=0, max=1_000_000)] = 500,
    force: Annotated[bool, typer.Option("--force", "-f")] = False,
    as_json: options.Json = False,
) -> None:
    """Export a model's nets for ONNX Runtime, OpenVINO, torch or your own program, and check that they answer the same.

    The check runs each file in every installed program and compares priors and values with torch, in float32. A
    difference above 0.0001 is an error.

    Args:
        model: default, a model file or a run folder.
        kind: The format of the file.
        output: The file; a model of two nets has -black and -white in it.
        check: Random positions of the check; 0: none.
        force: Overwrite files that exist.

    Examples:
        gomoku export default
        gomoku export runs/mine --format torchscript --output mine.pt
        gomoku export model.safetensors --check 10000
    """
    source = options.model_of(model)
    target = output or Path(f"{'default' if model == 'default' else Path(model).resolve().stem}{_SUFFIXES[kind]}")
    check_suffix(target, (_SUFFIXES[kind],), "--output")
    check_output(target, "--output")
    if kind == "onnx":
        require("onnx", "the format onnx", extra="onnxruntime")
    from nets.checkpoint import load_model
    from nets.export import ExportFormat, check_export, description, write_export

    loaded, _ = load_model(source)
    paths = {name: target if name == "shared" else target.with_stem(f"{target.stem}-{name}") for name in loaded.nets}
    for path in paths.values():
        if path.resolve() == source.resolve():
            raise typer.BadParameter(f"{path} is the model itself: name another file", param_hint="--output")
        check_new(path, "--output", force=force)
    files: list[dict[str, Any]] = []
    for name, path in paths.items():
        write_export(loaded, name, path, ExportFormat(kind))
        found = check_export(loaded, name, path, ExportFormat(kind), check) if check else []
        # The file has texts alone; here numbers are numbers.
        numbers = {"board_size": loaded.rules.size, "connect": loaded.rules.connect}
        files.append({"file": str(path), **description(loaded, name), **numbers, "checks": list(map(asdict, found))})
    result = {"model": str(source), "format": kind, "files": files}
    print_result(result, lambda: _show(files), as_json=as_json)
    worst = max((max(each["prior"], each["value"]) for file in files for each in file["checks"]), default=0.0)
    if worst > _TOLERANCE:
        from core.errors import FailedError

        raise FailedError(f"an exported net differs from its model by {worst:.2g}; the limit is {_TOLERANCE:g}")


def _show(files: list[dict[str, Any]]) -> None:
    for file in files:
        echo(f"{file['file']}: {file['evaluates']}, planes {file['planes']}")
        for each in file["checks"]:
            echo(
                f"  {each['program']}: {each['positions']:,} positions, worst prior off by {each['prior']:.1e}, worst "
                f"value by {each['value']:.1e}"
            )
