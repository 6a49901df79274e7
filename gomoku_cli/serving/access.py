"""Access to the served board: a secret token, known names of this machine, and pages of the board's own origin alone.

The token keeps out other users and programs. `Host` is checked since a foreign name may lead to this machine (DNS
rebinding): its pages would be of the same origin as the board's. `Origin` is checked since a browser sends cookies to
WebSockets that a page of another origin on the same machine opens.
"""

import ipaddress
import secrets
import socket
from contextlib import suppress
from urllib.parse import urlsplit

from core.errors import FailedError

TOKEN_BYTES = 32


class ServingError(FailedError, RuntimeError):
    """The board cannot be served; the message says why."""


class Access:
    """Rules of who may use the server at an address."""

    def __init__(self, host: str, port: int) -> None:
        """`host`: the address of `--host`. The token is new for each server."""
        self.token = secrets.token_urlsafe(TOKEN_BYTES)
        self.cookie = f"gomoku-{port}"
        """Name of the cookie with the token: browsers share cookies among the ports of a machine."""
        self.is_local = is_loopback(host)
        self._host, self._port = host, port
        self._names = {host.lower(), "localhost"}
        if not self.is_local:
            name = socket.gethostname().lower()
            self._names |= {name, f"{name}.local"}

    @property
    def address(self) -> str:
        """The address to open, with the token."""
        host = socket.gethostname() if self._host in ("0.0.0.0", "::") else self._host
        return f"http://{f'[{host}]' if ':' in host else host}:{self._port}/?token={self.token}"

    def has_token(self, *given: str | None) -> bool:
        """Return True if one of the given texts is the token."""
        return any(text is not None and secrets.compare_digest(text.encode(), self.token.encode()) for text in given)

    def knows_host(self, hosts: list[str]) -> bool:
        """Return True for the `Host` headers of a request that names this machine; a number needs no name server."""
        if len(hosts) != 1 or (name := _host_name(hosts[0])) is None:
            return False
        if name in self._names:
            return True
        with suppress(ValueError):
            number = ipaddress.ip_address(name)
            return number.is_loopback or not self.is_local
        return False

    def is_own_page(self, origins: list[str], hosts: list[str]) -> bool:
        """Return True for a page of this server, and for a program that is no browser: it sends no `Origin`."""
        if not origins:
            return True
        with suppress(ValueError):
            origin = urlsplit(origins[0])
            return (
                len(origins) == 1
                and origin.scheme in ("http", "https")
                and [origin.netloc.lower()] == [host.lower() for host in hosts]
            )
        return False


def is_loopback(host: str) -> bool:
    """Return True for an address of `--host` that only this machine can reach."""
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host.lower() == "localhost"


def _host_name(host: str) -> str | None:
    """Return the name or number in a `Host` header; None if it is malformed."""
    with suppress(ValueError):
        parts = urlsplit(f"//{host}")
        _ = parts.port  # raises for an invalid one
        if parts.netloc == host and "@" not in host:
            return parts.hostname
    return None
