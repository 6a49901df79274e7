"""Matches: two players over many games at once, each opening with both colours."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from core.position import Position
from core.records import GameRecord, RecordError, parse_openings, read_openings
from core.rules import BLACK, Cell, Colour, Rules
from core.streams import Purpose, generator, stream_key
from curriculum.reporting import Conduct, Interrupted
from search.players import Player

BALANCED, EMPTY_BOARD = "balanced", "empty"


@dataclass(slots=True)
class Tally:
    """Results from the first player's side."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    @property
    def games(self) -> int:
        """All of them."""
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        """Wins and half the draws, over the games; 0.5 where none was played."""
        return (self.wins + 0.5 * self.draws) / self.games if self.games else 0.5

    def add(self, winner: Colour | None, colour: Colour) -> None:
        """Counts a game in which the first player had `colour`."""
        if winner is None:
            self.draws += 1
        elif winner == colour:
            self.wins += 1
        else:
            self.losses += 1


@dataclass(slots=True)
class MatchResult:
    """What a match came to, from the first player's side."""

    player: str
    opponent: str
    as_black: Tally = field(default_factory=Tally)
    as_white: Tally = field(default_factory=Tally)
    records: list[GameRecord] = field(default_factory=list)
    """The games in order."""
    seconds: float = 0.0

    @property
    def total(self) -> Tally:
        """Both colours together."""
        black, white = self.as_black, self.as_white
        return Tally(black.wins + white.wins, black.draws + white.draws, black.losses + white.losses)

    @property
    def distinct_games(self) -> int:
        """Games that differ in a move from all others."""
        return len({tuple(record.moves) for record in self.records})

    def to_json(self) -> dict[str, Any]:
        """The result as `gomoku evaluate --json` prints it."""
        total = self.total
        return {
            "player": self.player,
            "opponent": self.opponent,
            "wins": total.wins,
            "draws": total.draws,
            "losses": total.losses,
            "score": total.score,
            "games": total.games,
            "distinct_games": self.distinct_games,
            "as_black": _counts(self.as_black),
            "as_white": _counts(self.as_white),
            "seconds": round(self.seconds, 3),
        }


def _counts(tally: Tally) -> dict[str, int]:
    return {"wins": tally.wins, "draws": tally.draws, "losses": tally.losses}


def load_openings(choice: str, rules: Rules, *, for_training: bool = False) -> list[tuple[Cell, ...]]:
    """Openings to start games from: `balanced` (shipped), `empty` (the empty board) or a file. Raises `RecordError`.

    Of the shipped ones training takes every second, and evaluation the others: what is measured was never trained on.
    """
    if choice == EMPTY_BOARD:
        return [()]
    if choice != BALANCED:
        return read_openings(Path(choice), rules)
    name = f"freestyle{rules.size}.txt"
    file = resources.files("curriculum") / "openings" / name
    if rules.connect != 5 or not file.is_file():
        raise RecordError(f"there are no balanced openings for {rules}: use --openings empty or a file of your own")
    openings = parse_openings(file.read_text(encoding="utf-8").splitlines(), rules, name)
    return openings[1::2] if for_training else openings[0::2]


def evaluation_openings(rules: Rules) -> list[tuple[Cell, ...]]:
    """The shipped balanced openings, or the empty board where none are shipped for these rules."""
    try:
        return load_openings(BALANCED, rules)
    except RecordError:
        return load_openings(EMPTY_BOARD, rules)


def play_match(
    player: Player,
    opponent: Player,
    *,
    rules: Rules,
    openings: Sequence[Sequence[Cell]],
    games: int,
    seed: int,
    conduct: Conduct,
    paired: bool = True,
    task: str = "games",
) -> MatchResult:
    """`games` games side by side; the first player has Black in the even ones and White in the odd ones.

    `paired`: games 2i and 2i + 1 share an opening, else every game takes the next one. A match with more games than its
    openings allow starts over with them. The players draw from streams of the seed, so that equal settings give equal
    games. Raises `Interrupted` when the conduct says stop.
    """
    start = time.perf_counter()
    order = generator(seed, Purpose.OPENING).permutation(len(openings))
    boards = [
        Position.from_moves(rules, openings[order[(game // 2 if paired else game) % len(openings)]])
        for game in range(games)
    ]
    seats = {BLACK: 0, -BLACK: 1}  # in an even game; in an odd one the players change seats
    running = list(range(games))
    with conduct.reporter.task(task, games, "games") as progress:
        while running:
            for number, mover in enumerate((player, opponent)):
                turn = [
                    game
                    for game in running
                    if not boards[game].is_game_over() and (seats[boards[game].side_to_move] + game) % 2 == number
                ]
                if not turn:
                    continue
                seeds = [stream_key(seed, game, boards[game].ply) for game in turn]
                decisions = mover.choose([boards[game] for game in turn], seeds=seeds, stop=conduct.stop)
                if conduct.stop():
                    raise Interrupted
                for game, decision in zip(turn, decisions, strict=True):
                    boards[game].push(decision.move)
            running = [game for game in running if not boards[game].is_game_over()]
            moves = sum(board.ply for board in boards)
            progress.update(games - len(running), score=_score_so_far(boards), moves=moves)
    result = MatchResult(player.name, opponent.name, seconds=time.perf_counter() - start)
    for game, board in enumerate(boards):
        colour = BLACK if game % 2 == 0 else -BLACK
        winner = _winner(board)
        (result.as_black if colour == BLACK else result.as_white).add(winner, colour)
        names = (player.name, opponent.name) if colour == BLACK else (opponent.name, player.name)
        result.records.append(GameRecord(rules, tuple(board.moves), winner, black=names[0], white=names[1]))
    return result


def _winner(board: Position) -> Colour | None:
    outcome = board.outcome()
    return outcome.winner if outcome else None


def _score_so_far(boards: Sequence[Position]) -> str:
    tally = Tally()
    for game, board in enumerate(boards):
        if board.is_game_over():
            tally.add(_winner(board), BLACK if game % 2 == 0 else -BLACK)
    return f"{tally.score:.2f}" if tally.games else "-"
