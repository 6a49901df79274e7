"""The server of the board: pages that may be opened, and a board for each.

Written on aiohttp. Of textual-serve only the files for the browser are used: its server asks for no token, lets every
origin in, and leaves processes behind.
"""

import asyncio
import errno
import logging
import os
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path

import textual_serve
from aiohttp import WSMsgType, web

from core.files.json_text import parse_json
from core.input_limits import MAX_PAGE_EDGE, MAX_PAGE_MESSAGE_BYTES, MAX_PAGES
from gomoku_cli.exit_codes import ExitCode
from gomoku_cli.printable import echo, printable
from gomoku_cli.process import SIGNALS
from gomoku_cli.serving import processes
from gomoku_cli.serving.access import Access, ServingError
from gomoku_cli.serving.board import Board, start_board

_ROOM_S = 4.0
"""Time that a page waits for the board of another page to end."""
_SWEEP_S = 0.25
_STRAY_S = 1.0
"""Time for what a board has started to end after it."""
_END_S = 1.2
"""Time for the server to end after a signal; then everything is killed."""
_STRAY_AT_END_S = 0.2
_IDLE_S = 15.0
"""Time for a request to come, after which the connection is closed."""
_ALIVE_S = 10.0
"""Interval at which a page has to show that it is there."""
_CLOSE_S = 0.5
"""Time for a page to agree to the end."""
_COLUMNS, _ROWS = 80, 24
"""Size of a page that names none."""
_MAX_PING = 64
_OWN, _STATICS = Path(__file__).with_name("page"), Path(textual_serve.__file__).parent / "static"
_FILES = {
    "/page.js": (_OWN / "page.js", "text/javascript"),
    "/page.css": (_OWN / "page.css", "text/css"),
    "/textual.js": (_STATICS / "js" / "textual.js", "text/javascript"),
    "/xterm.css": (_STATICS / "css" / "xterm.css", "text/css"),
    "/font.ttf": (_STATICS / "fonts" / "RobotoMono-VariableFont_wght.ttf", "font/ttf"),
}
"""The files that a page needs, by their address: ours, and those of textual-serve for the browser."""
_FULL = f"{MAX_PAGES} boards are open, which is the most at a time. Close one of them, then load this page again."
_NO_TOKEN = "Open the address that gomoku printed: it ends with a token, which is new whenever the server starts."


def serve(arguments: Sequence[str], host: str, port: int) -> ExitCode:
    """Serve `gomoku play` with `arguments` until a signal comes. Raises `ServingError`."""
    processes.adopt_orphans()
    return asyncio.run(Server(arguments, Access(host, port)).run(host, port))


class Server:
    """The server and its pages."""

    def __init__(self, arguments: Sequence[str], access: Access) -> None:
        self._arguments, self._access = arguments, access
        self._open = 0
        """Pages that show a board."""
        self._boards: set[Board] = set()
        """Those that run; one whose page has closed is among them until it has ended."""
        self._ends: set[asyncio.Task[None]] = set()
        self._starting = 0
        self._ending = asyncio.Event()
        self._strays = processes.Strays(_STRAY_S)
        self._strays_left = 0

    async def run(self, host: str, port: int) -> ExitCode:
        """Serve until a signal comes; then end every page. Raises `ServingError`."""
        app = web.Application(middlewares=[self._guard])
        app.on_response_prepare.append(self._add_headers)
        app.router.add_get("/", self._show_page)
        app.router.add_get("/ws", self._play)
        for address in _FILES:
            app.router.add_get(address, self._give_file)
        runner = web.AppRunner(
            app,
            access_log=None,
            logger=logging.Logger(__name__, logging.CRITICAL + 1),  # garbage of a stranger is no news
            handle_signals=False,
            handler_cancellation=True,
            keepalive_timeout=_IDLE_S,
            shutdown_timeout=0.1,
        )
        self._handle_signals()
        await runner.setup()
        try:
            await _listen(runner, host, port)
            echo(f"The board: {self._access.address}")
            echo("Ctrl-C ends it.")
            while not self._ending.is_set():
                self._sweep()
                with suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(self._ending.wait(), _SWEEP_S)
            self._strays.patience_s = _STRAY_AT_END_S
            while self._boards or self._strays_left:
                await asyncio.sleep(0.05)
                self._sweep()
        finally:
            await runner.cleanup()
        return ExitCode.INTERRUPTED

    def _handle_signals(self) -> None:
        loop = asyncio.get_running_loop()

        def end_at_once() -> None:
            processes.kill_tree(os.getpid(), itself=False)
            os._exit(ExitCode.INTERRUPTED)

        def end() -> None:
            if not self._ending.is_set():
                timer = threading.Timer(_END_S, end_at_once)
                timer.daemon = True
                timer.start()
            self._ending.set()

        for number in SIGNALS:
            with suppress(NotImplementedError):  # Windows has none of these, and Ctrl-C raises there
                loop.add_signal_handler(number, end)

    def _sweep(self) -> None:
        if not self._starting:  # a board that starts is not known yet
            own = {board.pid for board in self._boards}
            self._strays_left = self._strays.sweep(own, time.monotonic())

    # Requests

    @web.middleware
    async def _guard(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        """Refuse a request that is not from a page of this server with its token."""
        access, hosts = self._access, request.headers.getall("Host", [])
        if not access.knows_host(hosts):
            return _text("This server is not known by that name.", 403)
        if not access.is_own_page(request.headers.getall("Origin", []), hosts):
            return _text("A page of another site cannot use this server.", 403)
        if not access.has_token(request.query.get("token"), request.cookies.get(access.cookie)):
            return _text(_NO_TOKEN, 403)
        return await handler(request)

    async def _add_headers(self, request: web.Request, response: web.StreamResponse) -> None:
        host = request.headers.get("Host", "") if self._access.knows_host(request.headers.getall("Host", [])) else ""
        sockets = f"ws://{host} wss://{host}" if host else ""
        response.headers.update(
            {
                "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
                f"font-src 'self'; img-src 'self' data:; connect-src 'self' {sockets}; base-uri 'none'; "
                "form-action 'none'; frame-ancestors 'none'",
                "Cross-Origin-Opener-Policy": "same-origin",
                "Cross-Origin-Resource-Policy": "same-origin",
                "Referrer-Policy": "no-referrer",  # the address has the token
                "X-Content-Type-Options": "nosniff",
                "X-Frame-Options": "DENY",
                "Cache-Control": "no-store",
                "Server": "gomoku",
            }
        )

    async def _show_page(self, request: web.Request) -> web.StreamResponse:
        if self._open >= MAX_PAGES:
            return _text(_FULL, 503)
        response = web.Response(body=(_OWN / "page.html").read_bytes(), content_type="text/html", charset="utf-8")
        response.set_cookie(self._access.cookie, self._access.token, httponly=True, samesite="Strict", path="/")
        return response

    async def _give_file(self, request: web.Request) -> web.StreamResponse:
        path, kind = _FILES[request.path]
        return web.Response(body=path.read_bytes(), content_type=kind)

    async def _play(self, request: web.Request) -> web.StreamResponse:
        """Show a board on a page until either of them ends, or the server."""
        page = web.WebSocketResponse(
            heartbeat=_ALIVE_S, timeout=_CLOSE_S, compress=False, max_msg_size=MAX_PAGE_MESSAGE_BYTES
        )
        if not page.can_prepare(request):
            return _text("This address is for the board's page.", 400)
        if self._open >= MAX_PAGES or self._ending.is_set():
            return _text(_FULL, 503)
        self._open += 1
        try:
            try:
                async with asyncio.timeout(_ROOM_S):
                    while len(self._boards) + self._starting >= MAX_PAGES:
                        await asyncio.sleep(0.05)
            except TimeoutError:
                return _text(_FULL, 503)
            board = await self._start(_edge(request.query.get("width")), _edge(request.query.get("height")))
            try:
                await page.prepare(request)
                await self._connect(page, board)
            finally:
                self._end_later(board)
            await _close(page, request)
        finally:
            self._open -= 1
        return page

    async def _start(self, columns: int | None, rows: int | None) -> Board:
        self._starting += 1
        try:
            board = await start_board(self._arguments, columns or _COLUMNS, rows or _ROWS)
            self._boards.add(board)
        finally:
            self._starting -= 1
        return board

    async def _connect(self, page: web.WebSocketResponse, board: Board) -> None:
        """Carry bytes both ways until either end closes, or the server ends."""
        both = {asyncio.create_task(_show(board, page)), asyncio.create_task(_listen_to(page, board))}
        server = asyncio.create_task(self._ending.wait())
        try:
            await asyncio.wait({*both, server}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            server.cancel()
            for task in both:
                task.cancel()
            await asyncio.gather(*both, server, return_exceptions=True)
        if (failure := board.failure) is not None and not page.closed and not self._ending.is_set():
            echo(f"error: a board could not start: {printable(failure)}", err=True)
            with suppress(OSError):
                await page.send_bytes(f"The board could not start: {printable(failure)}".encode())

    def _end_later(self, board: Board) -> None:
        """End a board in a task of its own, since the request of a page that has gone is cancelled."""
        task = asyncio.create_task(board.end())
        self._ends.add(task)
        task.add_done_callback(self._ends.discard)
        task.add_done_callback(lambda _: self._boards.discard(board))


async def _show(board: Board, page: web.WebSocketResponse) -> None:
    """Pass on what the board draws; a page that does not read holds it up."""
    with suppress(OSError):
        async for content in board.output():
            await page.send_bytes(content)


async def _listen_to(page: web.WebSocketResponse, board: Board) -> None:
    """Pass on keys and sizes until the page ends or sends what no page of ours does."""
    with suppress(OSError, ValueError):  # ValueError: no JSON
        async for message in page:
            if message.type is not WSMsgType.TEXT:
                return
            match parse_json(message.data):
                case ["stdin", str(keys)]:
                    await board.type(keys)
                case ["resize", {"width": width, "height": height}]:
                    columns, rows = _edge(width), _edge(height)
                    if columns is not None and rows is not None:
                        await board.tell(type="resize", width=columns, height=rows)
                case ["ping", str(text)]:
                    await page.send_json(["pong", text[:_MAX_PING]])
                case ["focus" | "blur" as kind] | ["focus" | "blur" as kind, _]:
                    await board.tell(type=kind)
                case [_] | [_, _]:
                    pass  # of no use to a board
                case _:
                    return


def _edge(given: object) -> int | None:
    """Return the columns or rows that a page asks for, within the limits; None if it is no number."""
    with suppress(ValueError):
        if isinstance(given, str | int | float) and not isinstance(given, bool):
            return min(max(int(given), 1), MAX_PAGE_EDGE)
    return None


async def _close(page: web.WebSocketResponse, request: web.Request) -> None:
    """Close a connection, also one whose other end does not read."""
    with suppress(OSError, TimeoutError):
        async with asyncio.timeout(2 * _CLOSE_S):
            await page.close()
    if request.transport is not None:
        request.transport.abort()


async def _listen(runner: web.AppRunner, host: str, port: int) -> None:
    """Listen at an address; `localhost` is the one of IPv4, and that of IPv6 where there is one."""
    hosts = ("127.0.0.1", "::1") if host == "localhost" else (host,)
    for number, each in enumerate(hosts):
        try:
            await web.TCPSite(runner, each, port).start()
        except OSError as error:
            if number == 0 or error.errno not in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                is_known = error.errno in errno.errorcode  # not where a name cannot be looked up
                reason = os.strerror(error.errno or 0) if is_known else error.strerror or str(error)
                if error.errno in (errno.EADDRINUSE, errno.EACCES):
                    fault = f"port {port} of {each} cannot be used: {reason}; --port names another"
                else:  # the address: of another machine, of another family, or of a name that nobody knows
                    fault = f"{each} is no address of this machine: {reason}; --host names one, as 127.0.0.1"
                raise ServingError(fault) from error


def _text(text: str, status: int) -> web.Response:
    return web.Response(text=text + "\n", status=status)
