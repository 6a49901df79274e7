"""`python -m gomoku_cli` is `gomoku`."""

from gomoku_cli.app import main

main()
