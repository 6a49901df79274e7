"""Readers of everything from outside, each with mutations of good inputs, for `benchmarks.campaigns.fuzz readers`.

A reader gets the bytes of an input, through the functions that the commands call. It returns if they are good, and
raises a `UserError` (or an `OSError`) if not; a good input is also written and read back where the format is written.

An input must be read, or refused with an error of one printable line, within 2 s of processor time and within 10 times
its size plus 100 MB of memory.
"""

import faulthandler
import math
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import gettempdir
from typing import Any, NamedTuple
from unittest.mock import Mock

import numpy as np
from hypothesis import strategies as st
from safetensors.numpy import save

from benchmarks.campaigns import fuzz_engine
from benchmarks.campaigns.mutation import mutated, mutated_headers, mutated_zips
from core.book import Book
from core.errors import UserError
from core.evaluation import PositionBatch
from core.files.cache_folder import CacheFolder
from core.files.json_text import value_at
from core.notation import NotationError, cell_name, parse_cell, parse_point, point_name
from core.position import Position
from core.records.formats import read_games, read_trees
from core.records.openings import format_offsets, format_opening, parse_openings, read_openings
from core.records.psq import parse_psq, to_psq
from core.records.record import Ending, GameRecord
from core.records.sgf import parse_sgf, parse_trees, to_sgf
from core.rules import BLACK, Rules
from curriculum.arena.fixtures import fixtures
from curriculum.arena.folder import MatchFolder
from curriculum.arena.players import PlayerSettings, model_path, parse_player
from curriculum.arena.results import PlayedGame
from curriculum.arena.suite import parse_suite, puzzle_line
from curriculum.config import Config
from curriculum.presets import preset_names, read_config, resolve, to_toml
from curriculum.run.folder import RunFolder, read_metrics
from curriculum.training.files import read_samples, write_samples
from curriculum.training.samples import Samples
from gomoku_cli.gomocup.lines import LineCutter
from gomoku_cli.study.rating import Rating
from nets.checkpoint import load_model, read_info, save_model
from nets.runtimes.openvino import OpenVino
from nets.runtimes.saved_graphs import read_graphs

_RULES = Rules(9)
_MAX_CPU_S = 2.0
_CPU_S_PER_BYTE = 1e-5
"""A hundred thousand commands of the protocol in one input take some seconds."""
_HANG_S, _HANG_S_PER_BYTE = 120.0, 1e-3
"""On a busy machine an answer of the engine's thread may take milliseconds."""
_MAX_MEMORY, _MEMORY_FACTOR = 100 << 20, 10
_MAX_MESSAGE = 1000
_ARGUMENTS = ("assignments", "players")
"""Readers of what the user has typed; their messages repeat it."""
_SHORT = ((40, 41, 31), (40,), (), (40, 0, 41, 1, 42, 2, 43, 3, 44))


class Reader(NamedTuple):
    """A reader and its inputs."""

    name: str
    inputs: st.SearchStrategy[bytes]
    read: Callable[[bytes], object]


def _agree(one: object, other: object) -> None:
    assert one == other, f"read back as another value: {str(one)[:200]} and {str(other)[:200]}"


def _games() -> list[GameRecord]:
    winners, endings = (None, BLACK, None, BLACK), (Ending.UNKNOWN, Ending.TIME, Ending.BOARD, Ending.BOARD)
    return [
        GameRecord(
            _RULES,
            moves,
            winner,
            black="Łukasz \\ [a]",
            white="pbrain-x",
            comments=tuple(f"value +0.1, visits {ply}" for ply in range(len(moves))),
            note="game 1",
            date="2026-11-20",
            times_ms=tuple(range(1, len(moves) + 1)),
            ending=ending,
        )
        for moves, winner, ending in zip(_SHORT, winners, endings, strict=True)
    ]


def _is_short(path: Path) -> bool:
    return path.stat().st_size < 10_000


def _sgf(path: Path) -> None:
    games = read_games(path)
    if _is_short(path):
        _agree(parse_sgf("".join(map(to_sgf, games))), games)


def _psq(path: Path) -> None:
    games = read_games(path)
    if _is_short(path):
        # A name that looks like a move is written with a prefix.
        plain = [replace(game, black="", white="") for game in games]
        again = parse_psq("".join(map(to_psq, games)))
        _agree([replace(game, black="", white="") for game in again], plain)


def _renlib(path: Path) -> None:
    trees = read_trees(path)
    if _is_short(path):
        _agree([to_sgf(tree) for tree in parse_trees("".join(map(to_sgf, trees)))], [to_sgf(tree) for tree in trees])


def _book(path: Path) -> None:
    with Book(path) as book:
        assert len(book) >= 0 <= book.games
        book.without_value(1)
        for moves in _SHORT[:3]:
            position = Position.from_moves(_RULES, moves)
            assert all(position.is_legal(each.move) and 0 <= each.score <= 1 for each in book.moves(position))


def _rating(path: Path) -> None:
    rating = Rating.read(path)
    assert len(rating.history()) == len(rating.results)
    assert math.isfinite(rating.rating)


def _openings(path: Path) -> None:
    openings = read_openings(path, _RULES)
    if _is_short(path):
        for write in (format_opening, format_offsets):
            _agree(parse_openings("\n".join(write(cells, 9) for cells in openings), _RULES), openings)


def _suite(data: bytes) -> None:
    puzzles = parse_suite(data.decode(errors="replace"))
    if len(data) < 10_000:
        _agree(parse_suite("\n".join(map(puzzle_line, puzzles))), puzzles)


def _config(path: Path) -> None:
    config = read_config(path)
    path.write_text(to_toml(config), encoding="utf-8")
    _agree(read_config(path), config)


def _assignment(data: bytes) -> None:
    resolve(assignments=data.decode(errors="surrogateescape").split("\n"))


def _run(path: Path) -> None:
    with RunFolder.open(path) as run:
        run.read_state("selfplay", lambda state: value_at(state, "iteration", int, low=0))
        run.metrics()


def _match(path: Path, played: Sequence[PlayedGame] = ()) -> None:
    """Read the folder of a match, and add games to it."""
    plan, schedule = {"players": ["a", "b"], "seed": 1}, fixtures(2, 4, openings=[()], seed=1)
    with MatchFolder(path, plan, schedule, rules=_RULES, names=["a", "b"]) as match:
        for game in played:
            match.add(game)


def _player(data: bytes) -> None:
    spec = data.decode(errors="surrogateescape")
    if "\0" in spec:
        return  # no argument of a command holds one
    if model_path(spec) is None:
        parse_player(spec, rules=_RULES, settings=PlayerSettings())


def _cell(data: bytes) -> None:
    text = data.decode(errors="replace")
    for parse, name in ((parse_cell, cell_name), (parse_point, point_name)):
        try:
            cell = parse(text, 15)
        except NotationError as error:
            assert len(str(error)) <= 500 and str(error).isprintable(), str(error)
        else:
            _agree(parse(name(cell, 15), 15), cell)


def _protocol(data: bytes) -> None:
    cutter, half = LineCutter(), len(data) // 2
    raw = (*cutter.feed(data[:half]), *cutter.feed(data[half:]), *cutter.finish())
    lines = [line for line in (each.decode("latin-1").strip() for each in raw) if line]
    end = next((number for number, line in enumerate(lines) if line.split()[0].upper() == "END"), len(lines))
    fuzz_engine.through_the_protocol(lines[:end])


def make_readers(folder: Path) -> list[Reader]:
    """Return all readers; they keep their files in `folder`."""
    from curriculum.training.trainer import Trainer

    def of_file(name: str, read: Callable[[Path], object]) -> Callable[[bytes], object]:
        def read_data(data: bytes) -> None:
            (folder / name).write_bytes(data)
            read(folder / name)

        return read_data

    def of_folder(
        name: str, files: Sequence[str], read: Callable[[Path], object], words: Sequence[str] = ()
    ) -> tuple[st.SearchStrategy[bytes], Callable[[bytes], object]]:
        good = [seed(f"{name}/{file}") for file in files]

        def read_changed(data: bytes) -> None:
            for number, file in enumerate(files):  # the first byte chooses the one that the others replace
                is_chosen = number == (data[0] % len(files) if data else 0)
                (folder / name / file).write_bytes(data[1:] if is_chosen else good[number])
            read(folder / name)

        return mutated([bytes((n,)) + each for n, each in enumerate(good)], words), read_changed

    def seed(name: str) -> bytes:
        return (folder / name).read_bytes()

    games = _games()
    foreign = "( ; GM [4] FF[3] CA[cp1252] SZ[9:9]\r\nPB[Li\\]\\\\ Na]XX[a][b]RE[W+Resign];B[ee](;W[aa]KO[])(;W[bb]))"
    sgf = [to_sgf(game).encode() for game in games]
    gomocup = b"Piskvorky 9x9, 0:0, 1\r\n5,5,3\r\n1,1,-2\r\na.zip\r\nb.zip\r\n-1\r\n2,Freestyle\r\n"
    psq = [to_psq(game).encode() for game in games]
    openings = [b"# ours\ne5 f5 d4  # near\n\na1 b2\n", b"0,0, 1,-1, -1,1\n+3,0 2 2\r\n", b"e5\n0,0\n"]
    suite = [b"# kinds\nblock | e5 a1 e6 a2 e7 | e8 e4 | a1, mine\n", b"win | h8 a1 h9 a3 h10 a5 h11 a7 | h12 h7 | \n"]
    config = [to_toml(Config()).encode(), *(to_toml(resolve(name)).encode() for name in preset_names())]
    keys = [line.encode() for line in to_toml(Config()).splitlines() if "=" in line]
    assignments = [b"search.simulations=40\nseed=7", b"net.trunk = conv3-16", b"basics.kinds=[win]", *keys[:20]]
    header = b"\xffRenLib\xff\x03\x04" + b"\xff" * 10
    renlib = header + bytes.fromhex("0000 7808 68690000 6980 0001 4100 97c0 5800 9740 7940")
    with Book.create(folder / "seed.sqlite", _RULES) as book:
        book.add(filter(book.takes, games), plies=9)
    rated = b'{"time": "2026-11-20T10:00:00", "opponent": "level:2", "difficulty": 900, "score": 1.0, "rating": 820}\n'
    trainer = Trainer(resolve("smoke", assignments=["net.trunk=conv3-2,residual", "rules.size=6"]))
    save_model(folder / "seed.safetensors", trainer.model, {"preset": "smoke", "search": {"simulations": 4}})
    trainer.save(folder / "trainer.safetensors", {"step": 3})
    positions = PositionBatch.from_positions([Position.from_moves(_RULES, moves) for moves in _SHORT[:3]], _RULES)
    samples = Samples.plain(positions, np.full((3, 81), 1 / 81, np.float32), np.zeros(3, np.float32))
    write_samples(folder / "seed.npz", samples, {"games": 1})
    xml = np.frombuffer(b"<net/>", np.uint8)
    cached = save({"version": np.ones(1, np.int64), "shared": np.zeros(10, np.uint8), "shared.xml": xml})
    CacheFolder(folder / "cache", "").write("seed.graphs", cached)
    with RunFolder.create(folder / "run", resolve("smoke")) as run:
        run.append_metrics({"phase": "basics", "event": "train", "step": 1, "loss": 0.5})
        run.write_state("selfplay", {"iteration": 2, "games": 4, "models": ["a"]})
    moves, n = _SHORT[3], len(_SHORT[3])
    columns: dict[str, Any] = {"values": (None,) * n, "simulations": (1,) * n, "seconds": (0.1,) * n}
    schedule = fixtures(2, 2, openings=[()], seed=1)
    _match(folder / "match", [PlayedGame(fixture=each, moves=moves, winner=BLACK, **columns) for each in schedule])
    (folder / "lines").mkdir()
    names = b"mentor mentor:2 random pure-mcts:40 paper-mentor engine:ls,-l default:1 a.safetensors".split()
    script = b"START 15\nTURN 7,7\nBOARD\n7,7,1\n8,8,2\nDONE\nINFO rule 1\nTAKEBACK 7,7\nSWAP2BOARD\nDONE\nBEGIN"
    run_files = ("config.toml", "environment.json", "state/selfplay.json", "metrics.jsonl")
    sgf_words = ["(", ")", ";", "[", "]", "\\", "CA[punycode]", "CA[shift_jis]", "AB[aa]", "SZ[25]"]
    toml_words = ["[net]", "=", "'''", '"""', "[[a]]", "inf", "nan", "1979-05-27"]

    psq_words = ["Piskvorky 9x9, 0:0, 0\n", "\n", ",", "-1\n", "homo-1"]
    model, state = mutated_headers(seed("seed.safetensors")), mutated_headers(seed("trainer.safetensors"))
    metrics = seed("run/metrics.jsonl")
    metrics_file = of_file("lines/metrics.jsonl", lambda path: read_metrics(path.parent))
    read_cached = of_file("cache/seed.graphs", lambda path: read_graphs(path, Mock(spec=OpenVino)))
    return [
        Reader("sgf", mutated([b"".join(sgf), *sgf, foreign.encode()], sgf_words), of_file("games.sgf", _sgf)),
        Reader("psq", mutated([b"".join(psq), *psq, gomocup], psq_words), of_file("games.psq", _psq)),
        Reader("libraries", mutated([renlib, bytes.fromhex("7820 6c7b67e5 6940")]), of_file("lines.lib", _renlib)),
        Reader("moves of RenLib", mutated([bytes([3, 112, 98, 14])]), of_file("game.pos", _renlib)),
        Reader("books", mutated([seed("seed.sqlite")], ["moves", "about"]), of_file("book.sqlite", _book)),
        Reader("ratings", mutated([rated * 3]), of_file("rating.jsonl", _rating)),
        Reader("openings", mutated(openings, ["a1 ", "0,0", ",", "#", "-", " "]), of_file("openings.txt", _openings)),
        Reader("suites", mutated(suite, ["|", "a1 ", "#", "win | "]), _suite),
        Reader("config", mutated(config, toml_words), of_file("config.toml", _config)),
        Reader("assignments", mutated(assignments, ["=", "[", "]", ".", "'", '"']), _assignment),
        Reader("model headers", model, of_file("model.safetensors", read_info)),
        Reader("models", model, of_file("model.safetensors", load_model)),
        Reader("trainer states", state, of_file("state.safetensors", lambda path: trainer.load(path, {"step": 0}))),
        Reader("graphs", mutated([seed("cache/seed.graphs")]), read_cached),
        Reader("samples", mutated_zips(seed("seed.npz")), of_file("samples.npz", read_samples)),
        Reader("runs", *of_folder("run", run_files, _run)),
        Reader("metrics", mutated([metrics, metrics * 3]), metrics_file),
        Reader("matches", *of_folder("match", ("match.json", "games.jsonl"), _match, ["h8 ", '"e5 f5"', '"time"'])),
        Reader("players", mutated(names, [":", "engine:", "pure-mcts:", "'"]), _player),
        Reader("cells", mutated([b"h8", b"a1", b"7,7", b" 3 , 4 "], [",", "a", "z"]), _cell),
        Reader("protocol", mutated([script], ["\r\n", "BOARD\n", "DONE\n", "TURN 7,7\n", "INFO "]), _protocol),
    ]


def check(reader: Reader, data: bytes) -> str:
    """Give an input to its reader; return its fate. Any other error than those of a bad input is a fault."""
    before, started, fate = memory_bytes(), time.process_time(), f"{reader.name} read"
    Path(gettempdir(), "gomoku-fuzzed").write_bytes(data)  # after a hang it is left there
    faulthandler.dump_traceback_later(_HANG_S + _HANG_S_PER_BYTE * len(data), exit=True)
    try:
        reader.read(data)
    except (UserError, OSError) as error:
        fate, message = f"{reader.name} refused", str(error)
        if reader.name not in _ARGUMENTS:
            assert not isinstance(error, UserError) or message.isprintable(), message[:300]
            assert len(message) <= _MAX_MESSAGE, message[:200]
    finally:
        faulthandler.cancel_dump_traceback_later()
    seconds, taken = time.process_time() - started, memory_bytes(peak=True) - before
    assert seconds <= _MAX_CPU_S + _CPU_S_PER_BYTE * len(data), f"it took {seconds:.1f} s for {len(data):,} bytes"
    assert taken <= _MAX_MEMORY + _MEMORY_FACTOR * len(data), f"it took {taken >> 20} MB for {len(data):,} bytes"
    return fate


def memory_bytes(peak: bool = False) -> int:
    """Return the resident bytes, or their peak since the last call without `peak`; 0 where the system hides them."""
    try:
        if not peak:
            Path("/proc/self/clear_refs").write_text("5")  # resets the peak
        found = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())
    except OSError:
        return 0
    return int(found[1]) << 10 if found else 0
