"""Values and proofs in words, as screens, reports and files write them."""


def win_probability(value: float) -> float:
    """Return the probability to win, 0 to 1, that belongs to a value of -1 to 1; a draw counts as half a win."""
    return (1 + value) / 2


def percent(value: float) -> str:
    """Return the win probability of a value: `62 %`."""
    return f"{100 * win_probability(value):.0f} %"


def proof_text(proof: int | None) -> str:
    """Return a proven result in words: `wins in 7`, `loses in 4`; 0 is a draw. Nothing without a proof."""
    if proof is None:
        return ""
    return f"wins in {proof}" if proof > 0 else f"loses in {-proof}" if proof < 0 else "draws"
