"""The guard of an engine: starts a program, and ends it with all that it has started.

A program of its own that needs nothing but Python's library, so that it starts at once and outlives a parent that is
killed. On Linux it adopts the orphans of the engine, those too that have left its session, and counts their memory.
Elsewhere it knows the engine's process group alone.

    python -I -S guard.py CONTROL REPORT MAX_BYTES FOLDER COMMAND...

The engine gets the standard streams. CONTROL is a pipe; when its other end closes, which it does however the parent
ends, the engine gets SIGTERM, and soon all that is left gets SIGKILL. The same follows when the engine ends by itself,
when its memory exceeds MAX_BYTES (0: no limit), and when the guard gets SIGTERM. Then FOLDER is removed. REPORT is a
pipe for lines: `started`, or `failed ERRNO`; later `ended CODE` (below 0: by that signal) and `memory BYTES`.
"""

import ctypes
import os
import select
import signal
import sys
import time
from contextlib import suppress

_TERMINATE_S = 0.5
"""Time for the engine to end after SIGTERM."""
_KILL_S = 2.0
"""Maximum time for killed processes to end. One that waits for a device may take longer."""
_KILL_EVERY_S = 0.005
_MEASURE_EVERY_S = 0.25
_MEASURE_SHARE = 0.01
"""Maximum share of a processor for measuring memory: with thousands of processes on the machine it is measured less
often."""
_ON_LINUX = sys.platform.startswith("linux")
_SET_PARENT_DEATH_SIGNAL, _SET_CHILD_SUBREAPER = 1, 36
"""Operations of `prctl`."""


def main() -> None:
    """Guard one engine until all is over."""
    control, report, max_bytes = map(int, sys.argv[1:4])
    folder, command = sys.argv[4], sys.argv[5:]
    for pipe in (control, report):
        os.set_inheritable(pipe, False)
    wake_up, alarm = os.pipe()
    os.set_blocking(alarm, False)
    signal.set_wakeup_fd(alarm)
    for number in (signal.SIGCHLD, signal.SIGTERM):
        signal.signal(number, lambda number, frame: None)  # its number arrives at `wake_up`
    _prctl(_SET_CHILD_SUBREAPER, 1)
    try:
        engine = _start(command)
    except OSError as error:
        _say(report, f"failed {error.errno}")
    else:
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):  # so that they close with the engine
            os.dup2(nothing, stream)
        _say(report, "started")
        _guard(engine, control, wake_up, report, max_bytes)
    from shutil import rmtree  # its import would delay the start

    rmtree(folder, ignore_errors=True)


def _start(command: list[str]) -> int:
    """Start the engine in a session of its own and return its process id. Raises `OSError`."""
    guard = os.getpid()
    failure, failed = os.pipe()
    engine = os.fork()
    if engine == 0:
        try:
            os.setsid()
            _prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
            if os.getppid() != guard:  # it ended before the line above
                os._exit(1)
            for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores these
                signal.signal(number, signal.SIG_DFL)
            os.execvp(command[0], command)
        except OSError as error:
            os.write(failed, str(error.errno).encode())
        os._exit(127)
    os.close(failed)
    with open(failure, "rb") as pipe:
        errno = pipe.read()
    if errno:
        os.waitpid(engine, 0)
        raise OSError(int(errno), os.strerror(int(errno)))
    return engine


def _guard(engine: int, control: int, wake_up: int, report: int, max_bytes: int) -> None:
    poll = select.poll()
    poll.register(control, select.POLLIN)
    poll.register(wake_up, select.POLLIN)
    code, kill_at = None, None
    measure_at = time.monotonic() if max_bytes and _ON_LINUX else float("inf")
    while code is None and (kill_at is None or time.monotonic() < kill_at):
        due = measure_at if kill_at is None else kill_at
        ready = poll.poll(None if due == float("inf") else max(0.0, 1000 * (due - time.monotonic())))
        signals = os.read(wake_up, 1024) if any(pipe == wake_up for pipe, _ in ready) else b""
        code = _reap().get(engine)
        is_over = signal.SIGTERM in signals or any(pipe == control for pipe, _ in ready)
        started = time.monotonic()
        if not is_over and code is None and started >= measure_at:
            used = sum(map(_bytes_of, _descendants()))
            measure_at = started + max(_MEASURE_EVERY_S, (time.monotonic() - started) / _MEASURE_SHARE)
            if used > max_bytes:
                _say(report, f"memory {used}")
                break
        if is_over and kill_at is None:
            kill_at = time.monotonic() + _TERMINATE_S
            poll.unregister(control)
            _signal_group(engine, signal.SIGTERM)
    last = _kill_all(engine)
    _say(report, f"ended {last if code is None else code}")


def _kill_all(engine: int) -> int:
    """Kill what is left, and return the exit code of the engine if that was alive."""
    codes: dict[int, int] = {}
    until = time.monotonic() + _KILL_S
    while time.monotonic() < until:
        _signal_group(engine, signal.SIGKILL)
        for process in _descendants():  # each pass finds those that the one before made orphans
            with suppress(OSError):
                os.kill(process, signal.SIGKILL)
        codes |= _reap()
        try:
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            break
        time.sleep(_KILL_EVERY_S)
    return codes.get(engine, -signal.SIGKILL)


def _signal_group(engine: int, number: int) -> None:
    with suppress(OSError):  # macOS forbids a signal to an ended process
        os.killpg(engine, number)


def _reap() -> dict[int, int]:
    """Return the exit codes of the children that have ended, by process id."""
    codes = {}
    with suppress(ChildProcessError):
        while (found := os.waitpid(-1, os.WNOHANG))[0]:
            codes[found[0]] = os.waitstatus_to_exitcode(found[1])
    return codes


def _descendants() -> list[int]:
    """Return the children of this process and theirs, as far as the system shows them."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc") if _ON_LINUX else ():
        if name.isdecimal():
            with suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
                parent = int(file.read().rpartition(b")")[2].split()[1])
                children.setdefault(parent, []).append(int(name))
    found = [os.getpid()]
    for process in found:
        found += children.get(process, ())
    return found[1:]


def _bytes_of(process: int) -> int:
    """Return the memory that a process shares with no other."""
    try:
        with open(f"/proc/{process}/statm", "rb") as file:
            _size, resident, shared = map(int, file.read().split()[:3])
    except (OSError, ValueError):
        return 0
    return (resident - shared) * os.sysconf("SC_PAGE_SIZE")


def _prctl(operation: int, argument: int) -> None:
    if _ON_LINUX:
        ctypes.CDLL(None).prctl(operation, argument, 0, 0, 0)


def _say(report: int, line: str) -> None:
    with suppress(OSError):  # the parent may be gone
        os.write(report, f"{line}\n".encode())


if __name__ == "__main__":
    main()
