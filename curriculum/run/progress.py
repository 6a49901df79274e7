"""The progress of a run as its state files have it, without torch: what is saved, and where the work goes on."""

from functools import cached_property
from pathlib import Path
from typing import Any

from core.errors import BadDataError
from core.files.atomic import read_bytes
from core.files.json_text import parse_json
from core.input_limits import MAX_JSON_BYTES, MAX_TRAINING_STATE_BYTES
from curriculum.config import Config, Phase
from nets.tensor_file import open_tensors


class Progress:
    """The state files of a run, read when they are first needed. One that cannot be read counts as missing."""

    def __init__(self, run: Path) -> None:
        self._run = run

    def _state(self, name: str) -> dict[str, Any]:
        try:
            value = parse_json(read_bytes(self._run / "state" / f"{name}.json", MAX_JSON_BYTES, pipes=False))
        except (OSError, ValueError, BadDataError):
            return {}
        return value if isinstance(value, dict) else {}

    @cached_property
    def rounds(self) -> int:
        """Rounds of self-play that are over."""
        return _whole(self._state("selfplay"), "iteration")

    @property
    def finished(self) -> list[str]:
        """The phases that are over."""
        return [name for name, is_over in self._state("phases").items() if is_over is True]

    def is_finished(self, phase: str) -> bool:
        """Return True if a phase is over."""
        return phase in self.finished

    def has_begun(self, phase: str) -> bool:
        """Return True if a phase has samples or a training state."""
        samples = {Phase.BASICS: "basics.npz", Phase.IMITATION: "mentor-*.npz", Phase.SELFPLAY: "selfplay-*.npz"}
        found = next((self._run / "replay").glob(samples[Phase(phase)]), None)
        return found is not None or self.is_finished(phase) or bool(self.training(phase))

    def training(self, phase: str) -> dict[str, Any]:
        """Return the progress in the training state of a phase; empty without one."""
        try:
            with open_tensors(self._run / "state" / f"{phase}.safetensors", MAX_TRAINING_STATE_BYTES) as file:
                value = parse_json(file.metadata.get("progress", ""))
        except (OSError, ValueError, BadDataError):
            return {}
        return value if isinstance(value, dict) else {}

    def place(self, config: Config) -> dict[str, Any]:
        """Return the place where the run goes on: `phase`, in self-play `iteration`, and `step` of its training."""
        for phase in config.phases:
            trained = self.training(phase)
            if phase is Phase.SELFPLAY and self.rounds < config.selfplay.iterations:
                in_round = _whole(trained, "iteration") == self.rounds
                step = _whole(trained, "step") if in_round else 0
                return {"phase": str(phase), "iteration": self.rounds, "step": step}
            if phase is not Phase.SELFPLAY and not self.is_finished(phase):
                return {"phase": str(phase), "step": _whole(trained, "step")}
        return {"phase": "evaluation"}

    def has_saved(self, record: dict[str, Any]) -> bool:
        """Return True if the work of a line of metrics is in the files, or if that cannot be known."""
        phase, event = record.get("phase"), record.get("event")
        if phase not in tuple(Phase):
            return event != "match" or phase != "evaluation" or self._has_match(record)
        if phase == Phase.SELFPLAY:
            number = _whole(record, "iteration")
            if event == "games":
                return "file" not in record or (self._run / "replay" / f"{record['file']}.npz").exists()
            if number < self.rounds:
                return True
            if event == "gate":
                return str(number) in self._state("gate")
        elif self.is_finished(phase):
            return True
        trained = self.training(phase)
        if event == "train":
            done = _whole(trained, "iteration"), _whole(trained, "step")
            return bool(trained) and done >= (_whole(record, "iteration"), _whole(record, "step"))
        if event == "measure" and phase == Phase.IMITATION:
            return _whole(trained, "passes") >= _whole(record, "pass")
        return event not in ("measure", "match")  # these end their phase

    def _has_match(self, record: dict[str, Any]) -> bool:
        kept = self._state("matches").get(str(record.get("opponent")))
        return isinstance(kept, dict) and kept.get("games") == record.get("games")


def _whole(values: dict[str, Any], key: str) -> int:
    value = values.get(key)
    return value if type(value) is int and value >= 0 else 0
