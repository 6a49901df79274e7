"""Files that a diverged training left in a run: older versions saved numbers that are not finite.

They hold nothing that can be used, and the last good model of the run takes their place.
"""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

from core.errors import BadDataError
from core.files.atomic import atomic_path, atomic_write_text
from core.input_limits import MAX_TRAINING_STATE_BYTES
from curriculum.config import Phase
from curriculum.run.progress import Progress
from nets.tensor_file import NumbersNotFiniteError, open_tensors


def remove_diverged(path: Path) -> list[str]:
    """Remove the states and models of the run in `path` whose numbers are not finite; return remarks for its user.

    A phase whose model is removed is not over any more. The best model is replaced by the last good one, if there is
    one. After that the samples of such nets are removed too.
    """
    if not any(_is_broken(file) for file in _tensor_files(path) if not file.name.startswith("selfplay-")):
        return []
    # Imported here, since readers of runs start without numba.
    from curriculum.training.archives import NO_SAMPLE
    from curriculum.training.files import SamplesError, read_samples

    broken = [file for file in _tensor_files(path) if _is_broken(file)]
    best = path / "models" / "best.safetensors"
    names = [str(file.relative_to(path)) for file in broken]
    remarks = [f"{', '.join(names)} held numbers that are not finite, of a diverged training: removed"]
    for file in broken:
        file.unlink()
    unfinished = {each for each in Phase if f"models/{each}.safetensors" in names}
    phases = Progress(path).finished
    if unfinished & set(phases):
        kept = {name: True for name in phases if name not in unfinished}
        atomic_write_text(path / "state" / "phases.json", json.dumps(kept, indent=2) + "\n")
    if best in broken:
        good = next(_good_models(path), None)
        if good is not None:
            with atomic_path(best) as temporary:
                shutil.copyfile(good, temporary)
            remarks.append(f"the best model is {good.relative_to(path)} again")
        else:
            remarks.append("no model of the run is left: it starts anew from its samples")
    for samples in sorted((path / "replay").glob("selfplay-*.npz")):
        try:
            read_samples(samples)
        except SamplesError as error:
            if NO_SAMPLE not in str(error):
                continue  # damaged in another way: its reader names it
            samples.unlink()
            remarks.append(f"{samples.relative_to(path)} held values that are not finite: removed")
    return remarks


def _tensor_files(path: Path) -> Iterator[Path]:
    for folder in ("state", "models"):
        yield from sorted((path / folder).glob("*.safetensors"))


def _is_broken(path: Path) -> bool:
    try:
        with open_tensors(path, MAX_TRAINING_STATE_BYTES) as file:
            file.arrays()
    except NumbersNotFiniteError:
        return True
    except (OSError, ValueError, BadDataError):
        return False  # its reader names it
    return False


def _good_models(path: Path) -> Iterator[Path]:
    """Yield the models that were the best one, the newest first."""
    models = path / "models"
    yield from sorted(models.glob("selfplay-*.safetensors"), reverse=True)
    yield from (file for phase in ("imitation", "basics") if (file := models / f"{phase}.safetensors").exists())
