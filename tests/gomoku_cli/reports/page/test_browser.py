"""The report in a browser, where there is one: nothing is wider than a phone or a desktop, and nothing is missing."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.commands import Capsys, run
from tests.support.runs import make_run

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FRAME = """<iframe id="page" src="report.html" width="{width}" height="900" onload="
const page = document.getElementById('page').contentDocument;
const figures = [...page.querySelectorAll('figure svg')];
const drawn = figures.filter(each => each.getBoundingClientRect().width > 150).length;
document.title = `width ${{page.documentElement.scrollWidth}} drawn ${{drawn}} of ${{figures.length}}`;
"></iframe>"""


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="there is no Chromium")
def test_the_report_fits_a_phone_and_a_desktop(tmp_path: Path, capsys: Capsys) -> None:
    assert BROWSER is not None
    paths = [make_run(tmp_path / name) for name in ("a-run-with-a-rather-long-name-of-its-folder", "two")]
    assert run(capsys, "report", *paths, "--output", tmp_path / "report.html")[0] == 0
    for width in (390, 1280):
        frame = tmp_path / f"{width}.html"
        frame.write_text(FRAME.format(width=width), encoding="utf-8")
        options = "--headless --no-sandbox --disable-gpu --allow-file-access-from-files --dump-dom".split()
        options += [f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=5000"]
        command = [BROWSER, *options, frame.as_uri()]
        page = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
        title = re.search(r"<title>width (\d+) drawn (\d+) of (\d+)</title>", page)
        assert title is not None, page[:2000]
        assert int(title[1]) <= width
        assert title[2] == title[3] == "16"
