"""Memory of a served board: opens pages against the built-in model, plays a move on each, and adds up all processes.

    python -m benchmarks.served --pages 8

Linux only. Counted as on a machine that runs nothing else: each page of a file once, at the process that has most pages
of that part of the file in memory. `own` is the memory that no file holds.
"""

import argparse
import asyncio
import json
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import aiohttp

from tests.support.served_board import Served, served, until

_START_S, _MOVE_S = 8.0, 15.0
"""Time for the models to load, and for a move."""


def _memory(pids: Iterable[int]) -> tuple[float, float]:
    """Return the memory that is the processes' own, and that of the files in it, in megabytes."""
    own, of_files = 0, Counter[str]()
    for pid in pids:
        of_process, resident, mapping = Counter[str](), 0, ""
        for line in Path(f"/proc/{pid}/smaps").read_text(encoding="utf-8").splitlines():
            name, *rest = line.split()
            if "-" in name:
                mapping = " ".join(rest)
            elif name == "Rss:":
                resident = int(rest[0])
            elif name == "Anonymous:":
                own += int(rest[0])
                of_process[mapping] += resident - int(rest[0])
        of_files |= of_process
    return own / 1024, of_files.total() / 1024


async def _read_on(page: aiohttp.ClientWebSocketResponse) -> None:
    while (await page.receive()).type is aiohttp.WSMsgType.BINARY:
        pass


async def _measure(server: Served, count: int) -> dict[str, float]:
    address = f"{server.base}/ws?width=120&height=40&token={server.token}"
    async with aiohttp.ClientSession() as session:
        pages = [await session.ws_connect(address, max_msg_size=0) for _ in range(count)]
        await asyncio.gather(*(until(b"to move", page) for page in pages))
        readers = [asyncio.create_task(_read_on(page)) for page in pages]
        await asyncio.sleep(_START_S)
        for page in pages:
            await page.send_str(json.dumps(["stdin", "\r"]))
        await asyncio.sleep(_MOVE_S)
        processes = [server.process.pid, *server.processes()]
        for reader in readers:
            reader.cancel()
        own, of_files = _memory(processes)
        return {
            "processes": len(processes),
            "megabytes_per_page": (own + of_files) / count,
            "own_megabytes_per_page": own / count,
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=1)
    pages = parser.parse_args().pages
    with tempfile.TemporaryDirectory() as folder, served(Path(folder)) as server:
        print(json.dumps({"pages": pages, **asyncio.run(_measure(server, pages))}, indent=2))


if __name__ == "__main__":
    main()
