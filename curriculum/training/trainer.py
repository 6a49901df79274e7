"""Gradient descent on samples (A eq. 9). Each net learns only from positions with its own colour to move."""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.optim.swa_utils import update_bn

from core.allocator import keep_freed_memory
from core.compiled.rules import compile_rules, legal_masks
from core.compiled.symmetry import SYMMETRIES
from core.files.json_text import parse_json
from core.input_limits import MAX_REASON, MAX_TRAINING_STATE_BYTES, shortened
from core.rules import Colour
from core.streams import Purpose, generator, stream_key
from curriculum.config import Config, Optimiser, TrainingConfig
from curriculum.training.batches import BatchSource
from curriculum.training.devices import ahead, for_each_net, to_device
from curriculum.training.packed import SampleSet
from curriculum.training.resident import Batch, Resident, bytes_of, on_device, room
from curriculum.training.samples import Samples
from nets.blocks import channels_last
from nets.checkpoint import CheckpointError
from nets.config import note_use
from nets.dispatch import net_colours, rows_of
from nets.dual import DualNet, make_model, zero_heads
from nets.planes import encode
from nets.runtimes.devices import best_device, best_precision
from nets.shapes import tensor_types
from nets.targets import POLICY, VALUE
from nets.tensor_file import NotFiniteError, check_finite, open_tensors, write_tensors
from nets.tensor_types import WEIGHTS, TensorType

_NORM_POSITIONS = 8192
_NORM_BATCH = 1024


Losses = dict[str, float]
"""Means over the samples of some steps, by their names in the metrics: `NAME_loss` of each target of the nets
(`nets.targets`), and `policy_entropy`, of the net's policy."""


class StepError(NotFiniteError):
    """A step of training diverged: its losses, or the weights after it, are not finite. `step` counts from 1."""

    def __init__(self, step: int, rate: float, reason: str) -> None:
        super().__init__(f"step {step} diverged at a learning rate of {rate:g}: {reason}")
        self.step, self.rate, self.reason = step, rate, reason


def cosine_rate(first: float, last: float, done: float) -> float:
    """Return the learning rate after a share `done` (0 to 1) of the work: half a cosine from `first` to `last`."""
    return last + (first - last) * 0.5 * (1.0 + math.cos(math.pi * min(max(done, 0.0), 1.0)))


_SLOTS = {Optimiser.SGD: ("momentum_buffer",), Optimiser.ADAM: ("exp_avg", "exp_avg_sq", "step")}
"""State of an optimiser for each parameter, by torch's names; `step` is a single number."""


class Trainer:
    """A model in training and its optimiser, one state per net."""

    def __init__(self, config: Config, model: DualNet | None = None) -> None:
        """Start from `model`, or from random weights drawn from the configuration's seed."""
        keep_freed_memory()
        self.device = best_device()
        if model is None:
            model = make_model(config.net, config.rules, stream_key(config.seed, Purpose.INITIAL_WEIGHTS))
            if config.training.flat_start:
                zero_heads(model)
        self.model = channels_last(model.to(self.device))
        self.settings: TrainingConfig = config.training
        self._targets = self.model.config.targets
        self._precision = best_precision(self.device)
        gpu = torch.cuda.get_device_name(self.device) if self.device.type == "cuda" else None
        note_use(device=gpu or self.device.type, training_precision=str(self._precision).removeprefix("torch."))
        self._optimisers = {name: self._new_optimiser(net) for name, net in self.model.nets.items()}
        self._slots = _SLOTS[self.settings.optimiser]
        self._resident: WeakKeyDictionary[BatchSource, Resident] = WeakKeyDictionary()

    def batches(
        self,
        samples: SampleSet,
        seed: int,
        *,
        rehearsal: SampleSet | None = None,
        rehearsal_share: float = 0.0,
        all_symmetries: bool = False,
    ) -> BatchSource:
        """Return batches of samples for this model and these settings; see `BatchSource`.

        A GPU keeps the samples in its own memory if they fit.
        """
        source = BatchSource(
            samples,
            Samples.none(self.model.rules.cells) if rehearsal is None else rehearsal,
            rehearsal_share=rehearsal_share,
            batch_size=self.settings.batch_size,
            seed=seed,
            dual=self.model.config.dual,
            all_symmetries=all_symmetries,
        )
        count, space = sum(map(len, source.parts)), room(self.device)
        if space and bytes_of(count, self.model.rules.cells, self._targets) <= space:
            self._resident[source] = Resident(source.parts, self.model.rules.size, self._on_device)
        return source

    def _new_optimiser(self, net: nn.Module) -> torch.optim.Optimizer:
        settings, decay = self.settings, 2.0 * self.settings.l2
        if settings.optimiser is Optimiser.ADAM:
            return torch.optim.Adam(net.parameters(), lr=1.0, weight_decay=decay)
        momentum = settings.momentum
        return torch.optim.SGD(net.parameters(), lr=1.0, momentum=momentum, nesterov=momentum > 0, weight_decay=decay)

    def train(self, source: BatchSource, first_step: int, last_step: int, rates: NDArray[np.float64]) -> Losses:
        """Train from `first_step` to before `last_step`. `rates` [last_step - first_step]: learning rates.

        On a processor the nets of a model learn side by side (`curriculum.training.devices.for_each_net`).

        Raises `StepError` for the first step whose losses are not finite, or for the last one if the weights, the batch
        norms, the optimiser or the nets' answers are not after it.
        """
        self.model.train()

        def steps_of(colour: Colour | None) -> Tensor:
            """Return [steps, losses]: the losses of each step that has a batch."""
            losses: list[Tensor] = []
            batch: Batch | None = None
            makers = self._makers(source, colour, range(first_step, last_step))
            if source not in self._resident:
                makers = ahead(makers, self.device)
            for make, rate in zip(makers, rates, strict=True):
                if make is not None:
                    batch = make()
                    losses.append(self._step(colour, batch, float(rate)))
            if batch is None:  # a colour without samples
                return torch.zeros((0, len(self._targets) + 1), device=self.device)
            found = torch.stack(losses)
            finite = found.isfinite().all(dim=1)
            if not bool(finite.all()):
                first = int(finite.int().argmin())
                raise StepError(first_step + first + 1, float(rates[first]), "its loss is not a finite number")
            try:
                self._check_answers(colour, self._planes(batch))
            except NotFiniteError as error:
                raise StepError(last_step, float(rates[-1]), str(error)) from error
            return found

        parts = for_each_net(steps_of, source.colours, self.device)
        count = sum(len(losses) for losses in parts)
        means = (torch.stack([each.sum(dim=0) for each in parts]).sum(dim=0) / max(count, 1)).tolist()
        names = [*(f"{target.name}_loss" for target in self._targets), "policy_entropy"]
        return dict(zip(names, means, strict=True))

    def _makers(
        self, source: BatchSource, colour: Colour | None, steps: Iterable[int]
    ) -> Iterator[Callable[[], Batch] | None]:
        """Yield for each step the device's part of its batch; None where there is no sample of that colour."""
        resident = self._resident.get(source)
        for step in steps:
            if (draw := source.draw(colour, step)) is None:
                yield None
            elif resident is None:
                yield partial(self._on_device, source.read(draw))
            else:
                yield partial(resident.batch, draw)

    def _check_answers(self, colour: Colour | None, planes: Tensor) -> None:
        """Raise `NotFiniteError` if a net, its optimiser, or the net's answers on planes are not finite.

        Weights that are finite may still be too large to compute with: the games of such a net would fail.
        """
        name = self.model.net_name(colour)
        net = self.model.nets[name]
        state = self._optimisers[name].state
        slots = {
            f"{slot}.{key}": state[parameter][slot]
            for key, parameter in net.named_parameters()
            for slot in self._slots
            if state.get(parameter, {}).get(slot) is not None and slot != "step"
        }
        check_finite(dict(net.state_dict()), f"the {name} net")
        check_finite(slots, f"the optimiser of the {name} net")
        was_training = net.training
        net.eval()
        with torch.no_grad():
            logits, values = net(planes)
        net.train(was_training)
        check_finite({"the policy": logits, "the value": values}, f"the answer of the {name} net")

    def _step(self, colour: Colour | None, batch: Batch, rate: float) -> Tensor:
        """Make a step; return its losses in the order of the targets, and the policy's entropy."""
        name = self.model.net_name(colour)
        optimiser = self._optimisers[name]
        for group in optimiser.param_groups:
            group["lr"] = rate
        net = self.model.net_of(colour)
        planes, targets = self._planes(batch), batch.targets
        # Weights, momentum and losses stay float32; products use the precision that the device multiplies fastest.
        with torch.autocast(self.device.type, self._precision, enabled=self._precision is not torch.float32):
            outputs = {key: output.float() for key, output in net.outputs(planes).items()}
        losses = [target.loss(outputs[target.name], targets[target.name]).mean() for target in self._targets]
        weights = [self.settings.value_weight if target is VALUE else target.weight for target in self._targets]
        # The L2 term is the optimiser's weight decay.
        loss = torch.stack([weight * each for weight, each in zip(weights, losses, strict=True)]).sum()
        optimiser.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        with torch.no_grad():
            log_policy = torch.log_softmax(outputs[POLICY.name], dim=1)
            entropy = -(log_policy.exp() * log_policy).sum(dim=1).mean()
            return torch.stack((*losses, entropy))

    def _on_device(self, samples: Samples) -> Batch:
        """Return samples on the device, their policies smoothed."""
        batch = on_device(samples, self._targets, self.device)
        if not (smoothing := self.settings.label_smoothing):
            return batch
        positions = samples.positions
        masks = legal_masks(compile_rules(self.model.rules), positions.stones, positions.to_move)
        legal = to_device(masks, self.device).float()
        smooth = (1 - smoothing) * batch.targets[POLICY.name] + smoothing * legal / legal.sum(dim=1, keepdim=True)
        return batch._replace(targets={**batch.targets, POLICY.name: smooth})

    def _planes(self, batch: Batch) -> Tensor:
        return encode(*batch[:3], self.model.config.planes, torch.float32)

    def refresh_norms(self, samples: SampleSet, seed: int) -> None:
        """Recompute the batch norms' running statistics on some of the samples, before it is used.

        The running averages lag behind the weights; folded into the convolutions, that lag costs strength. Raises
        `NotFiniteError` if a net or its answers are not finite then.
        """
        for colour in net_colours(self.model.config.dual).values():
            rows = rows_of(samples.to_move, colour)
            if len(rows) < 2:
                continue
            draw = generator(seed, Purpose.SHUFFLE, colour or 0)
            some = samples.rows(rows[draw.permutation(len(rows))[:_NORM_POSITIONS]])
            some = some.transformed(draw.integers(SYMMETRIES, size=len(some)))
            # One batch of a few samples would weigh as much as a full one.
            batches = max(1, len(some) // _NORM_BATCH)
            net = self.model.net_of(colour)
            planes = self._planes(on_device(some, (), self.device))
            update_bn((planes[i::batches] for i in range(batches)), net)
            self._check_answers(colour, planes[:_NORM_BATCH])
        self.model.eval()

    def save(self, path: Path, progress: Mapping[str, Any]) -> None:
        """Write weights, the optimiser's state and `progress` (JSON) to one file, whole or not at all.

        Raises `NotFiniteError`.
        """
        tensors = {f"model.{key}": tensor.detach().cpu() for key, tensor in self.model.state_dict().items()}
        for name, optimiser in self._optimisers.items():
            for key, parameter in self.model.nets[name].named_parameters():
                for slot, tensor in optimiser.state.get(parameter, {}).items():
                    if slot in self._slots and tensor is not None:
                        tensors[f"{slot}.{name}.{key}"] = tensor.cpu()
        contiguous = {key: tensor.contiguous() for key, tensor in tensors.items()}
        write_tensors(path, contiguous, {"progress": json.dumps(dict(progress))})

    def load(self, path: Path, start: Mapping[str, Any]) -> dict[str, Any]:
        """Restore a state that `save` wrote; return its progress, which has the names and types of `start`.

        Raises `CheckpointError` for a state of other nets or a broken one; the trainer is then as before.
        """
        model = {f"model.nets.{name}": kind for name, kind in tensor_types(self.model.config, self.model.rules).items()}
        optional = {
            f"{slot}.{name}.{key}": TensorType(WEIGHTS, () if slot == "step" else tuple(parameter.shape))
            for name, net in self.model.nets.items()
            for key, parameter in net.named_parameters()
            for slot in self._slots
        }
        try:
            with open_tensors(path, MAX_TRAINING_STATE_BYTES) as file:
                progress = _read_progress(file.metadata.get("progress", ""), start)
                file.require(model | {name: kind for name, kind in optional.items() if name in file.types})
                tensors = {name: torch.from_numpy(array) for name, array in file.arrays().items()}
        except (OSError, ValueError) as error:
            reason = shortened(str(error), MAX_REASON)
            raise CheckpointError(f"{path} holds no training state of this run's nets: {reason}") from error
        self.model.load_state_dict({name.removeprefix("model."): tensors[name] for name in model})
        for name, optimiser in self._optimisers.items():
            optimiser.state.clear()
            for key, parameter in self.model.nets[name].named_parameters():
                slots = {slot: tensors.get(f"{slot}.{name}.{key}") for slot in self._slots}
                for slot, tensor in slots.items():
                    if tensor is not None and None not in slots.values():
                        # As torch keeps them: numbers of steps stay on the processor.
                        buffer = tensor.clone() if slot == "step" else torch.empty_like(parameter).copy_(tensor)
                        optimiser.state[parameter][slot] = buffer
        return progress


def _read_progress(text: str, start: Mapping[str, Any]) -> dict[str, Any]:
    """Return the progress of a JSON text. Raises `ValueError` if it lacks a name of `start` or has another type."""
    progress = parse_json(text)
    if not isinstance(progress, dict):
        raise ValueError("its progress is no table")
    for name, first in start.items():
        value = progress.get(name)
        if type(value) is not type(first) or (type(value) is int and value < 0):
            raise ValueError(f"its progress has no valid {name}")
    return progress
