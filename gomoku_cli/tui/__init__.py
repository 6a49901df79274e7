"""The Textual screens of `gomoku play`."""
