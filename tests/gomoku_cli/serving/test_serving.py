"""The board in a browser: who gets in, what a page may ask for, and the end of everything behind it."""

import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from gomoku_cli import app
from gomoku_cli.exit_codes import ExitCode
from gomoku_cli.tui.terminal import terminal_driver

aiohttp = pytest.importorskip("aiohttp")
pytest.importorskip("textual_serve")

from gomoku_cli.serving.access import Access  # noqa: E402
from gomoku_cli.serving.board import Board  # noqa: E402
from gomoku_cli.serving.server import _listen_to  # noqa: E402
from tests.support.cases import cases  # noqa: E402
from tests.support.commands import Capsys  # noqa: E402
from tests.support.served_board import START_S, Served, are_gone, served, until  # noqa: E402

END_S = 20.0
"""Time in which everything behind a page has ended after it."""
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell who started whom")
pytestmark = pytest.mark.slow  # all of them, since their server would be started again for those that come later


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("data")) as running:
        yield running


def test_without_the_extra_the_command_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, capsys: Capsys) -> None:
    monkeypatch.setitem(sys.modules, "gomoku_cli.serving.server", None)
    assert app.run(["play", "--serve"]) == ExitCode.FAILED
    assert "pip install '.[serve]'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("host", "fault"),
    [
        ("1.2.3.4.5", "1.2.3.4.5 is no address of this machine: "),
        ("192.0.2.1", "192.0.2.1 is no address of this machine: "),
        ("", "it names no address"),
        ("127.0.0.1", "cannot be used: Address already in use; --port names another"),
    ],
)
def test_a_place_where_nothing_can_be_served_is_named(host: str, fault: str, capsys: Capsys) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        words = ["play", "--serve", "--host", host, "--port", str(taken.getsockname()[1])]
        assert app.run(words) in (ExitCode.FAILED, ExitCode.USAGE)
    err = capsys.readouterr().err
    assert fault in err
    assert ("--port" in err) == (host == "127.0.0.1")


def test_a_served_board_uses_the_driver_of_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOMOKU_PAGE", str(os.getppid()))
    driver = terminal_driver()
    assert driver.__name__ == "PageDriver"


@pytest.mark.parametrize(("headers", "query"), cases("strangers"))
@pytest.mark.parametrize("path", ["/", "/ws", "/textual.js", "/nothing"])
async def test_strangers_are_refused(server: Served, headers: dict[str, str], query: str, path: str) -> None:
    def filled(text: str) -> str:
        return text.replace("{port}", str(server.port)).replace("{token}", server.token)

    given = {name: filled(value) for name, value in headers.items()}
    async with aiohttp.ClientSession() as session:
        address = f"{server.base}{path}?{filled(query)}"
        async with session.get(address, headers=given) as answer:
            assert answer.status in (400, 403)
            assert server.token not in await answer.text()
            assert "Set-Cookie" not in answer.headers
        if path == "/ws":
            with pytest.raises(aiohttp.WSServerHandshakeError):
                await session.ws_connect(address, headers=given)
    assert server.processes() == []


async def test_the_printed_address_opens_a_page_that_needs_no_other_site(server: Served) -> None:
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
        async with session.get(server.address) as answer:
            assert answer.status == 200
            page = await answer.text()
            cookie = answer.headers["Set-Cookie"]
            policy = answer.headers["Content-Security-Policy"]
            assert answer.headers["Referrer-Policy"] == "no-referrer"
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        assert "frame-ancestors 'none'" in policy
        assert "://" not in page  # nothing of another site
        assert "https:" not in policy
        for path in ("/", "/textual.js", "/xterm.css", "/font.ttf", "/page.js", "/page.css"):
            async with session.get(server.base + path) as answer:
                assert answer.status == 200, path
                assert await answer.read()
        for path in ("/static/js/textual.js", "/../pyproject.toml", "/page.html", "/download/1", "//evil.example"):
            async with session.get(server.base + path) as answer:
                assert answer.status == 404, path
        async with session.post(server.base + "/") as answer:
            assert answer.status == 405


@on_linux
def test_only_this_machine_can_reach_a_server_without_host(server: Served) -> None:
    listening = [line.split() for name in ("tcp", "tcp6") for line in Path("/proc/net", name).read_text().splitlines()]
    at_port = [fields[1] for fields in listening if fields[1].endswith(f":{server.port:04X}") and fields[3] == "0A"]
    assert at_port
    assert set(at_port) <= {f"0100007F:{server.port:04X}", f"{'0' * 24}01000000:{server.port:04X}"}


def test_other_machines_may_use_numbers_and_this_machines_name_but_no_foreign_name() -> None:
    access = Access("0.0.0.0", 8000)
    assert all(access.knows_host([host]) for host in ("192.0.2.1:8000", "[2001:db8::1]:8000", "localhost:8000"))
    assert not any(access.knows_host([host]) for host in ("evil.example:8000", "192.0.2.1.evil.example", "a b", ""))
    assert not access.knows_host([])
    assert not access.knows_host(["localhost", "evil.example"])
    named = Access("board.example", 8000)
    assert named.knows_host(["board.example:8000"])
    assert not named.is_local


def test_each_server_has_a_token_of_its_own() -> None:
    tokens = {Access("localhost", 8000).token for _ in range(10)}
    assert len(tokens) == 10
    assert all(len(token) >= 40 for token in tokens)


@on_linux
async def test_a_page_plays_a_stone_and_its_processes_end_with_it(server: Served) -> None:
    async with aiohttp.ClientSession() as session:
        async with server.page(session) as page:
            await until(b"Black to move", page)
            await saves_a_game(server, page, "\r")
            behind = server.processes()
            assert len(behind) == 2
        await are_gone(behind, END_S)


@on_linux
async def test_absurd_sizes_are_cut_and_garbage_ends_the_page(server: Served) -> None:
    size = "width=1000000&height=99999999999999999999"
    async with aiohttp.ClientSession() as session, server.page(session, size) as page:
        await until(b"Black to move", page)
        for text in ("[1]", '["stdin"]'):  # kinds that mean nothing
            await page.send_str(text)
        for width, height in ((10**6, 10**3), (10**18, -1), (0, 0), (-5, 10**9), (1e300, 2.5), ("7", None)):
            await page.send_json(["resize", {"width": width, "height": height}])
        await page.send_json(["stdin", "\ud800"])
        await page.send_json(["focus"])
        await page.send_json(["resize", {"width": 100, "height": 30}])
        await saves_a_game(server, page, "H8\r")
        largest = max(_megabytes(pid) for pid in server.processes())
        assert largest < 400
        await page.send_str('["stdin", "' + "h" * 70_000 + '"]')
        async with asyncio.timeout(END_S):
            while (await page.receive()).type is aiohttp.WSMsgType.BINARY:
                pass


@pytest.mark.parametrize("garbage", ["{", "[]", "7", b"\x00", "[" * 9_000])
async def test_any_garbage_ends_a_page(garbage: str | bytes) -> None:
    kind = aiohttp.WSMsgType.TEXT if isinstance(garbage, str) else aiohttp.WSMsgType.BINARY

    async def sent() -> AsyncIterator[Any]:
        yield aiohttp.WSMessage(kind, garbage, None)
        pytest.fail("the page is still read")

    await _listen_to(sent(), Mock(spec=Board))  # type: ignore[arg-type]


async def saves_a_game(server: Served, page: Any, keys: str) -> None:
    """Play a stone, and wait until it is in a file of its own."""

    def saved() -> int:
        return sum(path.stat().st_size > 0 for path in (server.folder / "gomoku" / "games").glob("*.sgf"))

    before = saved()
    await page.send_json(["stdin", keys])
    async with asyncio.timeout(START_S):
        while saved() == before:
            await asyncio.sleep(0.1)


def _megabytes(pid: int) -> int:
    fields = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return int(fields["VmRSS"].split()[0]) >> 10


@on_linux
async def test_a_page_too_many_is_told_and_pages_that_are_dropped_leave_nothing(server: Served) -> None:
    async def open_page() -> Any:
        return await session.ws_connect(f"{server.base}/ws?width=80&height=24&token={server.token}")

    async def drop(*pages: Any) -> None:
        for page in pages:
            page._response.connection.transport.abort()
            page._response.close()  # or the collector may warn of it in the midst of another test
        await asyncio.sleep(0.5)  # the last one may just be starting
        await are_gone(server.processes(), END_S)
        assert server.processes() == []

    async with aiohttp.ClientSession() as session:
        starting = [(await open_page(), await asyncio.sleep(0.2))[0] for _ in range(2)]
        await drop(*starting)
        pages = [await open_page() for _ in range(2)]
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await session.ws_connect(f"{server.base}/ws?token={server.token}")
        assert refused.value.status == 503
        async with session.get(server.address) as answer:
            assert answer.status == 503
            assert "2 boards are open" in await answer.text()
        await pages.pop(0).close()
        for _ in range(100):  # its place is free once its board has ended
            async with session.get(server.address) as answer:
                if answer.status != 503:
                    break
            await asyncio.sleep(0.05)
        async with server.page(session) as page:
            await until(b"\x1b", page)
        await drop(*pages)


@on_linux
@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGKILL])
async def test_everything_ends_with_the_server(tmp_path: Path, number: signal.Signals) -> None:
    with served(tmp_path) as server:
        count = 1 if number == signal.SIGKILL else 2  # a killed server does nothing for any of them
        async with aiohttp.ClientSession() as session, AsyncExitStack() as pages:
            opened = [await pages.enter_async_context(server.page(session)) for _ in range(count)]
            # All are read at once, since a page that does not answer pings counts as gone.
            await asyncio.gather(*(until(b"Black to move", page) for page in opened))
            behind = server.processes()
            assert len(behind) == 2 * count
            server.process.send_signal(number)
            code = await asyncio.to_thread(server.process.wait, 10)
            if number != signal.SIGKILL:
                assert code == ExitCode.INTERRUPTED
            await are_gone(behind, END_S)


@on_linux
async def test_a_board_that_hangs_and_a_page_that_does_not_read_are_ended(server: Served) -> None:
    async with aiohttp.ClientSession() as session:
        async with server.page(session) as page:
            await until(b"Black to move", page)
            behind = server.processes()
            for pid in behind:
                os.kill(pid, signal.SIGSTOP)
        await are_gone(behind, END_S)
        # Frames of a large screen that nobody takes: the board waits, and the server keeps none of them.
        reader, writer = await asyncio.open_connection("localhost", server.port)
        writer.write(
            f"GET /ws?width=500&height=200&token={server.token} HTTP/1.1\r\nHost: localhost:{server.port}\r\n"
            "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n".encode()
        )
        assert b"101" in await reader.readline()
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        before = _megabytes(server.process.pid)
        for number in range(200):
            text = json.dumps(["resize", {"width": 400 + number % 100, "height": 200}]).encode()
            writer.write(b"\x81" + bytes([0x80 | len(text)]) + bytes(4) + text)
        await asyncio.sleep(2)
        assert _megabytes(server.process.pid) < before + 60
        behind = server.processes()
        writer.transport.abort()
        await are_gone(behind, END_S)
