"""Bounds of settings: the numbers they admit, their wording, and their place on the fields."""

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

import pytest

from core.setting_bounds import NON_NEGATIVE, POSITIVE, SHARE, Bounds, bounds_of, check_settings, from_json
from tests.support.cases import cases


@pytest.mark.parametrize(
    ("bounds", "inside", "outside", "words"),
    [
        (POSITIVE, (1e-9, 1, 1e300), (0, -1), "above 0"),
        (NON_NEGATIVE, (0, 0.5), (-1e-9,), "0 or more"),
        (SHARE, (0, 0.5, 1), (-0.1, 1.1), "from 0 to 1"),
        (Bounds(0, 1, above=True), (0.1, 1), (0, 1.1), "above 0 and at most 1"),
        (Bounds(0, 10_000), (10_000,), (10_001,), "from 0 to 10,000"),
    ],
)
def test_bounds_admit_and_name_their_numbers(
    bounds: Bounds, inside: tuple[float, ...], outside: tuple[float, ...], words: str
) -> None:
    assert all(number in bounds for number in inside)
    assert not any(number in bounds for number in outside)
    assert math.nan not in bounds
    assert str(bounds) == repr(bounds) == words


@dataclass(frozen=True, slots=True)
class _Settings:
    games: Annotated[int, POSITIVE] = 1
    seconds: Annotated[float | None, POSITIVE] = None
    stones: Annotated[tuple[int, int], NON_NEGATIVE] = (0, 8)
    name: str = "any"

    def __post_init__(self) -> None:
        check_settings(self)


def test_bounds_are_read_from_the_fields() -> None:
    assert _Settings(games=3, seconds=1.5, stones=(2, 2)).seconds == 1.5
    assert bounds_of(_Settings) == {"games": POSITIVE, "seconds": POSITIVE, "stones": NON_NEGATIVE}


class _Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True)
class _Nested:
    colour: _Colour = _Colour.RED
    is_quick: bool = False
    inner: _Settings | None = None

    def __post_init__(self) -> None:
        check_settings(self)


def test_a_text_becomes_the_member_that_it_names() -> None:
    assert _Nested(colour="blue").colour is _Colour.BLUE  # type: ignore[arg-type]
    assert _Nested(inner=_Settings()).inner == _Settings()


@pytest.mark.parametrize(
    ("kind", "settings", "error", "message"),
    [
        (_Settings, {"games": None}, TypeError, "games is None; it must be a number, above 0"),
        (_Settings, {"games": 1.0}, TypeError, "games is 1.0; it must be a whole number, above 0"),
        (_Settings, {"games": True}, TypeError, "games is True; it must be a number, above 0"),
        (_Settings, {"stones": (0, 2.5)}, TypeError, "stones is (0, 2.5); it must be a whole number, 0 or more"),
        (_Settings, {"seconds": "3"}, TypeError, "seconds is '3'; it must be a number, above 0"),
        (_Settings, {"games": 0}, ValueError, "games is 0; it must be above 0"),
        (_Settings, {"seconds": -1.0}, ValueError, "seconds is -1.0; it must be above 0"),
        (_Settings, {"seconds": math.nan}, ValueError, "seconds is nan; it must be above 0"),
        (_Settings, {"stones": (2, -1)}, ValueError, "stones is (2, -1); it must be 0 or more"),
        (_Nested, {"colour": "green"}, ValueError, "colour is 'green'; it must be one of red, blue"),
        (_Nested, {"is_quick": "no"}, TypeError, "is_quick is 'no'; it must be True or False"),
        (_Nested, {"inner": "fast"}, TypeError, "inner is 'fast'; it must be _Settings"),
    ],
)
def test_a_setting_of_another_kind_or_out_of_its_bounds_is_refused_by_name(
    kind: type[Any], settings: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as caught:
        kind(**settings)
    assert str(caught.value) == message


@dataclass(frozen=True)
class _Kept:
    share: Annotated[float, SHARE] = 0.5
    count: int = 1
    colour: _Colour = _Colour.RED
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_settings(self)


def test_settings_are_read_from_json() -> None:
    assert from_json(_Kept, {}) == _Kept()
    values = {"share": 1, "count": 2, "colour": "blue", "names": ["a", "b"]}
    assert from_json(_Kept, values) == _Kept(1, 2, _Colour.BLUE, ("a", "b"))


@pytest.mark.parametrize(("values", "message"), cases("kept_settings_refused"))
def test_settings_that_are_none_are_refused(values: dict[str, object], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        from_json(_Kept, values)
