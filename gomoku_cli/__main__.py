"""The entry point of the installed command, and of `python -m gomoku_cli`."""

import os
import sys
from typing import NoReturn

from gomoku_cli import check_packages
from gomoku_cli.process import end_on_signals, end_soon, flush_results, open_streams, share_processors


def main() -> NoReturn:
    """Run the command line of this process."""
    end_on_signals()
    open_streams()
    share_processors()
    end_soon()
    try:
        os.getcwd()
        check_packages()
    except ImportError as error:
        sys.exit(f"gomoku: {error}")
    except FileNotFoundError:
        sys.exit("gomoku: the current folder was removed: go to another one, as with cd")
    from gomoku_cli.tui.terminal import is_served

    if is_served():
        from gomoku_cli.serving.processes import bind

        bind()
    from gomoku_cli.tui import quick

    if quick.applies(sys.argv[1:]):
        sys.exit(flush_results(quick.play()))
    from gomoku_cli.app import run  # after the signals: this takes a while

    sys.exit(flush_results(run()))


if __name__ == "__main__":
    main()
