"""The board of one page: a process of its own, its frames, and its end.

The frames are those of Textual's web driver: a letter (D: bytes of the terminal, M: a message in JSON), the length in
four bytes, and the content.
"""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress

from core.files.json_text import parse_json
from core.input_limits import MAX_PAGE_FRAME_BYTES, MAX_STDERR_BYTES
from gomoku_cli.serving import processes
from gomoku_cli.tui.terminal import PAGE_VARIABLE

_READY = b"__GANGLION__\n"
"""The line that the web driver writes before its first frame."""
_MAX_LINES_BEFORE = 10
_QUIT_S = 0.8
"""Time for a board to end by itself: it saves the move in progress."""


class Board:
    """A running board. Its output waits in its process until it is read, so a slow page holds it up."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        self._process = process
        self._input, self._output, self._errors = process.stdin, process.stdout, process.stderr
        self._is_ready = False
        self._remarks = b""
        self._reader = asyncio.create_task(self._read_remarks())

    @property
    def pid(self) -> int:
        """The number of its process."""
        return self._process.pid

    @property
    def failure(self) -> str | None:
        """The last line of a board that never began; None for one that did."""
        if self._is_ready:
            return None
        return self._remarks.decode(errors="replace").strip().rpartition("\n")[2] or "it ended without a word"

    async def output(self) -> AsyncIterator[bytes]:
        """Yield what the board writes to the terminal, until its end."""
        stream = self._output
        with suppress(asyncio.IncompleteReadError, ValueError):  # ValueError: a line without an end
            for _ in range(_MAX_LINES_BEFORE):
                if (line := await stream.readline()) == _READY:
                    self._is_ready = True
                    break
                if not line:
                    return
            while self._is_ready:
                kind = await stream.readexactly(1)
                size = int.from_bytes(await stream.readexactly(4), "big")
                if size > MAX_PAGE_FRAME_BYTES:
                    return
                content = await stream.readexactly(size)
                if kind == b"D":
                    yield content
                elif kind == b"M" and parse_json(content).get("type") == "exit":
                    return

    async def type(self, text: str) -> None:
        """Send what the human types, and wait while the board is busy with earlier keys. Raises `OSError`."""
        if keys := text.encode(errors="ignore"):  # to the board an empty text is the end of the terminal
            await self._send(b"D", keys)

    async def tell(self, **message: object) -> None:
        """Send a message such as a new size. Raises `OSError`."""
        await self._send(b"M", json.dumps(message).encode())

    async def _send(self, kind: bytes, content: bytes) -> None:
        self._input.write(kind + len(content).to_bytes(4, "big") + content)
        await self._input.drain()

    async def end(self) -> None:
        """End the board: by itself if it has begun, else at once. What it has started follows by `Strays`."""
        if self._process.returncode is None and self._is_ready:
            with suppress(OSError, RuntimeError):
                self._input.write(b"M" + len(_QUIT).to_bytes(4, "big") + _QUIT)
                self._input.close()
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._drained(), _QUIT_S)
        if self._process.returncode is None:
            processes.kill_tree(self.pid)
            await self._process.wait()
        self._reader.cancel()

    async def _drained(self) -> None:
        """Read what nobody reads any more, so that the board can end."""
        while await self._output.read(1 << 16):
            pass
        await self._process.wait()

    async def _read_remarks(self) -> None:
        while chunk := await self._errors.read(1 << 12):
            self._remarks = (self._remarks + chunk)[-MAX_STDERR_BYTES:]


_QUIT = json.dumps({"type": "quit"}).encode()


async def start_board(arguments: Sequence[str], columns: int, rows: int) -> Board:
    """Start `gomoku play` with `arguments` for a page of this size. Raises `OSError`."""
    environment = os.environ | {
        PAGE_VARIABLE: str(os.getpid()),
        "TEXTUAL_FPS": "60",
        "TEXTUAL_COLOR_SYSTEM": "truecolor",
        "COLUMNS": str(columns),
        "ROWS": str(rows),
        "PYTHONIOENCODING": "utf-8",
        "MALLOC_ARENA_MAX": "1",  # glibc keeps some memory for each thread; a page has many threads and little work
    }
    return Board(
        await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "gomoku_cli", "play", *arguments),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=environment,
            start_new_session=True,
        )
    )
