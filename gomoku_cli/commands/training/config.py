"""`gomoku config`: the settings of a run, listed, explained and compared."""

from typing import Annotated

import typer

from gomoku_cli import completion, options
from gomoku_cli.commands import help
from gomoku_cli.printable import print_result


@help.group
def app() -> None:
    """List, explain and compare the settings of training runs.

    A configuration is named by a preset, a run folder, a model, a TOML file, or the word defaults.

    Examples:
        gomoku config list search
        gomoku config explain selfplay.window
        gomoku config diff quick strongest
        gomoku config diff runs/mine defaults
    """


Source = Annotated[
    str,
    typer.Argument(
        metavar="CONFIG",
        autocompletion=completion.presets,
        help="A preset, a run folder, a model file or a built-in model, a TOML file, or defaults.",
    ),
]


@help.subcommand(app, "list")
def list_settings(
    keys: Annotated[list[str] | None, typer.Argument(metavar="KEY", autocompletion=completion.keys)] = None,
    source: Annotated[str, typer.Option("--of", autocompletion=completion.presets, metavar="CONFIG")] = "defaults",
    as_json: options.Json = False,
) -> None:
    """List settings with their values. A star marks those that differ from the default.

    Args:
        keys: Keys or sections; all without.
        source: The configuration: a preset, a run folder, a model file, a built-in model or a TOML file.

    Examples:
        gomoku config list
        gomoku config list search --of runs/mine
    """
    from gomoku_cli.reports.training.configuration import config_of, keys_of, listing
    from gomoku_cli.reports.training.settings_text import show_settings

    rows = listing(config_of(source), keys_of(keys or ()))
    print_result({"config": source, "settings": rows}, lambda: show_settings(rows), as_json=as_json)


@help.subcommand(app, "explain")
def explain(
    keys: Annotated[list[str], typer.Argument(metavar="KEY", autocompletion=completion.keys)],
    as_json: options.Json = False,
) -> None:
    """Explain settings: their meaning, the values that they may have, the default, and the presets that change them.

    Args:
        keys: Keys, or sections.

    Examples:
        gomoku config explain search.c_puct
        gomoku config explain gate
    """
    from gomoku_cli.reports.training.configuration import explanation, keys_of
    from gomoku_cli.reports.training.settings_text import show_explanations

    found = [explanation(key) for key in keys_of(keys)]
    print_result({"settings": found}, lambda: show_explanations(found), as_json=as_json)


@help.subcommand(app, "diff")
def diff(first: Source, second: Source, as_json: options.Json = False) -> None:
    """Show the settings that differ between two configurations.

    Examples:
        gomoku config diff quick strongest
        gomoku config diff runs/a runs/b
    """
    from curriculum.keys import setting_value
    from gomoku_cli.reports.training.configuration import config_of, differences
    from gomoku_cli.reports.training.settings_text import show_differences

    configs = [config_of(first), config_of(second)]
    rows = differences(configs)
    found = [{"key": key, "values": [setting_value(config, key) for config in configs]} for key, _ in rows]
    result = {"configs": [first, second], "differences": found}
    print_result(result, lambda: show_differences((first, second), rows), as_json=as_json)
