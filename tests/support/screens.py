"""Snapshots of screens: the text that an app shows, compared with a file that `GOMOKU_SNAPSHOTS=write` writes."""

import os
from pathlib import Path
from typing import Any

from textual.app import App


def screen_text(app: App[Any]) -> str:
    """Return the characters on the screen, line by line."""
    strips = app.screen._compositor.render_strips()
    return "\n".join(strip.text.rstrip() for strip in strips) + "\n"


def check_snapshot(app: App[Any], path: Path) -> None:
    """Compare the screen with a file; its difference is in the failure. Write the file where it is requested."""
    text = screen_text(app)
    if os.environ.get("GOMOKU_SNAPSHOTS") == "write":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")
