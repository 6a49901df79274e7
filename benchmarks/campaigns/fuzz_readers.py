"""Mutated inputs of all readers: files, arguments and lines, through the functions that the commands call.

Each must be read, or refused with an error of one printable line, within 2 s of processor time and within 10 times its
size plus 100 MB of memory; a good one must be read back as it was.
"""

import faulthandler
import re
import time
from pathlib import Path

from benchmarks.campaigns.readers import Reader
from core.errors import UserError

_MAX_CPU_S = 2.0
_CPU_S_PER_BYTE = 1e-5
"""A hundred thousand commands of the protocol in one input take some seconds."""
_HANG_S, _HANG_S_PER_BYTE = 120.0, 1e-3
"""On a busy machine an answer of the engine's thread may take milliseconds."""
_MAX_MEMORY, _MEMORY_FACTOR = 100 << 20, 10
_MAX_MESSAGE = 1000
_ARGUMENTS = ("assignments", "players")
"""Readers of what the user has typed; their messages repeat it."""


def check(reader: Reader, data: bytes) -> str:
    """Give an input to its reader; return `read` or `refused`. Raises `AssertionError` for a fault."""
    before, started, fate = memory_bytes(), time.process_time(), f"{reader.name} read"
    Path("last-input").write_bytes(data)  # after a hang it is left in the folder of the run
    faulthandler.dump_traceback_later(_HANG_S + _HANG_S_PER_BYTE * len(data), exit=True)
    try:
        reader.read(data)
    except (UserError, OSError) as error:
        fate, message = f"{reader.name} refused", str(error)
        if reader.name not in _ARGUMENTS:
            assert not isinstance(error, UserError) or message.isprintable(), message[:300]
            assert len(message) <= _MAX_MESSAGE, message[:200]
    except AssertionError:
        raise
    except Exception as error:
        raise AssertionError(f"{type(error).__name__}: {str(error)[:300]}") from error
    finally:
        faulthandler.cancel_dump_traceback_later()
    seconds, taken = time.process_time() - started, memory_bytes(peak=True) - before
    assert seconds <= _MAX_CPU_S + _CPU_S_PER_BYTE * len(data), f"it took {seconds:.1f} s for {len(data):,} bytes"
    assert taken <= _MAX_MEMORY + _MEMORY_FACTOR * len(data), f"it took {taken >> 20} MB for {len(data):,} bytes"
    return fate


def memory_bytes(peak: bool = False) -> int:
    """Return the resident bytes, or their peak since the last call without `peak`; 0 where the system hides them."""
    try:
        if not peak:
            Path("/proc/self/clear_refs").write_text("5")  # resets the peak
        found = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())
    except OSError:
        return 0
    return int(found[1]) << 10 if found else 0
