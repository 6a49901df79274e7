"""Explanations of settings, read from the docstrings of the configuration's fields: the one place that has them."""

import dataclasses
import functools
import re
import textwrap
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from core.docstrings import field_docstrings, one_line
from curriculum.config import Config
from curriculum.keys import choices_of

_SENTENCE_END = re.compile(r"(?<!\beq)\. ")


@dataclass(frozen=True, slots=True)
class Explanation:
    """The meaning of a setting or of a section."""

    text: str
    """In one paragraph; empty where the source code is not at hand."""
    values: Mapping[str, str]
    """The meaning of each name that the setting may have; empty for a setting that is no choice of names."""

    @property
    def first_sentence(self) -> str:
        """The first sentence of the text, without its full stop."""
        return _SENTENCE_END.split(self.text, maxsplit=1)[0].removesuffix(".")


@functools.cache
def explanations() -> Mapping[str, Explanation]:
    """Return the explanation of every setting by its dotted key, and that of every section by its name."""
    return MappingProxyType(dict(_of_fields(Config, "")))


def comment_lines(name: str) -> list[str]:
    """Return the explanation of a setting or of a section in lines of a file."""
    known = explanations()[name]
    text = known.text
    if known.values and not any(known.values.values()):
        text += f" They are {', '.join(known.values)}."
        known = Explanation(text, {})
    lines = textwrap.wrap(text, 100, break_on_hyphens=False)
    for value, meaning in known.values.items():
        lines += textwrap.wrap(
            f"- {value}: {meaning}", 100, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False
        )
    return lines


def _of_fields(kind: type, prefix: str) -> Iterator[tuple[str, Explanation]]:
    texts = field_docstrings(kind)
    for name, hint in typing.get_type_hints(kind).items():
        if dataclasses.is_dataclass(hint):
            section = typing.cast(type, hint)
            yield name, Explanation(one_line(section.__doc__ or "").partition(" Raises ")[0], {})
            yield from _of_fields(section, f"{name}.")
        else:
            yield prefix + name, Explanation(texts.get(name, ""), _meanings(hint))


def _meanings(hint: Any) -> Mapping[str, str]:
    """Return the meaning of each name of an enumeration, or of a tuple of such names."""
    kind = choices_of(hint)
    texts = field_docstrings(kind) if kind else {}
    return {member.value: texts.get(member.name, "") for member in kind or ()}
