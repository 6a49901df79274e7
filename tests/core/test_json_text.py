"""JSON within the limits of the project."""

import json

import pytest

from core.json_text import parse_json
from core.limits import MAX_INTEGER, MAX_JSON_DEPTH


@pytest.mark.parametrize("value", [None, True, -MAX_INTEGER, 0.5, "text", [1, [2]], {"a": {"b": [1.5, "NaN"]}}])
def test_a_value_is_read(value: object) -> None:
    assert parse_json(json.dumps(value)) == value
    assert parse_json(json.dumps(value).encode()) == value


def test_the_depth_is_limited() -> None:
    assert parse_json("[" * MAX_JSON_DEPTH + "]" * MAX_JSON_DEPTH)
    for depth in (MAX_JSON_DEPTH + 1, 1_000_000):
        with pytest.raises(ValueError, match=f"nested more than {MAX_JSON_DEPTH} levels"):
            parse_json("[" * depth + "]" * depth)


@pytest.mark.parametrize("text", [str(MAX_INTEGER + 1), "-" + "9" * 5000, '{"a": [1' + "0" * 400 + "]}"])
def test_large_numbers_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=f"a number above the limit of {MAX_INTEGER:,}"):
        parse_json(text)


@pytest.mark.parametrize("text", ["NaN", "[1, -Infinity]", "1e999"])
def test_numbers_that_are_not_finite_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not finite"):
        parse_json(text)


@pytest.mark.parametrize("text", ["", "{", b"\xff\xfe\xff", b"{\xe9}"])
def test_other_text_is_refused(text: str | bytes) -> None:
    with pytest.raises(ValueError):  # the messages are those of `json`
        parse_json(text)
