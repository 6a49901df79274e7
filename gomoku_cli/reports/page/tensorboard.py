"""Event files of TensorBoard from the metrics of runs; needs the extra `tensorboard`."""

from collections.abc import Sequence
from pathlib import Path

import typer

from core.files.links import real_path
from gomoku_cli.reports.curves import curves_of

_ROUND_KEYS = ("game_length", "black_share", "policy_entropy", "simulations_per_second", "gate_score", "elo")


def check_tensorboard() -> None:
    """Raise a usage error, in one line, if event files cannot be written."""
    try:
        import tensorboard.summary  # noqa: F401
    except ImportError as error:
        raise typer.BadParameter(
            "it needs tensorboard: install gomoku-cli with its extra, as in pip install '.[tensorboard]'",
            param_hint="--tensorboard",
        ) from error


def write_events(paths: Sequence[Path], folder: Path) -> None:
    """Write the curves of each run into a folder of its name below `folder`. Raises `RunFolderError`, `OSError`."""
    from tensorboard.summary import Writer

    for path in paths:
        curves = curves_of(path)
        writer = Writer(str(real_path(folder / path.resolve().name)))
        for row in curves["training"]:
            for key in ("policy_loss", "value_loss", "policy_entropy"):
                if row[key] is not None:
                    writer.add_scalar(f"training/{key}", row[key], row["step"])
        for row in curves["measures"]:
            for key in ("agreement", "score"):
                if row[key] is not None:
                    writer.add_scalar(f"imitation/{key}", row[key], row["step"])
        for row in curves["rounds"]:
            for key in _ROUND_KEYS:
                if row[key] is not None:
                    writer.add_scalar(f"selfplay/{key}", row[key], row["round"])
        writer.close()
