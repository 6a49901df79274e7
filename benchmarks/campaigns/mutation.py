"""Mutations of good inputs, for `fuzz_readers`: bytes, words of a format, and containers with checksums."""

import io
import json
import random
import re
import zipfile
from collections.abc import Sequence

_MAX_BLOCK = 1 << 20
_LARGE_SHARE = 0.0005
"""Share of the inputs with a block that is repeated up to a size of `_MAX_BLOCK`."""
_RAW_SHARE = 0.3
"""Share of the inputs with a container whose raw bytes are mutated, checksums and all."""
_VALUE = re.compile(rb"-?\d+(?:\.\d+)?|\"[^\"]{0,40}\"|\b(?:true|false|null)\b|\[[^\[\]]{0,40}\]")
WORDS = (
    *(b"0", b"-1", b"1e999", b"NaN", b"Infinity", b"1.5", b"9" * 19, b"9" * 400, b"9" * 5000, b"-" + b"9" * 25),
    *(
        b"true",
        b"null",
        b'""',
        b"[]",
        b"{}",
        b"[" * 300,
        b'{"a":' * 300,
        b"\x00",
        b"\xff\xfe",
        b"\x1b[31m",
        b"\r",
        b"\n",
    ),
    *("\u2028", "\u0661", "\U0001f600", "\ufeff", "\u202e", "\x85", "e\u0301" * 20),
)
"""Words that are hard for many formats."""


class Mutator:
    """Mutates inputs of one format; all draws come from the given generator."""

    def __init__(self, seeds: Sequence[bytes], words: Sequence[bytes | str] = ()) -> None:
        self._seeds = seeds
        self._words = [word.encode() if isinstance(word, str) else word for word in (*words, *words, *WORDS)]

    def draw(self, chance: random.Random) -> bytes:
        """Return a mutated seed."""
        data = chance.choice(self._seeds)
        for _ in range(1 + min(int(chance.expovariate(0.7)), 8)):
            data = self._once(data, chance)
        if chance.random() < _LARGE_SHARE:
            data = self._repeated(data, chance, _MAX_BLOCK)
        return data

    def _once(self, data: bytes, chance: random.Random) -> bytes:
        kind = chance.randrange(9)
        at = chance.randrange(len(data) + 1)
        end = min(len(data), at + 1 + int(chance.expovariate(0.1)))
        if kind == 0 and data:  # a bit
            at = min(at, len(data) - 1)
            return data[:at] + bytes((data[at] ^ 1 << chance.randrange(8),)) + data[at + 1 :]
        if kind == 1:  # a cut
            return data[:at] if chance.random() < 0.3 else data[:at] + data[end:]
        if kind == 2:  # a duplication
            return data[:end] + data[at:end] * chance.choice((1, 1, 2, 50)) + data[end:]
        if kind == 3:  # a splice
            other = chance.choice(self._seeds)
            return data[:at] + other[chance.randrange(len(other) + 1) :]
        if kind == 4:  # a swap of two parts
            return data[:at] + data[end : end + 10] + data[at:end] + data[end + 10 :]
        if kind == 5:
            return self._repeated(data, chance, chance.choice((100, 1000)))
        if kind == 6:  # another value
            values = list(_VALUE.finditer(data[:20_000]))
            if values:
                value = chance.choice(values)
                return data[: value.start()] + chance.choice(self._words) + data[value.end() :]
        return data[:at] + chance.choice(self._words) + data[(at if chance.random() < 0.6 else end) :]

    def _repeated(self, data: bytes, chance: random.Random, size: int) -> bytes:
        at = chance.randrange(len(data) + 1)
        block = data[at : at + chance.choice((1, 2, 5, 20))] or b"("
        if chance.random() < 0.4:
            block = chance.choice(self._words)
        return data[:at] + block * (chance.randrange(size) // len(block)) + data[at:]


class HeaderMutator(Mutator):
    """Mutates safetensors files: the JSON of the header, whose length is then right, or any bytes."""

    def draw(self, chance: random.Random) -> bytes:
        """Return a mutated seed."""
        if chance.random() < _RAW_SHARE:
            return super().draw(chance)
        whole = chance.choice(self._seeds)
        length = int.from_bytes(whole[:8], "little")
        header, data = whole[8 : 8 + length], whole[8 + length :]
        if chance.random() < 0.7:
            header = self._in_metadata(header, chance)
        else:
            header = self._once(header, chance)
        return len(header).to_bytes(8, "little") + header + data

    def _in_metadata(self, header: bytes, chance: random.Random) -> bytes:
        """Mutate a value of the metadata, which is JSON inside JSON."""
        parsed = json.loads(header)
        metadata = parsed.get("__metadata__") or {"": ""}
        key = chance.choice(sorted(metadata))
        value = metadata[key].encode()
        for _ in range(chance.randint(1, 3)):
            value = self._once(value, chance)
        metadata[key] = value.decode(errors="replace")
        return json.dumps(parsed).encode()


class ZipMutator(Mutator):
    """Mutates zip files: one member, whose checksum is then right, or any bytes."""

    def draw(self, chance: random.Random) -> bytes:
        """Return a mutated seed."""
        if chance.random() < _RAW_SHARE:
            return super().draw(chance)
        written = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(chance.choice(self._seeds))) as old, zipfile.ZipFile(written, "w") as new:
            names = old.namelist()
            changed = chance.choice(names)
            for name in names:
                data = old.read(name)
                if name == changed:
                    if chance.random() < 0.1:
                        continue
                    for _ in range(chance.randint(1, 3)):
                        data = self._once(data, chance)
                new.writestr(name, data)
        return written.getvalue()
