"""Event files of TensorBoard from the metrics of runs, also while they are written; needs the extra `tensorboard`."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from core.files.links import make_folder, real_path
from curriculum.keys import KEYS, value_of
from curriculum.run.metrics import GlobalSteps
from curriculum.toml_text import toml_value
from gomoku_cli.reports.texts import Json
from gomoku_cli.reports.training.configuration import config_of_run
from gomoku_cli.reports.training.metrics import MetricsTail
from gomoku_cli.reports.training.outlook import last_time

_INTERVAL_S = 2.0
_NO_CURVES = ("phase", "event", "iteration", "step", "global_step", "epoch", "pass")
"""Keys of the metrics that place a line."""


class RunEvents:
    """The event file of a run, which grows with its metrics.

    Each number of a line is a scalar `EVENT/KEY` at the run's optimiser steps so far and at the time of the line. The
    file begins anew with each `RunEvents`: those of earlier ones are removed.
    """

    def __init__(self, path: Path, folder: Path) -> None:
        """Write the events of the run in `path` into a folder of its name below `folder`. Raises `OSError`."""
        from tensorboard.compat.proto.event_pb2 import Event, SessionLog
        from tensorboard.summary.writer.event_file_writer import EventFileWriter

        place = real_path(folder / path.resolve().name)
        make_folder(place)
        for old in place.glob("events.out.tfevents.*"):
            old.unlink()
        self._path, self._event = path, Event
        self._writer = EventFileWriter(str(place))
        # A reader that has seen an earlier file drops what it read there.
        self._writer.add_event(Event(step=0, session_log=SessionLog(status=SessionLog.START)))
        self._tail, self._written = MetricsTail(path), 0
        self._steps, self._elo = GlobalSteps(), 0.0
        self._add_settings()

    def _add_settings(self) -> None:
        """Add the settings of the run as hyperparameters."""
        from tensorboard.plugins.hparams.summary_v2 import hparams_pb

        if (config := config_of_run(self._path)) is None:
            return
        values = {key: value_of(config, key) for key in KEYS}
        settings = {
            key: value if isinstance(value, (bool, int, float)) else toml_value(value) for key, value in values.items()
        }
        self._writer.add_event(self._event(step=0, summary=hparams_pb(settings, trial_id=self._path.resolve().name)))

    def update(self) -> None:
        """Add the lines that the run has written since the last call. Raises `OSError`."""
        from tensorboard.compat.proto.summary_pb2 import Summary

        while self._tail.read():
            pass
        records = self._tail.records
        for record in records[self._written :]:
            step, when = self._steps.after(dict(record)), last_time([record])
            values = [Summary.Value(tag=tag, simple_value=value) for tag, value in self._scalars(record)]
            if values and when is not None:
                self._writer.add_event(
                    self._event(step=step, wall_time=when.timestamp(), summary=Summary(value=values))
                )
        self._written = len(records)
        self._writer.flush()

    def _scalars(self, record: Json) -> Iterator[tuple[str, float]]:
        event = record["event"]
        if event == "gate" and isinstance(result := record.get("result"), dict):
            elo = result.get("elo") if record.get("accepted") is True else None
            self._elo += elo if isinstance(elo, (int, float)) else 0.0
            record = {**record, "result": None, "elo_gained": self._elo}
        elif event == "match":
            event = f"match/{record.get('opponent')}"
            record = {key: record.get(key) for key in ("score", "elo", "mean_plies", "seconds")}
        for key, value in record.items():
            if key not in _NO_CURVES:
                yield from _numbers(f"{event}/{key}", value)

    def close(self) -> None:
        """Add the last lines and end the file. Raises `OSError`."""
        self.update()
        self._writer.close()


def _numbers(tag: str, value: Any) -> Iterator[tuple[str, float]]:
    """Yield the numbers of a value: itself, or those in its table."""
    if isinstance(value, (int, float)):
        yield tag, float(value)
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from _numbers(f"{tag}/{key}", part)


def write_events(paths: Sequence[Path], folder: Path) -> None:
    """Write the metrics of each run into a folder of its name below `folder`. Raises `OSError`."""
    for path in paths:
        RunEvents(path, folder).close()


@contextmanager
def following(path: Path, folder: Path) -> Iterator[None]:
    """Write the events of the run in `path` while the block works in it, some seconds behind. Raises `OSError`."""
    events, over = RunEvents(path, folder), threading.Event()

    def follow() -> None:
        with suppress(OSError):  # the end of the block meets it again
            while not over.wait(_INTERVAL_S):
                events.update()

    thread = threading.Thread(target=follow, name="tensorboard", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        events.close()
