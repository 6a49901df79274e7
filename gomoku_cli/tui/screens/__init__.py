"""The dialogs over the board."""
