"""A worker on a Ray cluster: the actor, which runs on any machine of it."""

import hashlib
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import core
import curriculum
import nets
import search
from core.cores import limit_cores
from curriculum.workers.games import Job
from curriculum.workers.thread import Finished, GameThread
from nets.config import RuntimeChoice, set_runtime


def sources_hash() -> str:
    """Return a hash of all code that games depend on."""
    found = hashlib.blake2b(digest_size=8)
    for package in (core, search, nets, curriculum):
        folder = Path(package.__path__[0])
        for path in sorted(folder.rglob("*.py")):
            found.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    return found.hexdigest()


class Worker:
    """Jobs of a driver, each with the number of its session and on a thread of its own."""

    def __init__(self, runtime: RuntimeChoice, cores: int) -> None:
        limit_cores(cores)
        set_runtime(runtime)
        self._sessions: dict[int, GameThread[Any]] = {}

    def place(self) -> tuple[str, str]:
        """Return the machine with the first digits of its node in the cluster, and the hash of its code."""
        import ray

        node = ray.get_runtime_context().get_node_id()
        return f"{socket.gethostname()}/{node[:6]}", sources_hash()

    def open(self, session: int, job: Job[Any], paths: Sequence[Path], *contents: bytes) -> None:
        """Open a job, with copies of its files."""
        self._sessions[session] = GameThread(job, dict(zip(paths, contents, strict=True)))

    def exchange(self, session: int, numbers: Sequence[int], patience: float) -> Finished:
        """See `GameThread.exchange`."""
        return self._sessions[session].exchange(numbers, patience)

    def push(self, session: int, content: bytes) -> None:
        """See `GameThread.push`."""
        self._sessions[session].push(content)

    def close(self, session: int) -> None:
        """End a job."""
        if session in self._sessions:
            self._sessions.pop(session).close()
