"""`gomoku selfplay`: phase 3."""

from gomoku_cli.commands.training.phase import phase_command

command = phase_command(
    3, "selfplay", "Improve by gated self-play (phase 3): games, training, and a match that decides which model stays."
)
