"""The board as pictures, in terminals that have a protocol for them: a picture a cell, drawn once."""
