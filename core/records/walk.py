"""A walk through the tree of a game: the shown position, and the line on which one goes back and on."""

from core.position import Position
from core.records.tree import GameTree, Node
from core.rules import Cell


class Walk(Position):
    """A position of a tree. What is played never overwrites a move: it goes on in the tree, or branches off.

    Its `moves` are the nodes of `nodes` up to the shown one; the others are those to which one can go on.
    """

    def __init__(self, tree: GameTree) -> None:
        """Start at the end of the main line."""
        super().__init__(tree.rules)
        self.tree = tree
        self.nodes: list[Node] = tree.main_line()
        """The nodes of the whole line, without the root."""
        self.changes = 0
        """Changes of the tree so far."""
        self._deleted: list[tuple[Node, list[Node]]] = []
        """Deleted moves, each with the children that its parent had."""
        self.go_to(len(self.nodes))

    @property
    def line(self) -> list[Cell]:
        """The moves of the whole line, those behind the shown position included."""
        return [node.move for node in self.nodes]

    @property
    def is_at_end(self) -> bool:
        """True at the last position of the line."""
        return self.ply == len(self.nodes)

    @property
    def node(self) -> Node:
        """The node of the shown position."""
        return self.node_at(self.ply)

    def node_at(self, ply: int) -> Node:
        """Return the node after `ply` moves of the line."""
        return self.nodes[ply - 1] if ply else self.tree

    def at(self, ply: int) -> Position:
        """Return the position after `ply` moves of the line."""
        return Position.from_moves(self.rules, self.line[:ply])

    def play(self, cell: Cell, *, first: bool = False) -> None:
        """Play a move: on along the line, or as a variation, which becomes the line.

        `first`: the variation becomes the main one here. Raises `core.position.IllegalMoveError`.
        """
        here = self.node
        self.push(cell)
        if self.ply <= len(self.nodes) and self.node.move == cell:
            return
        node = here.next(cell)
        if node is None:
            node = here.append(cell, self.ply)
            self.changes += 1
        if first and here.variations[0] is not node:
            node.promote()
            self.changes += 1
        self._follow(node)

    def _follow(self, node: Node) -> None:
        self.nodes = [*node.path(), *node.main_line()]

    def go_to(self, ply: int) -> None:
        """Go back or on along the line until `ply` moves are made, as far as there are; never behind a set-up."""
        ply = max(ply, self.tree.set_up)
        while self.ply > ply:
            self.pop()
        while self.ply < min(ply, len(self.nodes)):
            self.push(self.nodes[self.ply].move, recorded=True)

    def go_to_node(self, node: Node) -> None:
        """Go to a node of the tree; its main line becomes the rest of the line, unless the line has it already."""
        path = node.path()
        if path == self.nodes[: len(path)]:
            self.go_to(len(path))
            return
        common = 0
        while common < min(len(path), self.ply) and path[common] is self.nodes[common]:
            common += 1
        self.go_to(common)
        self._follow(node)
        self.go_to(len(path))

    def go_to_sibling(self, direction: int) -> bool:
        """Go to the next move (1) or the one before (-1) in place of this one, the first one after the last.

        Where there is no other, the line is left at the nearest move before that has one. Return False without any.
        """
        for ply in range(self.ply, 0, -1):
            siblings = self.node_at(ply - 1).variations
            if len(siblings) > 1:
                here = siblings.index(self.node_at(ply))
                self.go_to_node(siblings[(here + direction) % len(siblings)])
                return True
        return False

    def promote(self) -> bool:
        """Make this variation the main one where it branches off; return False on the main line."""
        is_changed = self.node.promote()
        self.changes += is_changed
        return is_changed

    def delete(self) -> None:
        """Remove the last move and all that follow, and go back by it. Raises `IndexError` on an empty board."""
        node = self.node
        self.pop()
        if node.parent is not None:
            self._deleted.append((node, list(node.parent.children)))
        node.delete()
        self.nodes = [*self.nodes[: self.ply], *self.node.main_line()]
        self.changes += 1

    def restore(self) -> bool:
        """Bring back the move that was deleted last in this position, with all that followed, and go to it.

        It gets its place among the others, or the last one where there are new ones. Return False without any.
        """
        for entry in reversed(self._deleted):
            node, before = entry
            if node.previous is self.node and node.parent is not None:
                self._deleted.remove(entry)
                children = node.parent.children
                is_same = children == [each for each in before if each is not node]
                children[:] = before if is_same else [*children, node]
                self.changes += 1
                self.go_to_node(node)
                return True
        return False

    def describe(self, node: Node, name: str, comment: str) -> None:
        """Give a position a name and a comment."""
        if (node.name, node.comment) != (name, comment):
            node.name, node.comment = name, comment
            self.changes += 1
