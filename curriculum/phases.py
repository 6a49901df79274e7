"""The curriculum: basics, imitation, self-play, and what the model is worth at the end (A IV)."""

from core.streams import Purpose, stream_key
from curriculum.arena import MatchResult, evaluation_openings, play_match
from curriculum.phase_basics import run_basics
from curriculum.phase_imitation import run_imitation
from curriculum.phase_selfplay import run_selfplay
from curriculum.player_specs import parse_player
from curriculum.reporting import Conduct
from curriculum.run_folder import RunFolder
from curriculum.run_training import keep_model, match_settings
from nets.checkpoint import load_model

__all__ = ["FINAL_OPPONENTS", "measure", "run_all", "run_basics", "run_imitation", "run_selfplay"]

FINAL_OPPONENTS = ("random", "mentor:paper", "mentor", "pure-mcts:1000")


def run_all(run: RunFolder, conduct: Conduct) -> list[MatchResult]:
    """All three phases, and then the final matches. Raises `Interrupted` after saving."""
    run_basics(run, conduct)
    run_imitation(run, conduct)
    run_selfplay(run, conduct)
    return measure(run, conduct)


def measure(run: RunFolder, conduct: Conduct) -> list[MatchResult]:
    """The best model's matches against `FINAL_OPPONENTS`, written into its metadata; none where `final_games` is 0."""
    config = run.config
    if not config.evaluation.final_games:
        return []
    settings = match_settings(config)
    results = []
    for opponent in FINAL_OPPONENTS:
        result = play_match(
            parse_player(str(run.best_model), rules=config.rules, settings=settings),
            parse_player(opponent, rules=config.rules, settings=settings),
            rules=config.rules,
            openings=evaluation_openings(config.rules),
            games=config.evaluation.final_games,
            seed=stream_key(config.seed, Purpose.GATE),
            conduct=conduct,
            task=f"match against {opponent}",
        )
        run.append_metrics({"phase": "evaluation", "event": "match", **result.to_json()})
        results.append(result)
    model, info = load_model(run.best_model)
    final = {f"against {result.opponent}": result.to_json() for result in results}
    keep_model(run, "best", model, {**info.made, "results": {**info.made.get("results", {}), **final}})
    return results
