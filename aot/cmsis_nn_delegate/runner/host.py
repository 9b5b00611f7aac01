"""Runs a .pte on the host, in the real ExecuTorch runtime with the delegate as a shared library."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
import threading
import types
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Optional, Union

import executorch
import numpy as np
import torch

from ..format.element import Element
from ..support.checked import checked
from ..support.errors import UserError
from ..support.finite import require_finite
from .checkout import find_checkout

_COMPILER = "executorch.exir"


@contextlib.contextmanager
def _without_the_compiler() -> Iterator[None]:
    """Lets ExecuTorch's runtime be imported without its compiler, which takes 3 seconds, and of which it uses one
    decorator. Imported later, the compiler is whole."""
    if _COMPILER in sys.modules:
        yield
        return
    package = types.ModuleType(_COMPILER)
    package.__path__ = [os.path.join(folder, "exir") for folder in executorch.__path__]
    sys.modules[_COMPILER] = package
    try:
        yield
    finally:
        for name in [name for name in sys.modules if name == _COMPILER or name.startswith(f"{_COMPILER}.")]:
            del sys.modules[name]


# The bindings come first, because they load libexecutorch.so, in which the delegate's library registers itself.
try:
    with _without_the_compiler():
        from executorch.runtime import Runtime, Verification
except ImportError:  # the runtime of another version, which uses more of it
    from executorch.runtime import Runtime, Verification

LIBRARY_VARIABLE = "CMSISNN_HOST_LIBRARY"
LIBRARY_NAME = "libcmsis_nn_delegate.so"
_BACKEND = "CmsisNnBackend"  # the name of the class, without importing the compiler
_BUILD = "`bazel build //runtime:libcmsis_nn_delegate.so`"

_loaded: Optional[ctypes.CDLL] = None  # registration happens at load time and only works once
_LOADING = threading.Lock()  # while a program is loaded, the states that are new are its own


def find_library(path: Union[str, Path, None] = None) -> Path:
    """Returns `path`, or the file named by CMSISNN_HOST_LIBRARY, or the library that Bazel built in the checkout.

    UserError if the file does not exist.
    """
    for candidate, origin in (
        (path, "the library given"),
        (os.environ.get(LIBRARY_VARIABLE), LIBRARY_VARIABLE),
    ):
        if candidate:
            if not Path(candidate).is_file():
                raise UserError(f"{origin}: {candidate} does not exist; build it with {_BUILD}")
            return Path(candidate)
    checkout = find_checkout()
    built = checkout and checkout / "bazel-bin" / "runtime" / LIBRARY_NAME
    if built and built.is_file():
        return built
    raise UserError(
        f"{LIBRARY_NAME} was not found: build it with {_BUILD} in the project's checkout, "
        f"and give its path with --library or in {LIBRARY_VARIABLE}"
    )


def load_library(path: Union[str, Path, None] = None) -> None:
    """Registers the delegate with ExecuTorch, unless it is already registered.

    UserError if there is no library, or it does not match the installed ExecuTorch.
    """
    global _loaded
    if _BACKEND in Runtime.get().backend_registry.registered_backend_names:
        return
    library = find_library(path)
    try:
        _loaded = ctypes.CDLL(str(library.resolve()))
    except OSError as error:
        raise UserError(f"{library} cannot be loaded: {error}") from error
    if _BACKEND not in Runtime.get().backend_registry.registered_backend_names:
        raise UserError(
            f"{library} did not register {_BACKEND}: it was built against another ExecuTorch; build it again"
        )


class HostProgram:
    """A method of a .pte. Loads the delegate's library if necessary.

    `state` and `set_state` assume that nothing but this class loads programs with the delegate at the same time, in
    another thread of the process. Programs may be destroyed at any time.
    """

    @checked()
    def __init__(
        self, program: Union[str, Path, bytes], library: Union[str, Path, None] = None, method: str = "forward"
    ) -> None:
        load_library(library)
        name = "the program" if isinstance(program, bytes) else str(program)
        try:
            with _LOADING:
                before = _state_count()
                self._program = Runtime.get().load_program(program, verification=Verification.InternalConsistency)
                self._method = self._program.load_method(method)
                self._states = [_state(number) for number in range(before, _state_count())]
            metadata = self._method.metadata
            infos = [metadata.input_tensor_meta(i) for i in range(metadata.num_inputs())]
            self.input_shapes = [tuple(info.sizes()) for info in infos]
            self.input_dtypes = [_NUMPY.get(info.dtype(), str(info.dtype())) for info in infos]
        except Exception as error:  # a damaged program ends in various ones
            raise UserError(f"{name} cannot be loaded: {_reason(error)}", exit_code=1) from error

    @checked()
    def run(self, inputs: Sequence[np.ndarray], channels_last: Sequence[int] = ()) -> list[np.ndarray]:
        """Returns the outputs for one set of inputs, in logical shape and order.

        `channels_last` has the numbers of the inputs that the program was exported with in that
        memory format. UserError for inputs that the program does not take, and for NaN and infinity.
        """
        if len(inputs) != len(self.input_shapes):
            raise UserError(f"the program takes {len(self.input_shapes)} inputs, not {len(inputs)}")
        tensors = []
        for index, array in enumerate(inputs):
            shape, dtype = self.input_shapes[index], self.input_dtypes[index]
            if dtype == "bool" and array.dtype == np.int8:
                array = array.astype(np.bool_)  # as the delegate takes it, which does not read this one
            if array.shape != shape or array.dtype.name != dtype:
                raise UserError(
                    f"input {index} of the program is {dtype}{list(shape)}, not {array.dtype.name}{list(array.shape)}"
                )
            require_finite(array, f"input {index} of the program")
            tensor = torch.from_numpy(np.asarray(array, order="C"))
            if index in channels_last:
                tensor = tensor.contiguous(memory_format=torch.channels_last)
            tensors.append(tensor)
        try:
            outputs = self._method.execute(tensors)
            # The outputs lie in the method's memory, which the next run overwrites.
            return [np.array(output.contiguous().numpy(), copy=True) for output in outputs]
        except Exception as error:
            raise UserError(f"the program failed: {_reason(error)}", exit_code=1) from error

    def state(self) -> bytes:
        """Returns the persistent memory of all delegate calls of the program, in the order of loading; empty if none
        keeps a state."""
        return b"".join(ctypes.string_at(address, nbytes) for address, nbytes in self._states)

    def set_state(self, memory: bytes) -> None:
        """Makes the next run go on from a state that `state` returned. UserError if it has another size."""
        if len(memory) != sum(nbytes for _, nbytes in self._states):
            raise UserError(f"the program's state has {len(self.state()):,} bytes, not {len(memory):,}")
        for address, nbytes in self._states:
            ctypes.memmove(address, memory, nbytes)
            memory = memory[nbytes:]


def _state_count() -> int:
    """Returns how many delegate calls with a state were loaded so far; 0 if that cannot be asked, because others than
    this module have registered the delegate, or the library is an older one."""
    count = getattr(_loaded, "cmsis_nn_delegate_state_count", None)
    return 0 if count is None else int(count())


def _state(number: int) -> tuple[int, int]:
    """Returns the address and the size of the state of a delegate call, by how many were loaded before it."""
    assert _loaded is not None
    find = _loaded.cmsis_nn_delegate_state
    find.restype, nbytes = ctypes.c_void_p, ctypes.c_size_t()
    address = find(ctypes.c_size_t(number), ctypes.byref(nbytes))
    return int(address), nbytes.value


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, RuntimeError) else f"{type(error).__name__}: {error}"


# The scalar types of ExecuTorch (c10::ScalarType) that models here use.
_NUMPY = {e.scalar_type: e.value for e in Element if e.scalar_type is not None} | {11: "bool"}
