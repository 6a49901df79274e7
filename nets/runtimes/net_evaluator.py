"""`NetEvaluator`: the evaluator of a model in memory; it picks and builds the runtime, with torch."""

import copy
import warnings
from functools import partial

import torch

from nets.config import Backend, Precision, RuntimeChoice, RuntimeNotice, default_runtime
from nets.dual import DualNet
from nets.runtimes.devices import best_device, use_threads
from nets.runtimes.inference import version_of
from nets.runtimes.lines import LineRuntime
from nets.runtimes.runtime import Reloads, Runtime, RuntimeUnavailableError
from nets.runtimes.runtime_evaluator import RuntimeEvaluator
from nets.runtimes.torch_cpu import TorchRuntime


class NetEvaluator(RuntimeEvaluator):
    """Evaluates positions with a copy of a model: further training of the model changes nothing here."""

    def __init__(
        self,
        model: DualNet,
        choice: RuntimeChoice | None = None,
        *,
        device: torch.device | None = None,
        repeatable: bool = False,
        helped: bool = True,
    ) -> None:
        """`choice` selects the runtime; by default the choice for the whole process (`nets.config.set_runtime`).

        `repeatable`, `helped`: see `nets.runtimes.batching.Batcher`.
        """
        choice = choice or default_runtime()
        runtime = open_runtime(model, choice, device or best_device(choice.device))
        super().__init__(
            runtime,
            model.config,
            model.rules.cells,
            _version(model, runtime),
            repeatable=repeatable,
            helped=helped,
            on_thread=partial(use_threads, 1, torch.get_num_threads()),
        )

    @property
    def reloads(self) -> bool:
        """True if newer weights go into this evaluator with `load`; else they need an evaluator of their own."""
        return isinstance(self.runtime, Reloads)

    def load(self, model: DualNet) -> None:
        """Go on with the weights of a model of the same kind; nothing may be in flight."""
        assert isinstance(self.runtime, Reloads)
        self.runtime.load(model)
        self.version = _version(model, self.runtime)


def _version(model: DualNet, runtime: Runtime) -> int:
    if isinstance(runtime, LineRuntime):
        return runtime.version
    return version_of(model, runtime.backend, runtime.precision)


def open_runtime(model: DualNet, choice: RuntimeChoice, device: torch.device) -> Runtime:
    """Return the chosen runtime for the model, or torch and a `RuntimeNotice` if it is not available.

    Raises `RuntimeUnavailableError` for a precision that no runtime here has.
    """
    on_gpu = device.type == "cuda" and choice.backend in (Backend.AUTO, Backend.TORCH)
    if choice.runs_in_kernels(model.config):
        # On a processor with many cores they are faster than a GPU, which these nets cannot fill.
        arrays = {
            name.removeprefix("nets."): tensor.detach().cpu().numpy() for name, tensor in model.state_dict().items()
        }
        return LineRuntime(model.config, model.rules, arrays)
    if choice.precision is Precision.INT16:
        raise RuntimeUnavailableError("precision int16 is for line-pattern nets on numba")
    if on_gpu:
        from nets.runtimes.cuda import CudaRuntime

        return CudaRuntime(model, choice.precision, device)
    model = copy.deepcopy(model).cpu()  # it may be in training on a GPU
    if choice.precision is Precision.FP16:
        raise RuntimeUnavailableError("precision fp16 is for GPUs; a CPU computes in bf16 or fp32")
    try:
        if choice.backend is Backend.NUMBA:
            raise RuntimeUnavailableError("numba runs line-pattern nets alone")
        if choice.backend is not Backend.TORCH and model.config.has_lines:
            raise RuntimeUnavailableError(f"{choice.backend} does not run line-pattern nets")
        if choice.backend in (Backend.AUTO, Backend.OPENVINO):
            from nets.runtimes.conversion import converted
            from nets.runtimes.openvino import OpenVino, OpenVinoRuntime

            openvino = OpenVino(choice.precision)
            return OpenVinoRuntime(openvino, converted(model, openvino), model.config.planes)
    except RuntimeUnavailableError as error:
        warnings.warn(f"{error}; the nets run on torch, which is slower", RuntimeNotice, stacklevel=3)
    return TorchRuntime(model, Precision.FP32 if model.config.has_lines else choice.precision)
