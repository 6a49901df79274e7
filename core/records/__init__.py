"""Game records and opening files: SGF, Piskvork's .psq, opening lists."""
