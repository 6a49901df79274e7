"""Proofs of nodes: how a win or loss that is certain decides the nodes above it and those with the same position."""

from core.compiled.jit import lean_kernel
from core.rules import NO_CELL
from search.tree.forest import NO_NODE, Forest
from search.tree.transpositions import prove_twins


@lean_kernel
def prove_parents(forest: Forest, tree: int, node: int) -> None:
    """Carry the proof of `node` upwards as far as it proves its parents, and from other nodes with their positions.

    One winning child proves its parent won for the side to move there, by the shortest such win. A parent is lost if
    every move has a node and loses, by the longest loss.
    """
    unspread = 0
    while True:
        parent = forest.nodes[tree, node]["parent"]
        while parent != NO_NODE:
            proof = proof_by(forest, tree, node, parent)
            known = forest.nodes[tree, parent]["proof"]
            if proof == 0 or (known != 0 and (known > 0 or known >= proof)):
                break
            forest.nodes[tree, parent]["proof"] = proof
            if known == 0:
                unspread = prove_twins(forest, tree, parent, unspread)
            node = parent
            parent = forest.nodes[tree, node]["parent"]
        if unspread == 0:
            return
        unspread -= 1
        node = forest.unspread[tree, unspread]


@lean_kernel
def proof_by(forest: Forest, tree: int, node: int, parent: int) -> int:
    """Return the proof of the edge into a node's `parent` by the node's own proof; 0 if it decides nothing."""
    plies = forest.nodes[tree, node]["proof"]
    if plies < 0:
        if forest.nodes[tree, parent]["next_unvisited"] != NO_CELL:
            return 0
        child = forest.nodes[tree, parent]["first_child"]
        while child != NO_NODE:
            if forest.nodes[tree, child]["proof"] >= 0:
                return 0
            plies = min(plies, forest.nodes[tree, child]["proof"])
            child = forest.nodes[tree, child]["next_sibling"]
    return proof_above(plies)


@lean_kernel
def proof_above(proof: int) -> int:
    """Return the proof of the edge into a node, by that of the edge into the child that decides it."""
    return -proof - 1 if proof > 0 else -proof + 1


@lean_kernel
def proven_value(proof: int, decay: float) -> float:
    """Return the value of an edge with a proof, for the side that moved: 1 for a win at once, less for a later one."""
    return decay ** (proof - 1) if proof > 0 else -(decay ** (-proof - 1))
