"""Mutations of good inputs as strategies of hypothesis: bytes, words of a format, and containers with checksums."""

import io
import json
import re
import zipfile
from collections.abc import Sequence

from hypothesis import strategies as st

_VALUE = re.compile(rb"-?\d+(?:\.\d+)?|\"[^\"]{0,40}\"|\b(?:true|false|null)\b|\[[^\[\]]{0,40}\]")
WORDS = (
    *(b"0", b"-1", b"1e999", b"NaN", b"Infinity", b"1.5", b"9" * 19, b"9" * 400, b"9" * 5000, b"-" + b"9" * 25),
    *(b"true", b"null", b'""', b"[]", b"{}", b"[" * 300, b'{"a":' * 300, b"\x00", b"\xff\xfe", b"\x1b[31m", b"\r\n"),
    *(each.encode() for each in ("\u2028", "\u0661", "\U0001f600", "\ufeff", "\u202e", "\x85", "e\u0301" * 20)),
)
"""Words that are hard for many formats."""


@st.composite
def mutated(draw: st.DrawFn, seeds: Sequence[bytes], words: Sequence[str] = (), times: int = 5) -> bytes:
    """Draw a seed with up to `times` mutations."""
    data = draw(st.sampled_from(seeds))
    for _ in range(draw(st.integers(1, times))):
        data = draw(_once(data, seeds, tuple(word.encode() for word in words)))
    return data


@st.composite
def _once(draw: st.DrawFn, data: bytes, seeds: Sequence[bytes], words: Sequence[bytes]) -> bytes:
    at = draw(st.integers(0, len(data)))
    end = min(len(data), at + draw(st.integers(1, 30)))
    word: bytes = draw(st.one_of(*([st.sampled_from(words)] * 2 if words else []), st.sampled_from(WORDS)))
    match draw(st.integers(0, 7)):
        case 0 if at < end:  # a bit
            return data[:at] + bytes((data[at] ^ 1 << draw(st.integers(0, 7)),)) + data[at + 1 :]
        case 1:  # a cut
            return data[:at] + (b"" if draw(st.booleans()) else data[end:])
        case 2:  # a duplication
            return data[:end] + data[at:end] * draw(st.sampled_from((1, 2, 50))) + data[end:]
        case 3:  # a splice
            other = draw(st.sampled_from(seeds))
            return data[:at] + other[draw(st.integers(0, len(other))) :]
        case 4:  # a swap of two parts
            return data[:at] + data[end : end + 10] + data[at:end] + data[end + 10 :]
        case 5:  # a word or a part many times, rarely up to a megabyte
            block = word if draw(st.booleans()) else data[at:end] or b"("
            size = draw(st.sampled_from((*[100, 1000] * 50, 1 << 20)))
            return data[:at] + block * (size // len(block)) + data[at:]
        case 6 if values := list(_VALUE.finditer(data[:20_000])):  # another value
            value = draw(st.sampled_from(values))
            return data[: value.start()] + word + data[value.end() :]
    return data[:at] + word + data[(at if draw(st.booleans()) else end) :]


@st.composite
def mutated_headers(draw: st.DrawFn, seed: bytes) -> bytes:
    """Draw a safetensors file with a mutated header of the right length, metadata in it, or any bytes."""
    kind = draw(st.integers(0, 2))
    if kind == 0:
        return draw(mutated([seed]))
    length = int.from_bytes(seed[:8], "little")
    header, data = seed[8 : 8 + length], seed[8 + length :]
    if kind == 1:  # a value of the metadata, which is JSON inside JSON
        parsed = json.loads(header)
        metadata = parsed["__metadata__"]
        key = draw(st.sampled_from(sorted(metadata)))
        metadata[key] = draw(mutated([metadata[key].encode()], times=3)).decode(errors="replace")
        header = json.dumps(parsed).encode()
    else:
        header = draw(mutated([header], times=1))
    return len(header).to_bytes(8, "little") + header + data


@st.composite
def mutated_zips(draw: st.DrawFn, seed: bytes) -> bytes:
    """Draw a zip file with one member mutated or left out, whose checksum is right, or any bytes."""
    if draw(st.integers(0, 2)) == 0:
        return draw(mutated([seed]))
    written = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(seed)) as old, zipfile.ZipFile(written, "w") as new:
        names = old.namelist()
        changed, left_out = draw(st.sampled_from(names)), draw(st.integers(0, 9)) == 0
        for name in names:
            if name != changed:
                new.writestr(name, old.read(name))
            elif not left_out:
                new.writestr(name, draw(mutated([old.read(name)], times=3)))
    return written.getvalue()
