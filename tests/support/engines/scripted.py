"""An engine of the Gomocup protocol that plays the first empty cell and misbehaves in the way of its first argument.

It runs as a program of its own and needs nothing but Python. A second argument is a file for the lines that it gets and
for its process id and those of its children.
"""

import os
import signal
import subprocess
import sys
import time

MODE = sys.argv[1] if len(sys.argv) > 1 else "correct"
NOTES = sys.argv[2] if len(sys.argv) > 2 else None
LAST_WORDS = {
    "error-at-once": "MESSAGE hello\nERROR no licence found\nMESSAGE good bye",
    "garbage-at-once": "\x00\x01 Fatal: no licence found",
    "talks-and-ends": "MESSAGE no licence found",
}
REPLIES = {"garbage": "the centre, of course \x00 " + "!" * 5000, "error": "ERROR too little memory"}
"""In the place of a move."""
FLOODS = {"huge": "9" * 100_000, "messages": "MESSAGE I am thinking\n", "oks": "OK\n", "suggestions": "SUGGEST 0,0\n"}
DELAYS_S = {"slow": 0.15, "late": 0.6}
END = "\r" if MODE == "cr-only" else "\n"


def say(text: str) -> None:
    sys.stdout.write(text + END)
    sys.stdout.flush()


def note(text: str) -> None:
    if NOTES is not None:
        with open(NOTES, "a") as file:
            file.write(f"{text}\n")


def hang() -> None:
    while True:
        time.sleep(60)


def flood(text: str) -> None:
    while True:
        sys.stdout.write(text)


def hoard() -> None:
    """Take 20 MB of memory each 10 ms, up to 2 GB."""
    taken = []
    while len(taken) < 100:
        taken.append(b"x" * 20_000_000)
        time.sleep(0.01)
    hang()


def leave_children() -> None:
    """Start a child in a session of its own, and one that also has no parent and no environment left."""
    sleep = [sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)"]
    note(str(subprocess.Popen(sleep, start_new_session=True, stdin=subprocess.DEVNULL).pid))
    if (middle := os.fork()) == 0:
        os.setsid()
        child = subprocess.Popen(sleep, start_new_session=True, env={}, cwd="/", stdin=subprocess.DEVNULL)
        note(str(child.pid))
        os._exit(0)
    os.waitpid(middle, 0)


class Board:
    """The stones, and the misbehaviour of moves."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.taken: set[tuple[int, int]] = set()
        self.moves = 0

    def first_empty(self) -> str:
        cell = next((x, y) for y in range(self.size) for x in range(self.size) if (x, y) not in self.taken)
        self.taken.add(cell)
        return f"{cell[0]},{cell[1]}"

    def move(self) -> None:
        self.moves += 1
        last = sorted(self.taken)[-1] if self.taken else None
        if MODE == "hang-at-move":
            hang()
        if MODE == "crash-at-second-move" and self.moves == 2:
            print("loading\nout of memory", file=sys.stderr, flush=True)
            os._exit(3)
        if MODE == "killed":
            os.kill(os.getpid(), signal.SIGSEGV)
        if MODE == "closes-stdout":
            os.close(1)
            hang()
        if MODE == "illegal" and last is not None:
            return say(f"{last[0]},{last[1]}")
        if MODE == "off-board":
            return say(f"{self.size},0")
        if MODE in REPLIES:
            return say(REPLIES[MODE])
        if MODE == "remarks":
            say("depth 12, 7,7 looks good")
            say("ping")
        if MODE == "error-and-end":
            say("ERROR too little memory")
            sys.exit(1)
        if MODE == "hog":
            hoard()
        if MODE == "child-hogs":
            subprocess.Popen([sys.executable, __file__, "hoard"], start_new_session=True)
            hang()
        if MODE == "unknown":
            say("UNKNOWN command")
            hang()
        if MODE in FLOODS:
            flood(FLOODS[MODE])
        time.sleep(DELAYS_S.get(MODE, 0.0))
        if MODE == "chatty":
            say("MESSAGE depth 3\r\n\n   \nmessage in lower case\nDEBUG best [1,1]\nMESSAGE " + "long " * 10_000)
        if MODE == "spaces":
            return say("  " + self.first_empty().replace(",", " , ") + "  ")
        if MODE in ("suggest", "suggest-then-hang"):
            say(f"SUGGEST {self.first_empty()}")
            return None
        say(f"{self.first_empty()}\n0,0" if MODE == "twice" else self.first_empty())
        if MODE == "leaves-after-move":
            sys.exit(0)
        if MODE == "error-after-move":
            say("ERROR the licence is over")
            sys.exit(0)
        return None


def main() -> None:
    board = Board(0)
    in_board = in_swap2 = False
    if MODE == "crash-at-once":
        sys.exit("no licence found")
    if MODE in LAST_WORDS:
        say(LAST_WORDS[MODE])
        sys.exit(1)
    if MODE == "error-without-line-end":
        sys.stdout.write("ERROR no licence found")
        sys.exit(1)
    if MODE == "silent-end":
        sys.exit(0)
    if MODE == "killed-at-once":
        os.kill(os.getpid(), signal.SIGKILL)
    if MODE == "hoard":
        hoard()
    if MODE.startswith("family"):
        leave_children()
    if MODE == "banner":
        say("Some Engine 1.0\n0,0\nMESSAGE hello")
    if MODE in ("deaf", "grandchild", "family-hangs"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if MODE == "grandchild":
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        note(str(child.pid))
    note(str(os.getpid()))
    while line := sys.stdin.readline():
        note(line.strip())
        word, _, rest = line.strip().partition(" ")
        if (in_board or in_swap2) and word != "DONE":
            x, y = word.split(",")[:2]
            board.taken.add((int(x), int(y)))
        elif word == "START":
            if MODE == "hang-at-start":
                hang()
            if MODE == "refuses":
                say("ERROR unsupported size")
                continue
            if MODE == "refuses-and-ends":
                say("ERROR unsupported size")
                return
            if MODE == "knows-no-start":
                say("MESSAGE loading\nwhat do you mean?")
                hang()
            if MODE == "ends-after-start":
                say("OK\nMESSAGE I have had enough")
                sys.exit(3)
            board = Board(int(rest))
            say({"lower-case": "ok", "wordy": "OK - everything is good"}.get(MODE, "OK"))
        elif word == "BEGIN":
            board.move()
        elif word == "TURN":
            x, y = rest.split(",")
            board.taken.add((int(x), int(y)))
            board.move()
        elif word == "RESTART":
            board = Board(board.size)
            say("OK")
        elif word == "BOARD":
            board.taken.clear()
            in_board = True
        elif word == "SWAP2BOARD":
            if MODE == "no-swap2":
                say("UNKNOWN command")
                hang()
            board.taken.clear()
            in_swap2 = True
        elif in_swap2:
            in_swap2 = False
            stones = {"swaps": 0, "adds-two": 2}.get(MODE, 1) if board.taken else 3
            say(" ".join(board.first_empty() for _ in range(stones)) or "SWAP")
        elif word == "DONE":
            in_board = False
            board.move()
        elif word == "PLAY":
            if MODE == "suggest-then-hang":
                hang()
            say(rest)
        elif word == "ABOUT":
            hang()
        elif word == "END" and MODE == "family-crashes":
            os.kill(os.getpid(), signal.SIGKILL)
        elif word == "END":
            if MODE in ("hang-at-end", "deaf", "grandchild", "family-hangs"):
                hang()
            return
    if MODE in ("deaf", "grandchild", "family-hangs"):
        hang()


if __name__ == "__main__":
    main()
