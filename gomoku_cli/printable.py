"""Text from outside, shown as it is: nothing in it drives a terminal, breaks a report or hides its end.

Names of players and files, metadata of models and messages of engines may come from anyone. `--json` escapes them by
itself.
"""

from collections.abc import Callable

from core.input_limits import MAX_SHOWN_CHARACTERS


def printable(text: object) -> str:
    r"""Return a text on one line, with its control and format characters escaped: `\x1b`, `\u202e`.

    These are the control characters of both sets, changes of direction, lone surrogates and
    unknown characters.
    """
    text = str(text)
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else " " if letter.isspace() else _escaped(letter) for letter in text)


def _escaped(letter: str) -> str:
    return letter.encode("unicode_escape").decode()


def shown(text: object) -> str:
    """Return a text as `printable` does, of at most `MAX_SHOWN_CHARACTERS` characters."""
    line = printable(text)
    return line if len(line) <= MAX_SHOWN_CHARACTERS else f"{line[: MAX_SHOWN_CHARACTERS - 1]}\N{HORIZONTAL ELLIPSIS}"


def counted(number: int, noun: str) -> str:
    """Return a number of things in words: `1 game`, `2,000 games`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def error_message(error: BaseException) -> str:
    """Return the message of an error; for one of the system its file and its reason, without its number."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error) or type(error).__name__


def sentence(message: object) -> str:
    """Return a message as a sentence; a cell or a number at its beginning stays as it is."""
    text = str(message)
    first = text.split(maxsplit=1)[0] if text.strip() else ""
    return f"{text if any(map(str.isdigit, first)) else text[:1].upper() + text[1:]}."


def echo(text: str, *, err: bool = False) -> None:
    """Print lines of text, each as `printable` shows it, on stdout or stderr."""
    import typer  # the board does without it

    typer.echo("\n".join(map(printable, text.split("\n"))), err=err)


def echo_json(value: object) -> None:
    """Print a value as a line of JSON on stdout, with null for a number that is not finite."""
    import json

    import typer

    from core.files.json_text import plain

    typer.echo(json.dumps(plain(value)))


def print_result(result: object, show: Callable[[], object], *, as_json: bool) -> None:
    """Print the result of a command: by `show`, or as JSON."""
    if as_json:
        echo_json(result)
    else:
        show()
