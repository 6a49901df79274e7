"""The whole curriculum: basics, imitation, self-play, and final matches that measure the model (A IV)."""

from pathlib import Path
from typing import Any

from core.arguments import check_kind
from core.files.json_text import value_at
from core.input_limits import MAX_SECONDS
from core.streams import Purpose, stream_key
from curriculum.arena.tournament import play_match
from curriculum.config import Config, Phase
from curriculum.phases.basics import run_basics
from curriculum.phases.imitation import run_imitation
from curriculum.phases.origin import portable_name, result_of
from curriculum.phases.players import ModelPlayer, check_players, named_player
from curriculum.phases.selfplay import run_selfplay
from curriculum.phases.steps import check_new, keep_model, start_text
from curriculum.reporting import Context
from curriculum.run.folder import RunFolder, is_run
from curriculum.run.locking import FolderTakenError
from nets.checkpoint import load_model

__all__ = ["measure", "run_all", "run_basics", "run_imitation", "run_selfplay", "train"]

_RUN = {Phase.BASICS: run_basics, Phase.IMITATION: run_imitation, Phase.SELFPLAY: run_selfplay}
_MATCHES = "matches"


def run_all(run: RunFolder, context: Context) -> list[dict[str, Any]]:
    """Run the phases of the configuration, then `measure`.

    Raises `Interrupted` after saving, and the errors of `check_players` before any work.
    """
    check_players(run.config)
    if run.config.start and not run.best_model.exists():
        context.reporter.say(f"{run.config.rules}: the nets start from {start_text(run.config)}")
    for phase in run.config.phases:
        _RUN[phase](run, context)
    return measure(run, context)


def train(path: Path | str, config: Config | None = None, context: Context | None = None) -> list[dict[str, Any]]:
    """Train in a folder as `gomoku train` does: a new run with `config`, without one the run there, from where it is.

    Return the results of its final matches. `context` reports progress and stops the work; the default one is silent.

    >>> tiny = ["phases=['basics']", "basics.positions=64", "evaluation.final_games=0"]
    >>> gomoku.train("runs/tiny", gomoku.load_config("smoke", assignments=tiny))
    []

    Raises the errors of `check_new`, before it makes the folder, of `RunFolder.create` or `RunFolder.open`, and of
    `run_all`.
    """
    if config is not None:
        check_kind("config", config, Config, 'a Config, such as load_config("smoke")')
        if is_run(Path(path)):
            raise FolderTakenError(
                f"{path} already holds a run: go on with it without config, or choose another folder"
            )
        check_new(config)
    with RunFolder.open(path) if config is None else RunFolder.create(path, config) as run:
        return run_all(run, context or Context())


def measure(run: RunFolder, context: Context) -> list[dict[str, Any]]:
    """Play the best model against the final opponents; return the results as JSON, written into its metadata too.

    Finished matches of this model are not played again. With `final_games` 0 there are none. Raises `Interrupted`.
    """
    config = run.config
    if not config.evaluation.final_games:
        return []
    # A run that went on after its matches has another model: they are known by the rounds of self-play before them.
    rounds = run.progress.rounds
    results = {
        opponent: result
        for opponent, result in (run.read_state(_MATCHES, _finished_matches) or {}).items()
        if (result["iteration"], result["games"]) == (rounds, config.evaluation.final_games)
    }
    model, info = load_model(run.best_model)
    for opponent in config.evaluation.opponents:
        if opponent in results:
            continue
        result = play_match(
            ModelPlayer(config, run.best_model, config.preset),
            named_player(config, opponent),
            rules=config.rules,
            games=config.evaluation.final_games,
            seed=stream_key(config.seed, Purpose.GATE),
            context=context,
            task=f"match against {opponent}",
        ).to_json()
        results[opponent] = {**result, "iteration": rounds}
        with run.metrics_of({"phase": "evaluation", "event": "match", **results[opponent]}):
            run.write_state(_MATCHES, results)
    results = {opponent: results[opponent] for opponent in config.evaluation.opponents}
    final = {f"against {portable_name(opponent)}": result_of(result) for opponent, result in results.items()}
    known = {name: result_of(result) for name, result in info.made.get("results", {}).items() if name in final}
    if known != final:  # a file written again has other bytes, and kept matches know a model by its bytes
        keep_model(run, "best", model, {**info.made, "results": {**info.made.get("results", {}), **final}})
    return [{key: result[key] for key in result if key != "iteration"} for result in results.values()]


def _finished_matches(state: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the results of finished matches, by opponent. Raises `ValueError`."""
    results = {opponent: value_at(state, opponent, dict) for opponent in state}
    for result in results.values():
        value_at(result, "opponent", str)
        for key in ("games", "wins", "draws", "losses", "iteration"):
            value_at(result, key, int, low=0)
        value_at(result, "score", float, low=0, high=1)
        value_at(result, "seconds", float, low=0, high=MAX_SECONDS)
    return results
