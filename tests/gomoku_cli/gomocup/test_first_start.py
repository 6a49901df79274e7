"""All kernels that an engine needs are ready when it answers START: none is compiled, or loaded, after OK."""

import json

import pytest

from curriculum.bench import warmup
from tests.support.commands import python

GAME = ["INFO timeout_turn 100", "TURN 7,7", "TURN 0,0", "TURN 14,0", "RESTART", "BEGIN"]
BOARD = "BOARD 7,7,2 8,8,1 9,9,2 DONE BOARD 5,5,1 5,6,1 5,7,1 5,8,1 1,1,2 1,2,2 1,3,2 2,5,2 DONE".split()
SWAP2 = ["SWAP2BOARD", "DONE", "SWAP2BOARD", "7,7", "8,8", "9,9", "DONE"]
PONDERING = ["INFO pondering 1", "RESTART", "TURN 7,7", "TURN 0,0", "TURN 14,0"]
LIMITS = ["INFO max_node 50", "RESTART", "TURN 7,7", "INFO max_memory 350000000", "TURN 0,0"]

PLAY = """
import json, sys
from core.compiled.compiler import Kernel
from gomoku_cli.gomocup import players
from gomoku_cli.gomocup.clock import Clock
from gomoku_cli.gomocup.commands import Engine
from gomoku_cli.gomocup.players import EnginePlayers

def versions():
    modules = [module for name, module in sys.modules.items() if name.startswith(("core.", "search."))]
    kernels = [value for module in modules for value in vars(module).values() if isinstance(value, Kernel)]
    return sorted(f"{kernel.__name__}{signature}" for kernel in kernels for signature in kernel.signatures)

players._WARM_UP_S = 0.0  # the least that a busy machine leaves of it
spec, *lines = json.loads(sys.argv[1])
engine = Engine(EnginePlayers(spec, simulations=None), about="", clock=Clock())
for start in ("START 15", "START 20"):
    for answer in engine.answer(start):
        assert answer.startswith(("OK", "MESSAGE")), answer
    ready = versions()
    assert ready
    for line in lines:
        answers = list(engine.answer(line))
        assert not any(answer.startswith(("ERROR", "UNKNOWN")) for answer in answers), (line, answers)
        late = set(versions()) - set(ready)
        assert not late, (line, late)
list(engine.finish())
"""


@pytest.fixture(scope="module")
def compiled() -> None:
    """Compile all kernels first: an engine for which they are compiled meanwhile plays with the mentor, and says so."""
    warmup.compile_line_play()
    warmup.compile_play()


@pytest.mark.slow
@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("spec", ["default", "mentor", "paper"])
def test_no_kernel_is_compiled_or_loaded_after_a_start(spec: str) -> None:
    lines = [*GAME, *BOARD, *SWAP2, *PONDERING, *LIMITS]
    ended = python(PLAY, json.dumps([spec, *lines]))
    assert ended.returncode == 0, ended.stderr
