"""Tables of cases in `tests/data`: a row is a line of JSON, the values of one case."""

import json
from typing import Any

from tests.support.project import ROOT


def cases(name: str) -> list[Any]:
    """Return the rows of a table, for `pytest.mark.parametrize`."""
    text = (ROOT / "tests" / "data" / f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.split("\n") if line]
