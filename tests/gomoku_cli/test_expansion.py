"""Options in dataclasses: Typer sees their fields, and no command has a long list of parameters."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from gomoku_cli.expansion import check_output, expand_options


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """Two options."""

    count: Annotated[int, typer.Option("--count", "-c", help="Number of lines.")] = 3
    share: Annotated[float | None, typer.Option("--share", min=0)] = None


def small_app() -> typer.Typer:
    result = typer.Typer()

    @result.command()
    @expand_options
    def command(
        name: Annotated[str, typer.Argument()],
        *,
        numbers: Numbers,
        loud: Annotated[bool, typer.Option("--loud")] = False,
    ) -> None:
        """Print all values."""
        typer.echo(f"{name} {numbers} {loud}")

    return result


@pytest.mark.parametrize(
    ("line", "printed"),
    [
        ("here", f"here {Numbers()} False"),
        ("here -c 5 --loud", f"here {Numbers(count=5)} True"),
        ("--share 0.5 here", f"here {Numbers(share=0.5)} False"),
    ],
)
def test_a_command_receives_its_options_as_a_dataclass(line: str, printed: str) -> None:
    assert CliRunner().invoke(small_app(), line.split()).output == f"{printed}\n"


def test_the_fields_are_options_with_their_help_and_limits() -> None:
    assert "Number of lines." in CliRunner().invoke(small_app(), ["--help"]).output
    refused = CliRunner().invoke(small_app(), ["here", "--share", "-1"])
    assert (refused.exit_code, "--share" in refused.output) == (2, True)


def test_two_fields_of_the_same_name_are_refused() -> None:
    def command(numbers: Numbers, count: int) -> None:
        """Have two counts."""

    with pytest.raises(ValueError, match="count"):
        expand_options(command)


def test_a_file_that_is_write_protected_is_no_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    protected = tmp_path / "protected.svg"
    protected.touch()
    monkeypatch.setattr("os.access", lambda path, mode: Path(path) != protected)  # root may do everything
    with pytest.raises(typer.BadParameter, match=r"nothing can be written to .*protected"):
        check_output(protected, "--figure")
