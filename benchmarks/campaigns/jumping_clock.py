"""A clock that jumps: `faults clock -- gomoku evaluate mentor --against random`.

Runs a command, with all that it starts, under a calendar's clock that jumps by up to ten days back or forth at each
reading; the monotonic clock stays as it is. Returns the exit code of the command. It compiles a small library, which
needs Linux and a C compiler.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

_SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static long jump(void) {
    static __thread unsigned state = 0;
    if (!state) state = (unsigned)(unsigned long)&state | 1;
    return (long)(rand_r(&state) / (double)RAND_MAX * 2 * 864000) - 864000;
}

int clock_gettime(clockid_t id, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(id, now);
    if (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE) now->tv_sec += jump();
    return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec precise;
    int result = clock_gettime(CLOCK_REALTIME, &precise);
    now->tv_sec = precise.tv_sec;
    now->tv_usec = precise.tv_nsec / 1000;
    return result;
}

time_t time(time_t *copy) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (copy) *copy = now.tv_sec;
    return now.tv_sec;
}
"""
_JUMPS = "import sys, time; times = [time.time() for _ in range(20)]; sys.exit(times == sorted(times))"


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("command", nargs="+")


def run(arguments: argparse.Namespace) -> int:
    """Run the command under the clock; return its exit code."""
    with tempfile.TemporaryDirectory(prefix="gomoku-clock-") as folder:
        source, library = Path(folder, "clock.c"), Path(folder, "clock.so")
        source.write_text(_SOURCE, encoding="ascii")
        compiler = os.environ.get("CC", "cc")
        subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
        environment = os.environ | {"LD_PRELOAD": str(library)}
        if subprocess.run([sys.executable, "-c", _JUMPS], env=environment, check=False).returncode != 0:
            print("the clock does not jump here")
            return 1
        return subprocess.run(arguments.command, env=environment, check=False).returncode
