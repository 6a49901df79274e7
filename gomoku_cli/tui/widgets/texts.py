"""Words for values and analyses, as every pane writes them."""

from collections.abc import Sequence

from core.notation import cell_name
from core.opening_rules import Choice
from core.rules import BLACK, EMPTY, Cell, Colour, Rules, Variant, colour_name
from curriculum.arena import player_names
from gomoku_cli.printable import counted
from gomoku_cli.study.values import percent, proof_text
from gomoku_cli.tui.engine.messages import PlayerChoice
from gomoku_cli.tui.game import Game, has_net
from search.analysis import Analysis, MoveAnalysis
from search.tree.settings import Policy


def line_text(moves: Sequence[Cell], rules: Rules, limit: int = 8) -> str:
    """Return the names of the first `limit` moves of a line."""
    return " ".join(cell_name(move, rules.size) for move in moves[:limit])


def outlook(analysis: Analysis, colour: Colour) -> str:
    """Return the result that an analysis expects for the side to move, `colour`: proven, or as a probability."""
    proof = analysis.moves[0].proof if analysis.moves else None
    return f"{colour_name(colour).capitalize()} {proof_text(proof) or percent(analysis.value)}"


def effort_text(number: int, choice: PlayerChoice, rules: Rules) -> str:
    """Return a player's work in words: `1 node`, `400 simulations`."""
    if choice.spec in player_names.LEVELS:
        by_mentor = player_names.model_of_level(choice.spec, rules) is None
    else:
        by_mentor = choice.spec.startswith(player_names.MENTOR)
    return counted(number, "node" if by_mentor else "simulation")


def thinking_text(choice: PlayerChoice, seconds: float, live: Analysis | None, colour: Colour, rules: Rules) -> str:
    """Return a player's search so far in words: time, work, value and best line."""
    text = f"{choice.spec} is thinking... {seconds:.0f} s"
    if live is not None:
        text += f", {effort_text(live.nodes, choice, rules)}. {outlook(live, colour)}"
        text += f", {line_text(live.variation, rules, 5)}"
    return text


def turn_text(game: Game) -> str:
    """Return whose turn it is while no engine works, after a word on a line that wins nothing here."""
    if not game.is_humans_turn:
        return "Paused. Press enter to go on."
    if game.is_opening:
        left = game.opening.stones - game.ply
        if not left:
            return f"{'Choose your colour' if game.seats.human else f'{game.opening_player} to choose'}: press enter."
        stone = "a black stone" if game.side_to_move == BLACK else "a white stone"
        return f"Place {stone}, {left} to go; then the other side chooses." if left > 1 else f"Place {stone}, the last."
    answered = 2 if game.seats.human else 1  # an engine has answered a human's move before its player reads of it
    if any(game.rules.is_worthless(game.stones, move) for move in game.moves[-answered:]):
        enclosed = "; five between two of the opponent's stones neither" if game.rules.needs_open_end else ""
        longer = f"More than {game.rules.connect} in a row win nothing here{enclosed}."
        only_enclosed = "Five in a row between two of the opponent's stones win nothing here."
        return f"{only_enclosed if game.rules.variant is Variant.CARO else longer} {_turn(game)}"
    return _turn(game)


def choice_text(who: str, choice: Choice) -> str:
    """Return an engine's choice by the opening rule."""
    if choice is Choice.MORE:
        return f"{who} places two stones more and leaves the choice."
    return f"{who} takes {choice.capitalize()}."


def _turn(game: Game) -> str:
    turn = "Your move" if game.seats.human != EMPTY else f"{colour_name(game.side_to_move).capitalize()} to move"
    return f"{turn}, in a variation." if game.is_decided or not game.node.is_main() else f"{turn}."


def reads_limit(spec: str, *, is_time: bool) -> bool:
    """Return False if a player has a limit of its own, which a chosen time or number of simulations does not change."""
    if has_net(spec):
        return player_names.own_simulations(spec)[1] is None
    return is_time and spec.partition(":")[0] in (player_names.MENTOR, player_names.ENGINE)


def settings_text(choice: PlayerChoice) -> str:
    """Return a player and the settings that it reads: limit, policy and tactics of a net, the time of others."""
    if has_net(choice.spec) and (own := player_names.own_simulations(choice.spec)[1]) is not None:
        choice = choice._replace(simulations=own, seconds=None)
    timed = choice.seconds is not None and reads_limit(choice.spec, is_time=True)
    parts = [f"{choice.seconds:g} s a move"] if timed else []
    if has_net(choice.spec):
        if choice.seconds is None and choice.simulations is not None:
            parts.append(counted(choice.simulations, "simulation"))
        stage = f" up to {choice.switch_stage} stones" if choice.policy is Policy.SEMI_STOCHASTIC else ""
        parts.append(f"{choice.policy.value}{stage}")
        if not choice.tactics:
            parts.append("no tactics")
    return f"{choice.spec}: {', '.join(parts)}" if parts else choice.spec


def move_value(move: MoveAnalysis, *, short: bool = False) -> str:
    """Return a candidate's value: a proof, if `short` as `win 7` or `loss 12`, a win probability, or a dash."""
    text = proof_text(move.proof) or ("-" if move.value is None else percent(move.value))
    return text.replace("wins in", "win").replace("loses in", "loss") if short else text
