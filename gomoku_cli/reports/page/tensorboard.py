"""Event files of TensorBoard from the metrics of runs, also while they are written; needs the extra `tensorboard`."""

import os
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path
from typing import Any

from core.files.atomic import append_bytes, atomic_path
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
        # Not its `EventFileWriter`, whose thread fails with a traceback at a full disk.
        from tensorboard.compat.proto.event_pb2 import Event, SessionLog
        from tensorboard.summary.writer.record_writer import RecordWriter

        place = real_path(folder / path.resolve().name)
        make_folder(place)
        self._file = place / f"events.out.tfevents.{int(time.time()):010d}.{socket.gethostname()}.{os.getpid()}"
        self._is_begun = False
        self._path, self._event = path, Event
        self._new_records = BytesIO()
        self._writer = RecordWriter(self._new_records)
        self._add(wall_time=time.time(), file_version="brain.Event:2")
        # A reader that has seen an earlier file drops what it read there.
        self._add(step=0, session_log=SessionLog(status=SessionLog.START))
        self._tail, self._written = MetricsTail(path), 0
        self._steps, self._elo = GlobalSteps(), 0.0
        self._add_settings()
        self.update()

    def _add(self, **fields: Any) -> None:
        self._writer.write(self._event(**fields).SerializeToString())

    def _add_settings(self) -> None:
        """Add the settings of the run as hyperparameters."""
        from tensorboard.plugins.hparams.summary_v2 import hparams_pb

        if (config := config_of_run(self._path)) is None:
            return
        values = {key: value_of(config, key) for key in KEYS}
        settings = {
            key: value if isinstance(value, (bool, int, float)) else toml_value(value) for key, value in values.items()
        }
        self._add(step=0, summary=hparams_pb(settings, trial_id=self._path.resolve().name))

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
                self._add(step=step, wall_time=when.timestamp(), summary=Summary(value=values))
        self._written = len(records)
        self._write()

    def _write(self) -> None:
        """Write the new records, whole or not at all; what cannot be written stays for the next time."""
        if self._is_begun:
            append_bytes(self._file, self._new_records.getvalue())
        else:
            with atomic_path(self._file) as temporary:
                temporary.write_bytes(self._new_records.getvalue())
            for old in set(self._file.parent.glob("events.out.tfevents.*")) - {self._file}:
                old.unlink()
            self._is_begun = True
        self._new_records.seek(0)
        self._new_records.truncate()

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
        RunEvents(path, folder)


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
        events.update()
