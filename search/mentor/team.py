"""Threads of the mentor that search one position together on one table ("lazy SMP")."""

from concurrent.futures import Future, ThreadPoolExecutor

from core.rules import Rules
from search.mentor.deepening import Deepening, Generation, Table, Task, Workspace, is_by_the_clock


class Team:
    """A table, the search of the calling thread, and helpers on threads of their own.

    Each helper makes the same search in other steps, so what one of them finds spares the others work. The result is
    that of the calling thread. Helpers end within a few milliseconds of it, and it does not wait for them.
    """

    def __init__(self, rules: Rules, slots: int) -> None:
        """`slots`: of the table, a power of two."""
        self._rules = rules
        self._table = Table(slots)
        self._own = self._new_workspace()
        self._helpers: list[_Helper] = []

    def search(self, task: Task, *, helpers: int) -> Deepening:
        """Search a position and return the finished search.

        `helpers`: number of further threads. They help in searches by the clock alone.
        """
        remember = is_by_the_clock(task.limit)
        if not remember or task.limit.depth is not None:
            helpers = 0
        if not remember or self._table.is_at_its_end:
            self.wait()  # helpers of an earlier search may still write to the table
        while len(self._helpers) < helpers:
            self._helpers.append(_Helper(self._new_workspace()))
        generation = self._table.begin_search(remember=remember)
        try:
            for number, helper in enumerate(self._helpers[: max(helpers, 0)], start=1):
                helper.start(task, generation, number)
            search = Deepening(self._own, task, generation)
            search.deepen()
            return search
        finally:
            self._table.end_search()

    def wait(self) -> None:
        """Wait until all helpers have ended their searches. Raises the error of one."""
        for helper in self._helpers:
            helper.wait()

    def _new_workspace(self) -> Workspace:
        return Workspace(self._rules, self._table)


class _Helper:
    """A thread with a workspace of its own. Its searches come one after the other."""

    def __init__(self, work: Workspace) -> None:
        self._work = work
        self._pool = ThreadPoolExecutor(1, "mentor")
        self._last: Future[None] | None = None

    def start(self, task: Task, generation: Generation, number: int) -> None:
        """Search the position of a task until the search of this generation is over; an earlier one ends first.

        Raises the error of an earlier search.
        """
        if self._last is not None and self._last.done():
            self._last.result()
        over = self._work.state.over

        def is_over() -> bool:
            return bool(over[0] >= generation.number)

        position = task.position.copy()
        own = Task(position=position, limit=task.limit, started=task.started, stop=is_over)

        def search() -> None:
            if not is_over():
                Deepening(self._work, own, generation, number).deepen()

        self._last = self._pool.submit(search)

    def wait(self) -> None:
        """Wait for the end of the last search. Raises its error."""
        if self._last is not None:
            self._last.result()
