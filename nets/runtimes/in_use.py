"""What computes in this process: its device, its runtime and their precisions. Needs no torch."""

_in_use: dict[str, str] = {}


def note_use(**names: str) -> None:
    """Note `device` and `training_precision`, or `backend` and `precision`, when they begin; the last ones count."""
    _in_use.update(names)


def in_use() -> dict[str, str]:
    """Return what computes in this process, as far as it has begun."""
    return dict(_in_use)
