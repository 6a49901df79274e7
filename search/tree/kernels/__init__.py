"""The compiled steps of the search, in the order of the work (A II-C, II-E).

Select (`puct`), descend (`descent`), gather (`gathering`), expand (`expansion`) and back up (`backup`) leaves in flight
(`leaves`); then proofs, results at the root, and rerooting (`roots`).

Values change sides at every edge. An edge into a won end gets +1; an edge into an evaluated leaf `-decay * v` (or `-v`
in the repository's form); every edge above gets `-decay` times the value of the edge below (A III-C).

Shapes: `A` cells of the board, `C` nodes of a tree, `L` leaves in flight, `B` rows of a batch.
"""
