"""`gomoku imitate`: phase 2."""

from gomoku_cli.commands.training.phase import phase_command

command = phase_command(
    2, "imitate", "Imitate a teacher (phase 2): play its games and train both nets on them, until they meet the bar."
)
