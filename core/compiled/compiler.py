"""Compilation of kernels: each one with all that it calls, optimised once.

numba optimises each function on its own and translates it to machine code, then again within each of its callers and
their callers, and makes another version of it for every combination of integer types and of literals. Most of the time
of a first start went there. Here a kernel that is called by a kernel

- has one version for all integers of up to 64 bits,
- stays in the compiler's own language until the outermost kernel, the one that Python calls, is optimised and
  translated together with all that it calls.

The outermost kernels alone are kept in the cache.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import llvmlite.binding as llvm  # type: ignore[import-untyped]
from numba.core import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher, cpu_target

_types: Any = types
_Dispatcher: Any = CPUDispatcher
_Library: Any = JITCodeLibrary
_lock: Any = global_compiler_lock


_known: list[str] = []


def name_of(function: Callable[..., Any]) -> str:
    """Return the name of a kernel's function."""
    return f"{function.__module__}.{function.__qualname__}"


def known_kernels() -> int:
    """Return the number of kernels in all modules that this process has imported so far."""
    return len(_known)


class Kernel(_Dispatcher):  # type: ignore[misc]
    """A function that Python calls as a kernel on its own, and other kernels as a part of them."""

    def __init__(
        self, py_func: Callable[..., Any], locals: Any = None, targetoptions: dict[str, Any] | None = None
    ) -> None:
        """`targetoptions`: numba's options, such as `nogil`. The names of the arguments are those of numba."""
        options = {"nopython": True, "no_cfunc_wrapper": True} | (targetoptions or {})
        super().__init__(py_func, locals, options)
        self._part = _Part(py_func, locals, options | {"no_cpython_wrapper": True})
        _known.append(name_of(py_func))

    def compile(self, signature: Any) -> Any:
        """Compile the kernel for a signature, or load it from the cache."""
        with _lock, _late_libraries():
            return super().compile(signature)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Return the type of a call by another kernel."""
        return self._part.get_call_template(args, kws)

    def get_overload(self, signature: Any) -> Any:
        """Return the function that another kernel calls."""
        return self._part.get_overload(signature)


class _Part(_Dispatcher):  # type: ignore[misc]
    """A kernel as others call it."""

    def get_call_template(self, args: Any, kws: Any) -> Any:
        _, args = self._compiler.fold_argument_types(args, kws)
        return super().get_call_template(tuple(map(_widened, args)), {})


def _widened(kind: Any) -> Any:
    """Return int64 for the types of smaller integers and of literal integers, else the same type."""
    if isinstance(kind, _types.Literal):
        kind = kind.literal_type
    if isinstance(kind, _types.Integer) and kind.bitwidth < _types.int64.bitwidth:
        return _types.int64
    return kind


@contextmanager
def _late_libraries() -> Iterator[None]:
    """Let all functions compiled in this context stay in the compiler's language for as long as they can."""
    codegen: Any = cpu_target.target_context.codegen()
    usual = codegen._library_class
    codegen._library_class = _LateLibrary
    try:
        yield
    finally:
        codegen._library_class = usual


class _LateLibrary(_Library):  # type: ignore[misc]
    """The code of a function, which becomes machine code only when Python needs its address."""

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
        self._environments: list[tuple[str, Any]] = []
        """Python objects of the function, by the names of the pointers to them."""
        self._for_callers: Any = None

    @property
    def codegen(self) -> Any:
        """Its users set environments, which have no address yet."""
        return self._codegen if self._finalized else self

    def set_env(self, name: str, environment: Any) -> None:
        """Keep an environment until there is an address for it."""
        self._environments.append((name, environment))

    def add_linking_library(self, library: Any) -> None:
        """Note a function that this one calls."""
        if not isinstance(library, _LateLibrary):
            library._ensure_finalized()
        self._linking_libraries.append(library)

    def add_llvm_module(self, module: Any) -> None:
        """Add code as it is: it is optimised with that of the outermost function."""
        module.data_layout = self._codegen._data_layout
        self._final_module.link_in(module)

    def get_pointer_to_function(self, name: str) -> int:
        """Return the address of a function; 0 if there is none by this name, as for one without a wrapper."""
        if not self._finalized and name not in {function.name for function in self.get_own_functions()}:
            return 0
        address: int = super().get_pointer_to_function(name)
        return address

    def get_own_functions(self) -> Iterator[Any]:
        """Yield the functions with a body that this library holds now."""
        return (function for function in self._final_module.functions if not function.is_declaration)

    def finalize(self) -> None:
        """Optimise and translate the function with all that it calls."""
        called = self._all_called()
        self._linking_libraries[:] = called
        super().finalize()
        for library in (*called, self):
            for name, environment in getattr(library, "_environments", ()):
                if self._codegen._engine.get_global_value_address(name):
                    self._codegen.set_env(name, environment)

    def _all_called(self) -> list[Any]:
        """Return the libraries of all functions that this one calls, directly or not."""
        called: dict[Any, None] = {}
        pending = list(self._linking_libraries)
        while pending:
            library = pending.pop()
            if library not in called:
                called[library] = None
                if not library._finalized:
                    pending += library._linking_libraries
        return list(called)

    def _get_module_for_linking(self) -> Any:
        """Return code for the caller, which need not keep it."""
        if self._finalized:
            return super()._get_module_for_linking()
        if self._for_callers is None:
            self._for_callers = self._final_module.clone()
            for function in self._for_callers.functions:
                if not function.is_declaration and function.linkage == llvm.Linkage.external:
                    function.linkage = "linkonce_odr"
        return self._for_callers
