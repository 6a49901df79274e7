"""Files of games by a grammar.

Each file is made of everything that SGF and .psq may hold: properties of other programs with any number of values,
escapes, variations, encodings, words for results, rules, text around the games. It is loaded, saved with analyses,
loaded again and converted. Every foreign byte must be there afterwards, or the file refused and left alone.
"""

import re
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from hypothesis import strategies as st

from core.records.formats import open_games, read_games, write_games
from core.records.losses import converted
from core.records.record import GameRecord, RecordError
from gomoku_cli.study.game import KeptAnalysis, StudiedGame
from gomoku_cli.study.saved import annotate
from search.analysis import Analysis, MoveAnalysis
from search.limit import Limit


class ForeignFile(NamedTuple):
    """A file of another program."""

    suffix: str
    data: bytes
    names: frozenset[str] = frozenset()
    """The names of the properties of the main line with a value."""


_CHARSETS = (
    *(("UTF-8", "utf-8", "é碁Ł黑"), ("utf8", "utf-8-sig", "é碁Ł黑"), ("GBK", "gb18030", "黑白方张云胜")),
    *(("GB2312", "gb18030", "黑白方张云"), ("Windows-31J", "cp932", "表ソ能高橋①黒"), ("x-sjis", "cp932", "表ソ能予")),
    *(("EUC-JP", "euc_jp", "田中黒ひ"), ("ISO-2022-JP", "iso2022_jp", "田中黒ひ")),
    *(("KS_C_5601-1987", "cp949", "김철수흑"), ("klingon", "utf-8", "é碁")),
    *(("Big5", "cp950", "許功蓋黑勝"), ("Big5-HKSCS", "big5hkscs", "許功蓋"), ("windows-1251", "cp1251", "ИванЧ")),
    *(("koi8-r", "koi8-r", "ИванЧ"), ("ISO-8859-1", "cp1252", "éÖß"), ("macintosh", "mac-roman", "éÖ")),
    *(("TIS-620", "cp874", "กขค"), ("", "utf-16", "é碁Ł"), ("", "utf-16-le", "é碁Ł")),
    *(("", "utf-8", "é碁Ł黑"), ("", "cp1252", "éö"), ("", "cp932", "表ソ能")),
)
_RESULTS = (
    *("B+", "W+", "B+ ", "B+R", "W+Resign", "Black+T", "W+Time", "B+1", "W+3.5", "White+Forfeit", "Black wins"),
    *("black", "White won by resignation", "0", "Draw", "Jigo", "½", "1/2-1/2", "1-0", "0-1", "?", "Void"),
    *("Unfinished", "", "黑胜", "白勝", "黒中押し勝ち", "和棋", "흑승", "B|W", "nonsense"),
)
_RULES = ("", "0", "1", "4", "Renju", "Standard", "Freestyle", "5 in a row on 15x15", "Swap2", "caro")
_NAMES = "AP AN BL BM BR C CP DM DT ET EV FG GA GB GC GN GW HA HO KM KO LB LN MA MN ON OT PC PL RO SL SO SQ ST TE TM TR"
_OWN = re.compile(
    r"(?:C\[Analysis: (?:[^\]\\]|\\.)*\])?(?:V\[-?[01]\.[0-9]{4}\])?GOMOKU\[\{\"player(?:[^\]\\]|\\.)*\]", re.DOTALL
)
"""Addition of a save to a node."""
_GAPS = st.sampled_from(("", "", "", "\n", "\r\n", " ", "\r", "\n\n\t"))


@st.composite
def _values(draw: st.DrawFn, letters: str) -> str:
    """Return the values of a property as they are written."""
    pieces = st.sampled_from(
        [*letters, "a", "Z", " ", "\\]", "\\\\", "\\:", "\\\n", "\\\r\n", ":", ";", "(", ")", "[", "\n", "0"]
    )
    value = st.lists(pieces, max_size=8).map("".join)
    several = draw(st.integers(0, 9)) == 0
    values = draw(st.lists(value, min_size=1, max_size=4 if several else 1))
    return draw(_GAPS).join(f"[{each}]" for each in values)


@st.composite
def _properties(draw: st.DrawFn, letters: str, most: int) -> list[tuple[str, str]]:
    """Return other programs' properties with names that occur once."""
    names = st.one_of(
        st.sampled_from([*_NAMES.split(), "V", "C", "C", "C"]),
        st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ", min_size=3, max_size=6),
        st.just("GOMOKU") if draw(st.integers(0, 30)) == 0 else st.just("GA"),
    )
    return [(name, draw(_values(letters))) for name in draw(st.lists(names, max_size=most, unique=True))]


@st.composite
def sgf_files(draw: st.DrawFn) -> ForeignFile:
    """SGF files of one or two games."""
    charset, codec, letters = draw(st.sampled_from(_CHARSETS))
    names: set[str] = set()
    head = draw(st.sampled_from(("", "", "saved by hand\r\n", "a (short) note: \n")))
    games = range(draw(st.sampled_from((1, 1, 1, 2))))
    text = head + draw(_GAPS).join(draw(_game(charset, letters, codec, names)) for _ in games)
    text += draw(st.sampled_from(("", "\n", "\r\n\x1a", "\nBye\n", " \n\n")))
    return ForeignFile(".sgf", text.encode(codec, "ignore"), frozenset(names))


@st.composite
def _game(draw: st.DrawFn, charset: str, letters: str, codec: str, names: set[str]) -> str:
    size = draw(st.sampled_from((15, 15, 15, 19, 20, 9)))
    long_names = draw(st.integers(0, 9)) == 0
    root = [("GM", "[4]"), ("FF", draw(st.sampled_from(("[4]", "[3]", "[1]")))), ("SZ", f"[{size}]")]
    root += [("CA", f"[{charset}]")] if charset else []
    if draw(st.booleans()):
        result = draw(st.sampled_from(_RESULTS)).encode(codec, "ignore").decode(codec)
        root += [("RE", f"[{result}]"), ("RU", f"[{draw(st.sampled_from(_RULES))}]")]
    root += [(name, draw(_values(letters))) for name in draw(st.sampled_from(((), ("PB", "PW"), ("PB",))))]
    root += [(name, "[]") for name in draw(st.sampled_from(((), (), ("AB",), ("AW", "AE"))))]
    root += draw(_properties(letters, 5))
    nodes = [draw(st.permutations(root))]
    moves = draw(st.lists(st.integers(0, size * size - 1), max_size=9, unique=True))
    if draw(st.integers(0, 4)) == 0:  # a won game
        moves = [each for pair in zip(range(5), range(size, size + 5), strict=True) for each in pair][:9]
    strange = draw(st.integers(0, 40))
    for ply, cell in enumerate(moves):
        point = chr(97 + cell % size) + chr(97 + cell // size)
        move = ("B" if ply % 2 == 0 else "W", f"[{'' if strange == 1 and ply == 3 else point}]")
        others = draw(_properties(letters, 2))
        if strange == 2 and ply == 2 and len(nodes) > 1:
            nodes[-1] = [*nodes[-1], move]
        elif draw(st.integers(0, 5)) == 0 and ply < len(moves) - 1:
            nodes += [[move, *others], [("C", draw(_values(letters)))]]
        else:
            nodes.append(draw(st.permutations([move, *others])))
    for node in nodes:
        names |= {name for name, values in node if re.sub(r"\\\r?\n|[\[\]\s]", "", values)}
    written = [draw(_node(node, long_names)) for node in nodes]
    if len(written) > 3 and draw(st.integers(0, 3)) == 0:
        at = draw(st.integers(1, len(written) - 1))
        side = draw(_node(draw(_properties(letters, 2)), False))
        gap = draw(_GAPS)
        return f"({gap.join(written[:at])}{gap}({''.join(written[at:])}){gap}({side}{gap};W[aa]({side})({side})))"
    return f"({draw(_GAPS)}{draw(_GAPS).join(written)})"


@st.composite
def _node(draw: st.DrawFn, properties: list[tuple[str, str]], long_names: bool) -> str:
    gap = draw(_GAPS)
    names = {"PB": "PlayerBlack", "GM": "GaMe", "SZ": "SiZe", "B": "Black", "W": "White"} if long_names else {}
    return ";" + gap.join(f"{names.get(name, name)}{values}" for name, values in properties)


@st.composite
def psq_files(draw: st.DrawFn) -> ForeignFile:
    """Files of Piskvork and Gomocup."""
    codec, letters = draw(
        st.sampled_from((("utf-8", "aé碁"), ("cp1252", "aéö"), ("gb18030", "黑白方张"), ("ascii", "ab.")))
    )
    size = draw(st.sampled_from((15, 20, 9)))
    end = draw(st.sampled_from(("\n", "\r\n", "\r")))
    cells = draw(st.lists(st.integers(0, size * size - 1), max_size=12, unique=True))
    time = st.integers(-1, 10**6)
    opening = st.integers(0, 11)
    lines = [f"Piskvorky {size}x{size}, {draw(opening)}:{draw(opening)}, {draw(st.integers(0, 1))}"]
    lines += [f"{cell % size + 1},{cell // size + 1},{draw(time)}" for cell in cells]
    if draw(st.booleans()):
        name = st.text(letters, min_size=1, max_size=8).map(lambda text: f"pbrain-{text}.exe")
        lines += [draw(st.one_of(name, st.just("homo-1"))), draw(name)]
    lines.append(draw(st.sampled_from(("0", "15", "-1", "-2"))))
    if draw(st.booleans()):
        lines.append(draw(st.sampled_from(("1,Freestyle15_1", "2,Standard", "0,Renju_1", "3,5 in a row on 15x15"))))
    text = end.join(lines) + draw(st.sampled_from(("", end, f"{end}\x1a")))
    return ForeignFile(".psq", text.encode(codec, "ignore"))


foreign_files = st.one_of(sgf_files(), sgf_files(), sgf_files(), psq_files())


def _studied(record: GameRecord, value: float) -> StudiedGame:
    """Return the game with an analysis of every position that is not over."""
    game = StudiedGame.from_record(record)
    for ply in range(len(record.moves) + 1):
        position = game.position(ply)
        if not position.is_game_over():
            cell = next(iter(position.legal_moves()))
            move = MoveAnalysis(cell, value=value, prior=0.5, visits=7)
            analysis = Analysis(moves=(move,), value=value, variation=(cell,), nodes=8, seconds=0.5)
            kept = KeptAnalysis(analysis=analysis, player="runs/黑 [a]\\", limit=Limit(nodes=8))
            game = game.with_analysis(ply, kept)
    return game


def _bare(record: GameRecord) -> GameRecord:
    return replace(record, comments=(), values=(), analyses=())


def check(file: ForeignFile, folder: Path) -> str:
    """Return the fate of a file: `saved`, `not read` or `not saved`. Raises `AssertionError` for a loss."""
    path = folder / f"game{file.suffix}"
    path.write_bytes(file.data)
    try:
        opened = open_games(path)
    except RecordError as error:
        assert str(error).isprintable() and str(path) in str(error)
        assert path.read_bytes() == file.data
        return "not read"
    games, fate = opened.games, "converted"
    if file.suffix == ".sgf":
        original = file.data.decode(opened.content.codec)
        for value in (0.25, -0.5, -0.5):
            before = path.read_bytes()
            try:
                opened = annotate(opened, {number: _studied(game, value) for number, game in enumerate(opened.games)})
            except RecordError as error:
                assert "GOMOKU" in str(error), error
                assert path.read_bytes() == before == file.data
                return "not saved"
            after = path.read_bytes()
            text = after.decode(opened.content.codec)
            assert _OWN.sub("", text) == original, after
            rest = iter(after)
            assert all(byte in rest for byte in file.data), "each byte, in its order"
            again = open_games(path)
            assert list(map(_bare, again.games)) == list(map(_bare, games))
            assert again.content.codec == opened.content.codec
            found = [text for game in again.games for text in game.analyses]
            assert sum(each.startswith('{"player') for each in found) == len(_OWN.findall(text))
            assert before != after or value == -0.5
        path.write_bytes(file.data)
        opened, fate = open_games(path), "saved"
    for suffix in (".sgf", ".psq"):
        target = folder / f"copy{suffix}"
        kept, lost = converted(opened, target)
        write_games(target, kept)
        for copy, game in zip(read_games(target), games, strict=True):
            assert (copy.rules, tuple(copy.moves)) == (game.rules, tuple(game.moves))
            assert copy.winner == game.winner or "winner" in lost
        if suffix == ".sgf":
            written = target.read_text(encoding="utf-8")
            for name in file.names.difference(lost, ("FF", "GM", "CA", "SZ", "B", "W")):
                assert f"{name}[" in written, name
    return fate
