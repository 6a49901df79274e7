"""JSON within the limits of the project."""

import json

import pytest

from core.files.json_text import parse_json, value_at, values_at
from core.input_limits import MAX_INTEGER, MAX_JSON_DEPTH


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


@pytest.mark.parametrize(
    "text", ['{"a": 1, "a": 1}', '[{"b": {"a": 1, "c": 2, "a": 3}}]', '{"": 1, "\\u0061": 2, "a": 3}']
)
def test_a_key_that_stands_twice_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="the key 'a' stands twice in an object"):
        parse_json(text)


@pytest.mark.parametrize("text", ["", "{", b"\xff\xfe\xff", b"{\xe9}"])
def test_other_text_is_refused(text: str | bytes) -> None:
    with pytest.raises(ValueError):  # the messages are those of `json`
        parse_json(text)


def test_values_of_the_right_type_are_returned() -> None:
    record = {"whole": 3, "number": 2, "flag": True, "list": [1, 2], "text": "a"}
    assert value_at(record, "whole", int, low=0) == 3
    assert value_at(record, "number", float) == 2.0
    assert value_at(record, "flag", bool)
    assert value_at(record, "text", str) == "a"
    assert values_at(record, "list", int, high=2) == [1, 2]


@pytest.mark.parametrize(
    ("key", "kind", "why"),
    [
        ("missing", int, "missing is missing"),
        ("flag", int, "flag should be a whole number"),
        ("flag", float, "flag should be a number"),
        ("half", int, "half should be a whole number"),
        ("half", str, "half should be a text"),
        ("negative", int, "negative should be 0 or more"),
    ],
)
def test_another_value_is_named_with_the_right_form(key: str, kind: type[int], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        value_at({"flag": True, "half": 0.5, "negative": -1}, key, kind, low=0)
    with pytest.raises(ValueError, match="an item of list should be a text"):
        values_at({"list": ["a", 1]}, "list", str)
