"""Clocks that jump: only the monotonic clock decides anything."""

import re

from tests.support.project import ROOT

_CALENDAR = re.compile(r"time\.time\(|time_ns\(|datetime\.now|st_mtime|st_ctime|getmtime|localtime|gmtime")
_ALLOWED = {
    "core/compiled/kernel_files.py",  # the order in which folders of old versions go
    "curriculum/run/json_files.py",  # dates that people read: no code compares them
    "gomoku_cli/reports/training/outlook.py",  # the pace of mentor games: an estimate that people read
    "gomoku_cli/reports/training/overview.py",  # ages that people read
    "gomoku_cli/study/rating.py",  # the times of results; a daily set is one of a date
    "gomoku_cli/study/saved.py",  # names and order of saved games
    "gomoku_cli/watch/followed_run.py",  # the newest file, and its changes
    "core/files/cache_folder.py",  # the order in which old files go
}


def test_no_other_module_reads_the_clock_of_the_calendar() -> None:
    packages = ("core", "search", "nets", "curriculum", "gomoku_cli")
    modules = [path for package in packages for path in (ROOT / package).rglob("*.py")]
    found = {
        path.relative_to(ROOT).as_posix() for path in modules if _CALENDAR.search(path.read_text(encoding="utf-8"))
    }
    assert found == _ALLOWED
