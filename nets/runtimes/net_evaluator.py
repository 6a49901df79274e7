"""Serves a model's judgements to a search."""

import threading
import warnings
from functools import partial

import torch

from nets.config import Backend, Precision, RuntimeChoice, RuntimeNotice, default_runtime
from nets.dual import DualNet
from nets.runtimes.devices import best_device
from nets.runtimes.inference import version_of
from nets.runtimes.runtime import Runtime, RuntimeUnavailableError
from nets.runtimes.serving import RuntimeEvaluator
from nets.runtimes.torch_cpu import TorchRuntime


class NetEvaluator(RuntimeEvaluator):
    """Judges positions with a model; satisfies `core.evaluation.Evaluator`.

    The model is copied: training it further changes nothing here.
    """

    def __init__(
        self,
        model: DualNet,
        choice: RuntimeChoice | None = None,
        *,
        device: torch.device | None = None,
        repeatable: bool = False,
    ) -> None:
        """Runs the nets as `choice` says, or as was chosen for the whole process (`nets.config.set_runtime`).

        `repeatable`: see `nets.runtimes.batching.Batcher`.
        """
        runtime = open_runtime(model, choice or default_runtime(), device or best_device())
        super().__init__(
            runtime,
            model.config,
            model.rules.cells,
            version_of(model, runtime.backend, runtime.precision),
            repeatable=repeatable,
            on_thread=partial(_use_one_core, torch.get_num_threads()),
        )


def open_runtime(model: DualNet, choice: RuntimeChoice, device: torch.device) -> Runtime:
    """The runtime that was chosen for the model, or torch, with a `RuntimeNotice`, where it cannot be had.

    Raises `RuntimeUnavailableError` for a precision that nothing here computes with.
    """
    if device.type == "cuda" and choice.backend in (Backend.AUTO, Backend.TORCH):
        from nets.runtimes.cuda import CudaRuntime

        return CudaRuntime(model, choice.precision, device)
    if choice.precision is Precision.FP16:
        raise RuntimeUnavailableError("precision fp16 is for GPUs; a CPU computes in bf16 or fp32")
    try:
        if choice.backend in (Backend.AUTO, Backend.OPENVINO):
            from nets.runtimes.conversion import converted
            from nets.runtimes.openvino import OpenVino, OpenVinoRuntime

            openvino = OpenVino(choice.precision)
            return OpenVinoRuntime(openvino, converted(model, openvino), model.rules.cells)
        if choice.backend is Backend.ONNXRUNTIME:
            from nets.runtimes.onnx import OnnxRuntime

            return OnnxRuntime(model, choice.precision)
    except RuntimeUnavailableError as error:
        warnings.warn(f"{error}; the nets run on torch, which is slower", RuntimeNotice, stacklevel=3)
    return TorchRuntime(model, choice.precision)


def _use_one_core(others: int) -> None:
    """Has torch compute on this thread alone: threads that share a small batch wait for each other, and spin.

    What torch is told on one thread holds for it and for all that have not asked yet; so this one asks first, and
    `others`, the number that was in force before, is then told again on a thread that ends.
    """
    torch.get_num_threads()
    torch.set_num_threads(1)
    restore = threading.Thread(target=torch.set_num_threads, args=(others,))
    restore.start()
    restore.join()
