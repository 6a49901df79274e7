"""Analyses written into the text of an SGF file: insertions, which leave every other byte as it was.

An analysis has a private property (`core.records.sgf.ANALYSIS`). The value and the comment for people stand beside it
where the node has none of its own; those of an earlier analysis are replaced.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.records.charsets import Decoded, byte_offsets
from core.records.record import Annotation, Annotations, RecordError
from core.records.sgf import main_line
from core.records.sgf_nodes import Node, Property, escaped, nodes
from core.records.tree import ANALYSIS, value_text


def _values(annotation: Annotation) -> dict[str, str]:
    """Return the value of each property, in ASCII, which every charset holds."""
    texts = {"C": annotation.comment, "V": value_text(annotation.value), ANALYSIS: annotation.analysis}
    return {name: escaped(text.encode("ascii", "replace").decode()) for name, text in texts.items() if text}


@dataclass(frozen=True, slots=True)
class _Edit:
    start: int
    end: int
    """The replaced part of the text; empty for an insertion."""
    text: str


def annotated(
    data: bytes, file: Decoded, source: str, before: Mapping[int, Annotations], after: Mapping[int, Annotations]
) -> bytes:
    """Return the bytes of a file with other annotations of some games, by their numbers from 0.

    `before`: those that the private properties of these games hold; None also for one that is not ours. A position
    between two moves of one node has no place: its annotation is left out. Raises `RecordError` for a foreign value in
    the private property, and if reading the result does not give every foreign value back.
    """
    edits = list(_edits(file.text, source, before, after))
    offset_of = byte_offsets(data, file.codec)
    codec = _codec_inside(data, file.codec)
    parts, done = [], 0
    for edit in edits:
        start, end = offset_of(edit.start), offset_of(edit.end)
        parts += [data[done:start], edit.text.encode(codec)]
        done = end
    result = b"".join([*parts, data[done:]])
    _check(file.text, result.decode(file.codec), edits, source)
    return result


def _codec_inside(data: bytes, codec: str) -> str:
    """Return the codec of a part of the text, without the mark of its beginning."""
    if codec in ("utf-16", "utf-32"):
        return f"{codec}-{'le' if data[0] == 0xFF else 'be'}"
    return "utf-8" if codec == "utf-8-sig" else codec


def _edits(
    text: str, source: str, before: Mapping[int, Annotations], after: Mapping[int, Annotations]
) -> Iterator[_Edit]:
    game = -1
    for node, moves, ply in main_line(text):
        is_root, game = node.game != game, node.game
        if game not in after:
            continue
        old, new = before[game][ply], after[game][ply]
        if new is None or new == old or not (moves or is_root):
            continue
        yield from _edits_of(node, text, source, _values(old) if old else {}, _values(new), old)


def _edits_of(
    node: Node, text: str, source: str, old: dict[str, str], new: dict[str, str], known: Annotation | None
) -> Iterator[_Edit]:
    """Yield the edits of a node in the order of its text."""
    own: dict[str, Property] = {}
    for each in node.named(*{**old, **new, ANALYSIS: ""}):
        if each.name not in own and _is_own(each, text, old, known):
            own[each.name] = each
        elif each.name == ANALYSIS:
            place = f"{source}, line {text.count(chr(10), 0, each.start) + 1}"
            raise RecordError(
                f"{place}: the property {ANALYSIS} holds no analysis of this program, and is kept as it is"
            )
        else:
            new.pop(each.name, None)  # the node's own value or comment stays
    for each in sorted(own.values(), key=lambda found: found.start):
        value = new.pop(each.name, None)
        yield _Edit(each.start, each.end, "" if value is None else f"{each.name}[{value}]")
    if new:
        yield _Edit(node.end, node.end, "".join(f"{name}[{value}]" for name, value in new.items()))


def _is_own(each: Property, text: str, old: dict[str, str], known: Annotation | None) -> bool:
    """Return True for a property that an earlier annotation wrote."""
    if known is None or not each.has_one_value:
        return False
    value = text[each.value_start : each.value_end]
    return each.name == ANALYSIS or value in (old.get(each.name), escaped(known.comment) if each.name == "C" else None)


def _check(before: str, after: str, edits: Sequence[_Edit], source: str) -> None:
    """Raise `RecordError` if a foreign value of the text is not in the new one."""
    shift, inserted = 0, []
    for edit in edits:
        inserted.append((edit.start + shift, edit.start + shift + len(edit.text)))
        shift += len(edit.text) - (edit.end - edit.start)
    kept = _properties(before, [(edit.start, edit.end) for edit in edits])
    found = _properties(after, inserted)
    for one in kept:
        if one != next(found, None):
            raise RecordError(
                f"{source}: the property {one[1].partition('[')[0]} would not be kept, so nothing is saved"
            )
    if next(found, None) is not None:
        raise RecordError(f"{source}: the analyses would not be read back, so nothing is saved")


def _properties(text: str, left_out: Sequence[tuple[int, int]]) -> Iterator[tuple[tuple[int, bool], str]]:
    """Yield the place of each property and its text as it is written, except those in `left_out`, which is sorted."""
    spans = iter([*left_out, (len(text) + 1, len(text) + 1)])
    start, end = next(spans)
    for node in nodes(text):
        for each in node.properties:
            while each.start >= end:
                start, end = next(spans)
            if not start <= each.start < end:
                yield (node.game, node.is_main), text[each.start : each.end]
