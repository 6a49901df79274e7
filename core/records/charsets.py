"""Charsets of text files: by their mark, by the name that a file gives, else the likely one."""

import codecs
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from core.input_limits import shortened
from core.records.record import RecordError


@dataclass(frozen=True, slots=True)
class Decoded:
    """The text of a file."""

    text: str
    codec: str
    """Python's name of its charset."""
    remark: str = ""
    """A sentence where the charset is a guess."""


_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_NAMED = re.compile(rb"CA(?<![A-Za-z]CA)\s*+\[\s*+([\w.:-]{1,40}+)\s*+\]")
_CHARSET = re.compile(
    r"utf-(8|16|32)(-[bl]e)?|ascii|iso8859-\d+|cp\d+|koi8-[rut]|mac-\w+|tis-620|kz1048|ptcp154|hp-roman8"
    r"|shift_jis\w*|euc_\w+|iso2022_\w+|gb\w+|big5\w*|hz|johab"
)
"""Charsets among Python's codecs, by their names. Python also has codecs that take very long, and no charsets."""
_PYTHON_NAMES = {
    name: codec
    for codec, names in {
        "cp1252": "ansi",
        "big5": "cnbig5 big5eten xxbig5 macchinesetrad",
        "utf-8": "cp65001 cesu8 unicode11utf8 unicode20utf8",
        "utf-16": "unicode ucs2 iso10646ucs2",
        "gb2312": "euccn gb231280 iso58gb231280 macchinesesimp",
        "euc_jp": "eucpkdfmtjapanese",
        "euc_kr": "isoir149 ksc56011987 ksc56011989 ksc5601 mackorean",
        "iso8859-15": "isolatin9",
        "iso8859-6": "iso88596e iso88596i",
        "iso8859-8": "iso88598e iso88598i visual logical",
        "iso8859-7": "suneugreek",
        "koi8-r": "koi koi8",
        "koi8-u": "koi8ru",
        "mac-roman": "mac macintosh",
        "mac-cyrillic": "macukrainian",
        "mac-latin2": "macce maccentraleurroman",
        "mac-iceland": "macicelandic",
        "shift_jis": "macjapanese",
        "cp437": "pc8codepage437",
        "cp858": "ibm00858",
    }.items()
    for name in names.split()
}
"""Registered names and common ones that Python's codecs lack, in small letters and digits, without `x-` and `cs`."""
_SUPERSETS = {
    "shift_jis": ("cp932",),
    "gb2312": ("gb18030",),
    "gbk": ("gb18030",),
    "euc_kr": ("cp949",),
    "big5": ("cp950", "big5hkscs"),
    "cp950": ("cp950", "big5hkscs"),
    "tis-620": ("cp874",),
    "iso8859-11": ("cp874",),
    "iso8859-1": ("cp1252", "iso8859-1"),
    "iso8859-9": ("cp1254", "iso8859-9"),
}
"""Charsets under whose name files hold characters of these extensions, which are tried in order."""


def decoded(data: bytes, source: str, *, as_sgf: bool = False) -> Decoded:
    """Return the text of a file: by its mark of Unicode, its charset's name (`as_sgf`: the property CA), else a guess.

    Raises `RecordError` for a text that is not in the charset which it names.
    """
    for mark, codec in _MARKS:
        if data.startswith(mark):
            return Decoded(_strictly(data, (codec,), codec.upper(), source)[0], codec)
    if len(data) > 3 and 0 in data[:2] and 0 in data[2:4]:
        codec = "utf-16-be" if data[0] == 0 else "utf-16-le"
        return Decoded(_strictly(data, (codec,), codec.upper(), source)[0], codec)
    names = list(dict.fromkeys(name.decode("ascii") for name in _NAMED.findall(data))) if as_sgf else []
    known = {found: name for name in names if (found := codecs_of(name))}
    if len(known) > 1 and not data.isascii():
        raise RecordError(f"{source}: its games name several charsets, {' and '.join(known.values())}: split the file")
    for candidates, name in known.items():
        return Decoded(*_strictly(data, candidates, name, source))
    try:
        return Decoded(data.decode("utf-8"), "utf-8")
    except UnicodeDecodeError:
        codec, label = likely_charset(data)
    why = f"CA[{shortened(names[0])}] is no charset that is known here" if names else "it names no charset"
    return Decoded(data.decode(codec), codec, f"{source}: {why}; its names and comments are read as {label}")


@cache
def codecs_of(name: str) -> tuple[str, ...]:
    """Return Python's codecs for the name of a charset, the first choice first; none for an unknown one.

    Encodings of two bytes, which no mark and no zero shows, and plain ASCII say nothing: none either.
    """
    key = re.sub(r"[^a-z0-9]", "", name.lower())
    for prefix in ("x", "cs"):
        key = key.removeprefix(prefix) if key not in _PYTHON_NAMES else key
    key = re.sub(r"^(?:windows|win|ms|ibm|dos|codepage|ansi|cp)0*(?=\d{3}|31j)", "cp", key).replace("cp31j", "cp932")
    for known in (_PYTHON_NAMES.get(key, key).replace("cp936", "gbk"), name):
        try:
            found = codecs.lookup(known).name
        except (LookupError, ValueError):
            continue
        ascii_text = "".join(map(chr, range(32, 126)))
        if _CHARSET.fullmatch(found) and found != "ascii" and found[:6] not in ("utf-16", "utf-32"):
            return tuple(
                codec for codec in _SUPERSETS.get(found, (found,)) if ascii_text.encode().decode(codec) == ascii_text
            )
    return ()


def _strictly(data: bytes, candidates: tuple[str, ...], name: str, source: str) -> tuple[str, str]:
    """Return the text and the first codec that reads it. Raises `RecordError`."""
    failed: UnicodeDecodeError | None = None
    for codec in candidates:
        try:
            return data.decode(codec), codec
        except UnicodeDecodeError as error:
            failed = error
    assert failed is not None
    line = data.count(b"\n", 0, failed.start) + 1
    likely = likely_charset(data)[1] if not name.startswith("UTF-16") else ""
    hint = f"; it may be {likely}" if likely and likely != name else ""
    raise RecordError(f"{source}, line {line}: this is no text in {shortened(name)}{hint}") from failed


_LIKELY = {
    "utf-8": "UTF-8",
    "cp932": "Shift_JIS",
    "gb18030": "GB18030",
    "cp949": "EUC-KR",
    "cp950": "Big5",
    "euc_jp": "EUC-JP",
    "cp1252": "Windows-1252",
    "cp1251": "Windows-1251",
    "koi8-r": "KOI8-R",
    "iso8859-1": "ISO-8859-1",
}
"""Charsets that are tried where none is named. The first wins where two are as likely."""
_TRIED_BYTES = 1 << 14
_NEXT_PROPERTY = re.compile(r"\s*(?:[A-Z]{1,2}\s*\[|[;)])")
"""Text behind a value: a character that ends in the byte of `]` before it has swallowed the end of the value."""
_COMMON_LEADS = {"cp932": (0x88, 0x97), "gb18030": (0xB0, 0xD7), "cp950": (0xA4, 0xC6), "euc_jp": (0xB0, 0xCF)}
"""First bytes of the common characters, which these charsets hold in a block of their own."""
_FREQUENT = {
    "cp932": "黒白勝負番手五目棋田中山本村川木小林佐藤井上原野高島松",
    "euc_jp": "黒白勝負番手五目棋田中山本村川木小林佐藤井上原野高島松",
    "gb18030": "黑白方胜负和棋五子王李张刘陈杨赵黄周吴徐孙马朱胡林小大明文华建国云",
    "cp950": "黑白方勝負和棋五子王李張劉陳楊趙黃周吳徐孫馬朱胡林小大明文華建國雲",
    "cp949": "흑백승패무선수오목김이박최정강조윤장임한서신권황안송전홍고문양손배허영수희철민지현준성길동",
}
"""Characters of names of players, and the words of a game."""


def likely_charset(data: bytes) -> tuple[str, str]:
    """Return the likely codec of a text that is no ASCII, and the name of its charset.

    A name of a player is often all there is, too little for a detector of languages: the bytes are read in each
    charset, and the one that shows the most common characters wins.
    """
    best, most = "iso8859-1", -1e9
    for codec in _LIKELY:
        try:
            data.decode(codec)
            text = data[:_TRIED_BYTES].decode(codec, errors="replace")
        except UnicodeDecodeError:
            continue
        weigh = _weigh_letters if codec in ("cp1251", "koi8-r", "cp1252", "iso8859-1") else _weigh_characters
        weight = 1e9 if codec == "utf-8" else sum(weigh(text, codec))
        if weight > most:
            best, most = codec, weight
    return best, _LIKELY[best]


def _weigh_characters(text: str, codec: str) -> Iterator[float]:
    """Yield a weight for each character of a text in a charset of East Asia, 2 for a common one of two bytes."""
    is_japanese, frequent = codec in ("cp932", "euc_jp"), _FREQUENT.get(codec, "")
    for place, (character, after) in enumerate(pairwise(text + " ")):
        code = ord(character)
        if code < 0x80:
            continue
        if character in frequent:
            yield 1.5
        if "a" <= after <= "z" and code >= 0x3400:
            yield -1.5  # two letters of a European name, the first with an accent
        if 0x3041 <= code <= 0x30FF:
            yield 2.0 if is_japanese else 0.3
        elif 0xFF61 <= code <= 0xFF9F or character == "\ufffd" or 0xE000 <= code <= 0xF8FF or code < 0xA0:
            yield -2.0
        elif 0xAC00 <= code <= 0xD7A3:
            yield 1.7 if min(character.encode(codec)) >= 0xA1 else 0.2
        elif 0x4E00 <= code <= 0x9FFF:
            lead, trail = character.encode(codec)[:2]
            if trail == ord("]") and _NEXT_PROPERTY.match(text, place + 1):
                yield -4.0
            low, high = _COMMON_LEADS.get(codec, (256, 256))
            is_common = low <= lead <= high and (codec != "gb18030" or trail >= 0xA1)
            yield (1.6 if is_japanese else 1.8) if is_common else 0.2
        else:
            yield 0.5 if 0x3000 <= code <= 0x303F or 0xFF01 <= code <= 0xFF5E else -0.5


def _weigh_letters(text: str, codec: str) -> Iterator[float]:
    """Yield a weight for each character of a text in a charset of one byte, some 1 for a letter where it fits."""
    is_latin = codec in ("cp1252", "iso8859-1")
    for before, character in pairwise(" " + text):
        code = ord(character)
        if code < 0x80:
            continue
        if not character.isalpha():
            yield -1.0
        elif is_latin:
            # A word of such a language has few letters with accents, and not one beside the other.
            yield 1.6 if before.isascii() else -0.5
        elif before.isalpha() and before.islower() and character.isupper():
            yield -1.0
        else:
            yield 0.95 if not before.isascii() else 0.5 if not before.isalpha() else -0.5


def byte_offsets(data: bytes, codec: str) -> Callable[[int], int]:
    """Return a function that turns offsets in the text, each above the one before, into offsets in its bytes."""
    decoder = codecs.getincrementaldecoder(codec)()
    seen = done = 0

    def offset_of(characters: int) -> int:
        nonlocal seen, done
        while seen < characters:
            seen += len(decoder.decode(data[done : done + 1]))
            done += 1
        return done

    return offset_of
