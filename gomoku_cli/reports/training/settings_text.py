"""Settings on the terminal: lists, explanations and differences."""

import itertools
import json
import shutil
import textwrap
from collections.abc import Sequence

from gomoku_cli.printable import echo
from gomoku_cli.reports.terminal import print_table
from gomoku_cli.reports.texts import Json

_MAX_COLUMNS = 100


def _filled(text: str, first: str, later: str | None = None) -> str:
    """Return a paragraph as wide as the terminal, with indents."""
    width, later = min(shutil.get_terminal_size().columns, _MAX_COLUMNS), first if later is None else later
    return textwrap.fill(text, width, initial_indent=first, subsequent_indent=later, break_on_hyphens=False)


def value_text(value: object) -> str:
    """Return a value as TOML writes it."""
    return json.dumps(value, ensure_ascii=False)


def show_settings(rows: Sequence[Json]) -> None:
    """Print settings, section by section: value, then the first sentence of the explanation."""
    width = max(len(row["key"].rpartition(".")[2]) for row in rows)
    sections = itertools.groupby(rows, key=lambda row: row["key"].rpartition(".")[0])
    for number, (section, part) in enumerate(sections):
        if section:
            echo(f"\n[{section}]" if number else f"[{section}]")
        for row in part:
            mark = " " if row["value"] == row["default"] else "*"
            echo(f"{mark} {row['key'].rpartition('.')[2]:<{width}} = {value_text(row['value'])}")
            if row["explanation"]:
                echo(_filled(row["explanation"], "    "))


def show_explanations(settings: Sequence[Json]) -> None:
    """Print everything about settings."""
    for number, setting in enumerate(settings):
        echo(f"\n{setting['key']}" if number else setting["key"])
        if setting["explanation"]:
            echo(_filled(setting["explanation"], "  "))
        if any(setting["values"].values()):
            for value, meaning in setting["values"].items():
                echo(_filled(f"{value}: {meaning}", "  - ", "    "))
        else:
            echo(f"  allowed: {setting['allowed']}")
        echo(f"  default: {value_text(setting['default'])}")
        groups: dict[str, list[str]] = {}
        for name, value in setting["presets"].items():
            groups.setdefault(value_text(value), []).append(name)
        if groups:
            texts = (f"{text} in {', '.join(names)}" for text, names in groups.items())
            echo(_filled(f"presets: {'; '.join(texts)}", "  ", "    "))


def show_differences(names: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]]) -> None:
    """Print the settings that differ, with a column for each configuration."""
    if rows:
        print_table(("setting", *names), [(key, *values) for key, values in rows], left=1 + len(names))
    else:
        echo(f"{' and '.join(names)} have the same settings")
