"""Memory of a served board: opens pages against the built-in model, plays a move on each, and adds up all processes.

    python -m benchmarks.served --pages 8

Linux only. Pages of memory that several processes share count once (PSS). `own` is the memory that no file holds.
"""

import argparse
import asyncio
import json
import tempfile
from pathlib import Path

import aiohttp

from tests.support.served_board import Served, served, until

_START_S, _MOVE_S = 8.0, 15.0
"""Time for the models to load, and for a move."""


def _megabytes(pid: int, field: str) -> float:
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8").splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) / 1024
    raise ValueError(f"this system does not report {field}")


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
        return {
            "processes": len(processes),
            "megabytes_per_page": sum(_megabytes(pid, "Pss") for pid in processes) / count,
            "own_megabytes_per_page": sum(_megabytes(pid, "Pss_Anon") for pid in processes) / count,
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=1)
    pages = parser.parse_args().pages
    with tempfile.TemporaryDirectory() as folder, served(Path(folder)) as server:
        print(json.dumps({"pages": pages, **asyncio.run(_measure(server, pages))}, indent=2))


if __name__ == "__main__":
    main()
