"""The engine's game: the position, the engine's colour, and the commands that each turn allows."""

from core.notation import point_name
from core.position import Position
from core.rules import Cell, Colour, Rules
from gomoku_cli.gomocup.protocol import BoardBlock, CommandError, Field


class EngineGame:
    """One game on one board.

    A method that raises `CommandError` or `IllegalMoveError` changes nothing, except that `opponent_moves` keeps a move
    that ends the game.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.position = Position(rules)
        self.own_colour: Colour | None = None
        """The engine's colour; None until a command fixes it."""

    def begin(self) -> None:
        """Give the engine the first move."""
        if self.position.ply:
            raise CommandError("BEGIN is for the empty board")
        self.own_colour = self.position.side_to_move

    def take_turn(self) -> None:
        """Give the engine the move, whoever it is for."""
        if self.position.is_game_over():
            raise CommandError("the game is over")
        self.own_colour = self.position.side_to_move

    def opponent_moves(self, cell: Cell) -> None:
        """Play the opponent's move, after which the engine is to move."""
        if self.own_colour == self.position.side_to_move:
            raise CommandError("it is not the opponent's turn")
        self._push(cell)
        self.own_colour = self.position.side_to_move
        if self.position.is_game_over():
            raise CommandError("the game is over")

    def engine_moves(self, cell: Cell) -> None:
        """Play a move that the manager chose for the engine."""
        colour = self.position.side_to_move
        if self.own_colour not in (None, colour):
            raise CommandError("it is not our turn")
        self._push(cell)
        self.own_colour = colour

    def take_back(self, cell: Cell) -> None:
        """Take back the last stone, which must be on `cell`. An empty board leaves the engine's colour open."""
        if cell not in self.position.moves:
            raise CommandError(f"{self.point(cell)} holds no stone")
        last = self.position.moves[-1]
        if cell != last:
            raise CommandError(f"{self.point(cell)} is not the last stone, {self.point(last)} is")
        self.position.pop()
        if not self.position.ply:
            self.own_colour = None

    def set_board(self, block: BoardBlock) -> None:
        """Replace the position by the stones of a BOARD or a YXBOARD, with the engine to move.

        The stones of each side are played in the order of their lines, the sides in turn. A YXBOARD may be over.
        """
        own, opponents = block.cells_of(Field.OWN), block.cells_of(Field.OPPONENT)
        if block.cells_of(Field.WINNING_LINE):
            raise CommandError(
                "field 3 is for games that go on after five, or after a foul, which this engine does not play"
            )
        if len(opponents) - len(own) not in (0, 1):
            raise CommandError(f"with {len(own)} own stones and {len(opponents)} of the opponent it is not our turn")
        first, second = (own, opponents) if len(own) == len(opponents) else (opponents, own)
        position = Position(self.rules)
        for number in range(len(block.stones)):
            position.push((first, second)[number % 2][number // 2])
        if block.command == "BOARD" and position.is_game_over():
            raise CommandError("the game is over")
        self.position, self.own_colour = position, position.side_to_move

    def set_swap2(self, cells: list[Cell]) -> None:
        """Replace the position by the stones of a SWAP2BOARD, black first."""
        self.position, self.own_colour = Position.from_moves(self.rules, cells), None

    def point(self, cell: Cell) -> str:
        """Return the point of a cell in the protocol's notation."""
        return point_name(cell, self.rules.size)

    def _push(self, cell: Cell) -> None:
        if cell in self.position.moves:
            raise CommandError(f"{self.point(cell)} already holds a stone")
        self.position.push(cell)
