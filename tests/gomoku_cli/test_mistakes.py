"""Mistakes of a user: one line, the exit code of their kind, and nothing written."""

from pathlib import Path

import pytest

from core.rules import Rules
from gomoku_cli.exit_codes import ExitCode
from nets.checkpoint import save_model
from nets.config import NetConfig
from nets.dual import make_model
from tests.support.commands import Capsys, refused


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("evalute", "Did you mean 'evaluate'?"),
        ("evaluate", "Missing argument 'PLAYER'"),
        ("evaluate random", "name one opponent"),
        ("suite random endgames", "there is no suite"),
        ("suite random --games 4", "--games"),
        ("suite random --sprt elo0=0,elo1=9", "--sprt"),
        ("suite random --run somewhere", "--run"),
        ("ladder random --min-score 0.5", "--min-score"),
        ("ladder random --games 4 --stop-at 4", "no rung of 4 games has more than 4 wins"),
        ("ladder random --to 100", "100 is below the first rung, 200"),
        ("ladder random --figure none/such.png", "--figure"),
        ("evaluate mentor --against random --simulations 100", "--simulations: it has no effect on mentor and random"),
        ("evaluate default --against random --policy stochastic --switch-stage 8", "--switch-stage"),
        ("evaluate mentor --against random --switch-stage 8", "--switch-stage"),
        ("evaluate pure-mcts:50 --against random --seconds 1", "--seconds"),
        ("evaluate mentor:paper --against random --policy deterministic", "--policy"),
        ("tournament random mentor --no-tactics", "--no-tactics: it has no effect on random and mentor"),
        ("evaluate random --against mentor --engine-seconds 1", "--engine-seconds"),
        ("tournament random mentor --match-seconds 1", "--match-seconds"),
        ("suite mentor --simulations 5", "--simulations"),
        ("ladder mentor --switch-stage 4", "--switch-stage"),
        ("openings --player mentor --no-tactics --output x.txt", "--no-tactics"),
        ("evaluate random --against random --sprt elo0=0", "elo1"),
        ("evaluate random --against random --sprt elo0=9,elo1=5", "elo0 below elo1"),
        ("evaluate random --against random --junit none/such.xml", "there is no folder none"),
        ("evaluate random --against random --games-file games.txt", ".sgf or .psq"),
        ("evaluate random --against random --figure games.txt", "--figure"),
        ("evaluate random --against random --engine-seconds -1", "is no time"),
        ("evaluate random --against engine:", "engine"),
        ("tournament random", "two players or more"),
        ("tournament random mentor random", "random is named twice"),
        ("tournament random mentor --games 3", "3 is odd"),
        ("tournament random mentor --format swiss", "--format"),
        ("evaluate random --against random --games 0", "--games"),
        ("evaluate random --against random --game 5", "--games"),
        ("evaluate random --against random --board-size 26", "--board-size"),
        ("evaluate random --against random --board-size 4", "connect length 5 is outside 3 to 4"),
        ("evaluate random --against random --min-score 50", "--min-score"),
        ("evaluate random --against rndom", "did you mean random"),
        ("evaluate random --against pure-mcts:many", "pure-mcts:N"),
        ("evaluate random --against random --policy greedy", "'--policy': 'greedy' is not"),
        ("evaluate random --against random --seconds 1 --simulations 400", "--seconds, --simulations"),
        ("evaluate random --against random --seconds 0", "is no time"),
        ("evaluate random --against random --seconds nan", "is no time"),
        ("evaluate random --against random --seconds 1e300", "is no time"),
        ("evaluate random --against random --backend abacus", "'abacus' is not one of 'auto',"),
        ("evaluate random --against random --num-workers 2", "--num-workers: it says how workers are: give --workers"),
        ("evaluate random --against random --cpus-per-worker 2", "give --workers too"),
        ("train --preset smoke --dry-run --gpus-per-worker 1 --run x", "give --workers too"),
        ("generate-basics", "--output"),
        ("generate-basics --kinds atack-four --output x.npz", "did you mean attack-four?"),
        ("generate-basics --positions many --output x.npz", "--positions"),
        ("train", "--run"),
        ("train --preset qick --run x", "did you mean quick?"),
        ("train --set serch.simulations=5 --run x", "did you mean search.simulations or gate.simulations?"),
        ("train --set search.simulations=x --run x", "a whole number"),
        ("train --set imitation.teacher=mentr --run x", "did you mean mentor?"),
        ("train --config none.toml --run x", "none.toml cannot be read"),
        (
            "train --preset smoke --set rules.size=4 --set rules.connect=3 --set basics.kinds=open-four-attack --run x",
            "4",
        ),
        ("train --preset smoke --set basics.noise_stones=225,225 --run x", "do not fit"),
        ("train --preset smoke --set search.simulations=1 --run x", "2 or more"),
        ("train --preset smoke --set imitation.games=1 --run x", "imitation.games is 1; it must be 2 or more"),
        ("train --preset smoke --resume --dry-run --run x", "leave --resume out"),
        ("evaluate random --against pure-mcts:99999999999999999999", "10,000,000"),
        ("evaluate random --against random --simulations 3000000000", "--simulations"),
        ("analyze --player random", "random tells no more than its move: models, mentor and pure-mcts:N analyse"),
        ("analyze --player mentor:paper", "mentor:paper tells no more than its move"),
        ("analyze --player nobody", "names no player"),
        ("analyze --player pure-mcts:50 --simulations 100", "--simulations: it has no effect on pure-mcts:50"),
        ("analyze --player mentor --no-tactics", "--no-tactics"),
        ("analyze --player paper --board-size 9 --connect 5", "paper plays 5 in a row on 15x15, not 5 in a row on 9x9"),
        ("analyze h8,h8 --player mentor", "move 2: h8 already holds a stone"),
        ("analyze h99 --player mentor", "move 1: 'h99' is off the board"),
        ("analyze mentor:3", "name the player with --player mentor:3"),
        ("analyze a1,a2,b1,b2,c1 --player mentor --board-size 3 --connect 3", "the game is over after 5 moves"),
        ("analyze --move 3", "--move: it picks from a file of games"),
        ("analyze h8 --game 2", "--game: it picks from a file of games"),
        ("analyze x.sgf h8", "'h8' is no file of games"),
        ("analyze - h8", "- stands alone"),
        ("analyze x.sgf y.sgf --move 2", "it picks from one file of games"),
        ("analyze x.sgf --figure x.png", "gomoku picture draws a game"),
        ("analyze h8 --review", "it needs whole games"),
        ("analyze - --save", "there is no file to save into"),
        ("analyze --figure x.pdf", "must end in .png or .svg"),
        ("analyze --seconds 0", "is no time"),
        ("picture x.txt", "x.txt is no file of games: its name must end in .sgf or .psq"),
        ("picture x.sgf --game 0", "--game"),
        ("picture x.sgf --figure none/such.png", "there is no folder none"),
        ("curves", "RUN"),
        ("curves x --figure x.pdf", "must end in .png or .svg"),
        ("play --colour red", "--colour"),
        ("play --model nobody", "names no player"),
        ("play --model random", "needs a terminal"),
        ("play --seconds 1 --simulations 1", "give one of them"),
        ("play --model mentor --ponder", "mentor cannot ponder: only players with a net can"),
        ("engine --model mentr", "did you mean mentor?"),
        ("engine --model engine:cat", "is an engine itself"),
        ("engine --seconds 0", "is no time"),
        ("engine --model mentor --no-tactics", "it has no effect on mentor"),
    ],
)
def test_a_wrong_command_line_is_one_line_and_exit_code_2(
    line: str, expected: str, capsys: Capsys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert expected in refused(capsys, ExitCode.USAGE, *line.split())
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("info junk.safetensors", "junk.safetensors"),
        ("info none.safetensors", "none.safetensors"),
        ("info .", "best.safetensors"),
        ("evaluate junk.safetensors --against random", "junk.safetensors"),
        ("play --model junk.safetensors", "junk.safetensors"),
        ("engine --model junk.safetensors", "is no model file"),
        ("evaluate random --against random --openings none.txt", "none.txt"),
        ("evaluate random --against random --openings junk.safetensors", "junk.safetensors"),
        ("analyze --player junk.safetensors", "junk.safetensors"),
        ("analyze none.sgf", "none.sgf: No such file"),
        ("book build new none", "none: No such file or directory"),
        ("book build new none.sgf", "none.sgf: No such file or directory"),
        ("play --load none", "none: No such file or directory"),
        ("picture none.psq", "none.psq: No such file"),
        ("curves none", "there is no run in none"),
        ("curves .", "there is no run in ."),
        ("train --run none --resume", "there is no run in none"),
        ("train --run . --resume", "holds no config.toml"),
        ("train --run broken --resume", "did you mean search.simulations"),
    ],
)
def test_bad_data_is_one_line_and_exit_code_3(
    line: str, expected: str, capsys: Capsys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("junk.safetensors").write_bytes(bytes(range(256)) * 4)
    Path("broken").mkdir()
    Path("broken/config.toml").write_text("[search]\nsimulatoins = 5\n")
    assert expected in refused(capsys, ExitCode.BAD_DATA, *line.split())


def test_a_model_with_infinite_evaluations_is_refused(capsys: Capsys, tmp_path: Path) -> None:
    model = make_model(NetConfig.tower(4, 1), Rules(9, 5), 1)
    for parameter in model.parameters():
        parameter.data.fill_(1e30)
    save_model(tmp_path / "wild.safetensors", model, {})
    line = "--against random --games 2 --simulations 4 --backend torch --quiet".split()
    error = refused(capsys, ExitCode.BAD_DATA, "evaluate", tmp_path / "wild.safetensors", *line)
    assert "not a finite number" in error


def test_a_folder_that_cannot_be_written_is_one_line(capsys: Capsys, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    error = refused(capsys, ExitCode.FAILED, "train", "--preset", "smoke", "--run", tmp_path / "file" / "run")
    assert "Not a directory" in error
