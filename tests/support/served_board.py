"""A served board in a process of its own, the pages that attack it, and the processes that it has."""

import asyncio
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import aiohttp

from tests.support.waiting import descendants, is_alive

START_S = 60.0
"""Time for a server or a board to begin on a busy machine."""


def free_port() -> int:
    """Return a port that nobody listens at."""
    import socket

    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return int(asked.getsockname()[1])


@dataclass(frozen=True)
class Served:
    """A running server."""

    process: "subprocess.Popen[str]"
    port: int
    address: str
    """With the token."""
    folder: Path
    """Of its saved games."""

    @property
    def token(self) -> str:
        return self.address.partition("token=")[2]

    @property
    def base(self) -> str:
        return f"http://localhost:{self.port}"

    def processes(self) -> list[int]:
        """Return the processes behind pages that live."""
        return [pid for pid in descendants(self.process.pid) if is_alive(pid)]

    @asynccontextmanager
    async def page(
        self, session: aiohttp.ClientSession, size: str = "width=80&height=24"
    ) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
        """Open a board as a program does that knows the token."""
        page = await session.ws_connect(f"{self.base}/ws?{size}&token={self.token}", max_msg_size=0)
        try:
            yield page
        finally:
            with suppress(OSError):  # the server may have ended
                await page.close()


_FEW_PAGES = """
from core import input_limits
input_limits.MAX_PAGES = 2
from gomoku_cli.__main__ import main
main()
"""


@contextmanager
def served(folder: Path) -> Iterator[Served]:
    """Serve boards against the random player, two at a time, whose games are saved in `folder`."""
    port = free_port()
    environment = {**os.environ, "XDG_DATA_HOME": str(folder)}
    words = [sys.executable, "-c", _FEW_PAGES, "play", "--serve", "--port", str(port), "--model", "random"]
    process = subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment,
        start_new_session=True,
        preexec_fn=lambda: (signal.signal(signal.SIGHUP, signal.SIG_DFL), None)[1],  # tests may run under `nohup`
    )
    try:
        yield Served(process, port, _address(process.stdout), folder)
    finally:
        process.send_signal(signal.SIGCONT)
        process.terminate()
        try:
            process.wait(START_S)
        finally:
            process.kill()
            process.wait()
            process.stdout.close()


def _address(output: IO[str]) -> str:
    for line in output:
        if (found := re.search(r"http://\S+", line)) is not None:
            return found[0]
    raise AssertionError("the server has ended")


async def are_gone(pids: list[int], limit_s: float) -> None:
    """Wait until none of the processes lives; fail after `limit_s`."""
    started = time.monotonic()
    while alive := [pid for pid in pids if is_alive(pid)]:
        assert time.monotonic() - started < limit_s, f"{len(alive)} of {len(pids)} processes live after {limit_s} s"
        await asyncio.sleep(0.02)


async def until(text: bytes, page: aiohttp.ClientWebSocketResponse) -> bytes:
    """Return what the board draws until it has drawn `text`."""
    drawn = b""
    async with asyncio.timeout(START_S):
        while text not in drawn:
            message = await page.receive()
            assert message.type is aiohttp.WSMsgType.BINARY, message
            drawn += message.data
    return drawn
