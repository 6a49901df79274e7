"""The runtime of OpenVINO, the fastest for these nets on x86 processors. With saved graphs it needs no torch."""

import importlib
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.cores import cores
from core.evaluation import write_planes
from nets.config import COLOUR_PLANES, LAST_MOVES, PLANE_COUNT, Backend, Planes, Precision
from nets.runtimes.runtime import Piece, RuntimeUnavailableError, SizedNets
from nets.tuning import Tuning, kept_tuning

_SIZES = (1, 2, 4, 8, 24, 64, 128, 256, 512)
"""Compiled batch sizes: fixed shapes run up to twice as fast as free ones. `nets.tuning` knows the largest."""
_ONE_BF16 = np.uint16(0x3F80)
"""The bits of 1 in bfloat16."""


@contextmanager
def unavailable_where_it_fails() -> Iterator[None]:
    """Turn OpenVINO's own errors, which have many lines, into `RuntimeUnavailableError`."""
    try:
        yield
    except RuntimeUnavailableError:
        raise
    except RuntimeError as error:
        first_line = str(error).strip().splitlines()[0]
        raise RuntimeUnavailableError(f"OpenVINO fails here ({first_line})") from error


_CORES: list[Any] = []
_MAKING_THE_CORE = threading.Lock()


def _core_of(module: Any) -> Any:
    """Return the one core of this process, which is never destroyed.

    Each core sets the stack on which its thread handles signals, and unmaps it at its end. If two cores end in the
    order in which they were made, the stack that stays set is unmapped, and the next signal kills the process.
    """
    with _MAKING_THE_CORE:
        if not _CORES:
            _CORES.append(module.Core())
        return _CORES[0]


class OpenVino:
    """The OpenVINO library on this processor, with a precision."""

    def __init__(self, precision: Precision) -> None:
        """Raises `RuntimeUnavailableError`."""
        # On import OpenVINO's conversion tools report to their makers over the network, if this package is installed.
        sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]  # None is how an import is refused
        try:
            self.module: Any = importlib.import_module("openvino")
        except (ImportError, OSError) as error:
            raise RuntimeUnavailableError(f"OpenVINO cannot be used ({error})") from error
        with unavailable_where_it_fails():
            self.core: Any = _core_of(self.module)
            native = "BF16" in self.core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")
        if precision is Precision.AUTO:
            precision = Precision.BF16 if native else Precision.FP32
        elif precision is Precision.BF16 and not native:
            raise RuntimeUnavailableError("OpenVINO computes in fp32 on this processor, not in bf16")
        self.precision = precision
        """bf16 or fp32."""
        self.hint = "bf16" if precision is Precision.BF16 else "f32"
        """The precision in OpenVINO's words."""

    def with_input(self, graph: Any) -> Any:
        """Return a graph whose input, float32 until now, has the number format that it is fast with.

        Raises `RuntimeUnavailableError`.
        """
        if self.precision is not Precision.BF16:
            return graph
        with unavailable_where_it_fails():
            steps = self.module.preprocess.PrePostProcessor(graph)
            steps.input(0).tensor().set_element_type(self.module.Type.bf16)
            return steps.build()

    def written(self, graph: Any) -> tuple[str, NDArray[np.uint8]]:
        """Return a graph as XML and the bytes of its weights. Raises `RuntimeUnavailableError`."""
        with unavailable_where_it_fails(), tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "graph.xml"
            self.module.serialize(graph, path)
            weights = np.fromfile(path.with_suffix(".bin"), dtype=np.uint8)
            return path.read_text(encoding="utf-8"), weights

    def read(self, xml: str, weights: NDArray[np.uint8]) -> Any:
        """Return the graph of an XML and weights from `written`. Raises `RuntimeUnavailableError`."""
        with unavailable_where_it_fails():
            return self.core.read_model(xml.encode(), self.module.Tensor(weights))

    def compiled(self, graph: Any, size: int, **options: object) -> Any:
        """Return a graph compiled for batches of `size` and one core, with more options of OpenVINO's."""
        sized = graph.clone()
        sized.reshape({index: [size, *list(each.partial_shape)[1:]] for index, each in enumerate(graph.inputs)})
        return self.core.compile_model(
            sized,
            "CPU",
            {
                # A graph of one stream on one core runs on the calling thread, without a hand-over to another and back.
                "NUM_STREAMS": 1,
                "INFERENCE_NUM_THREADS": 1,
                "INFERENCE_PRECISION_HINT": self.hint,
                "ENABLE_CPU_PINNING": False,
                **options,
            },
        )


class _Request:
    """A `SizedNet`: an inference request whose arrays OpenVINO shares."""

    def __init__(self, openvino: OpenVino, compiled: Any, planes: Planes) -> None:
        self._request = compiled.create_infer_request()
        shape = list(compiled.input(0).shape)
        size, side, _, channels = shape
        self._kinds = (LAST_MOVES[planes], COLOUR_PLANES[planes], channels // PLANE_COUNT[planes])
        kind = openvino.module.Type.f32
        self._one: np.uint16 | np.float32 = np.float32(1)
        if openvino.precision is Precision.BF16:
            kind, self._one = openvino.module.Type.bf16, _ONE_BF16
        self._planes = np.zeros((size, side * side, channels), self._one.dtype)
        self._request.set_input_tensor(openvino.module.Tensor(self._planes, shape, kind))
        self.logits, self.values = (tensor.data for tensor in self._request.output_tensors)

    def put(self, first: int, piece: Piece) -> None:
        """See `SizedNet`."""
        rows, positions, _, _ = piece
        write_planes(
            positions.stones, positions.to_move, positions.last_moves, rows, self._planes, first, self._kinds, self._one
        )

    def run(self) -> None:
        """See `SizedNet`."""
        self._request.infer(share_outputs=True)  # else it would return copies of them


class OpenVinoRuntime:
    """OpenVINO with each net as a graph, compiled so that every thread runs it on one core."""

    backend = Backend.OPENVINO
    any_thread = True
    large_batches = False

    def __init__(
        self, openvino: OpenVino, graphs: Mapping[str, Any], planes: Planes, tuning: Tuning | None = None
    ) -> None:
        """`graphs`: of each net, in `openvino`'s precision. `tuning`: by default that of this machine.

        Raises `RuntimeUnavailableError`.
        """
        self._openvino, self._graphs, self._planes = openvino, graphs, planes
        self.precision = openvino.precision
        self.version = str(openvino.module.__version__)
        """Of OpenVINO."""
        self.nets = tuple(graphs)
        """Names of the nets."""
        self.cells = list(graphs[self.nets[0]].input(0).partial_shape)[1].get_length() ** 2
        tuning = tuning or kept_tuning(self.version, self.precision) or Tuning()
        self.sizes: tuple[int, ...] = tuple(size for size in _SIZES if size <= tuning.largest_batch)
        self.lanes = self.threads = tuning.threads or cores()
        self.free_cores = 1
        self._sized = SizedNets(self._make, self.sizes)
        with unavailable_where_it_fails():
            self._sized.make(self.nets[0], 1)

    def tuned(self, tuning: Tuning) -> "OpenVinoRuntime":
        """Return a runtime of the same nets with another largest batch and number of threads."""
        return OpenVinoRuntime(self._openvino, self._graphs, self._planes, tuning)

    def _make(self, net: str, size: int) -> _Request:
        return _Request(self._openvino, self._openvino.compiled(self._graphs[net], size), self._planes)

    def evaluate(self, net: str, pieces: Sequence[Piece]) -> None:
        """See `Runtime`."""
        self._sized.evaluate(net, pieces)
