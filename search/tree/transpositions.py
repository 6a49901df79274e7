"""Transpositions: nodes of one tree with the same position, reached by the same moves in other orders.

A tree's table has, at the place that a key names, the first of the nodes with that key; they are linked. A later
position with the same place takes it over, so a table that is too small forgets positions and never mixes them up.
"""

from core.compiled.jit import lean_kernel
from search.tree.forest import MAX_UNSPREAD, NO_NODE, OPEN, PROVEN, Forest
from search.tree.softmax import scan_best, word_of


@lean_kernel
def first_twin(forest: Forest, tree: int, node: int) -> int:
    """Return the first of the nodes with the position of `node`, itself perhaps; `NO_NODE` if the table has none."""
    places = forest.twins.shape[1]
    if places == 0:
        return NO_NODE
    key = forest.nodes[tree, node]["key"]
    first = int(forest.twins[tree, key & (places - 1)])
    return first if first != NO_NODE and forest.nodes[tree, first]["key"] == key else NO_NODE


@lean_kernel
def enter_position(forest: Forest, tree: int, node: int) -> None:
    """Enter a node into its tree's table of positions."""
    places = forest.twins.shape[1]
    edge = forest.nodes[tree, node]
    edge["next_twin"] = NO_NODE
    if places == 0:
        return
    first = first_twin(forest, tree, node)
    if first == NO_NODE:
        forest.twins[tree, edge["key"] & (places - 1)] = node
    else:
        edge["next_twin"] = forest.nodes[tree, first]["next_twin"]
        forest.nodes[tree, first]["next_twin"] = node


@lean_kernel
def prove_twins(forest: Forest, tree: int, node: int, unspread: int) -> int:
    """Give the proof of `node` to the other nodes with its position.

    They come after the first `unspread` nodes of `Forest.unspread`. Return the number of nodes there afterwards.
    """
    proof = forest.nodes[tree, node]["proof"]
    twin = first_twin(forest, tree, node)
    while twin != NO_NODE and unspread < MAX_UNSPREAD:
        other = forest.nodes[tree, twin]
        if other["proof"] == 0:
            other["proof"] = proof
            forest.unspread[tree, unspread] = twin
            unspread += 1
        twin = other["next_twin"]
    return unspread


@lean_kernel
def take_from_twin(forest: Forest, tree: int, node: int) -> bool:
    """Give a new node the proof, or priors and value, of the most visited node with its position; False without one."""
    found = find_twin(forest, tree, node)
    if found == NO_NODE:
        return False
    edge, twin = forest.nodes[tree, node], forest.nodes[tree, found]
    if twin["proof"] != 0:
        edge["proof"] = twin["proof"]
        edge["state"] = PROVEN
        return True
    row = forest.child_priors[tree, node]
    for cell in range(row.shape[0]):
        row[cell] = forest.child_priors[tree, found, cell]
    child = twin["first_child"]
    while child != NO_NODE:
        row[forest.nodes[tree, child]["move"]] = word_of(forest.nodes[tree, child]["prior"])
        child = forest.nodes[tree, child]["next_sibling"]
    edge["value"] = twin["value"]
    edge["has_value"] = twin["has_value"]
    edge["next_unvisited"] = scan_best(row)
    edge["state"] = OPEN
    return True


@lean_kernel
def find_twin(forest: Forest, tree: int, node: int) -> int:
    """Return a proven node with the position of `node`, else the most visited open one, `NO_NODE` without either."""
    twin = first_twin(forest, tree, node)
    best, most = NO_NODE, 0
    while twin != NO_NODE:
        other = forest.nodes[tree, twin]
        if twin != node:
            if other["proof"] != 0:
                return twin
            if other["state"] == OPEN and other["visits"] > most:
                best, most = twin, other["visits"]
        twin = other["next_twin"]
    return best
