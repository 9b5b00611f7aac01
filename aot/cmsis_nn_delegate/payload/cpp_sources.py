"""NAME.sources.txt: what a compiler needs besides NAME.model.cc to build a model as C++ calls, without a build system.

A line is one argument of GCC or Clang: a file, an include folder or a definition. Paths begin with a variable, so that
the list is the same on all machines: the shell replaces `${CMSIS_NN_DELEGATE_DIR}` and the others, and so do make and
envsubst. docs/guides/firmware_gcc.md shows how.

NAME.portable.sources.txt is the same without CMSIS-NN, for the host: portable kernels compute what the compiler gave to
CMSIS-NN. Like NAME.h, both are made from the payload alone.
"""

from __future__ import annotations

from ..format.schema import Isa, ProviderId
from ..ops.kernel import KernelSpec
from ..ops.providers.registry import PROVIDERS
from ..ops.registry import kernels
from .c_header import c_identifier
from .cpp_calls import called_functions, uses
from .decode import Payload, decode
from .kernel_table import WITH_CMSIS_NN

# A checkout of this repository.
_DELEGATE = "${CMSIS_NN_DELEGATE_DIR}"
# A checkout of CMSIS-NN.
_CMSIS_NN = "${CMSIS_NN_DIR}"
# The folder with executorch/runtime/, of which kernels need the header of error codes.
_EXECUTORCH = "${EXECUTORCH_INCLUDE_DIR}"

# Kernels then link no checks of calls, which C++ calls do not need.
_WITHOUT_CHECKS = "CMSIS_NN_DELEGATE_WITHOUT_CHECKS"

_FOLDERS = {provider.id: provider.namespace for provider in PROVIDERS.values()}
_ROWS = ("portable/broadcast.cc",)
_PLANES = ("tuned/channel_planes_{isa}.S",)
_PAIRS = ("tuned/pair_products_{isa}.S",)
# What a file in runtime/kernels needs besides itself, by the name of the function that it defines. Files of inner loops
# are there for some instruction sets, those of _ISAS.
_HELPERS = {
    "add_broadcast": _ROWS,
    "div": _ROWS,
    "maximum": _ROWS,
    "minimum": _ROWS,
    "mul_broadcast": _ROWS,
    "add_linear": ("tuned/add_linear_{isa}.S",),
    "conv2d_pairs": _PAIRS,
    "conv2d_pairs_any": _PAIRS,
    "conv2d_vectors": ("tuned/vector_products_{isa}.S",),
    "conv2d_winograd": ("tuned/winograd_{isa}.S",),
    "depthwise_conv2d_planes": _PLANES,
    "depthwise_conv2d_planes_stride1": _PLANES,
    "depthwise_conv2d_planes_stride2": _PLANES,
    "depthwise_conv2d_rows": ("tuned/channel_rows_{isa}.S",),
    "depthwise_conv2d_vectors": ("tuned/channel_vectors_{isa}.S", "tuned/vector_products_{isa}.S"),
    "fully_connected_pairs": ("tuned/row_products_{isa}.S",),
}


def generate_list(name: str, payload: bytes, with_cmsis_nn: bool) -> str:
    """Returns the text of NAME.sources.txt, or of NAME.portable.sources.txt without CMSIS-NN. PayloadError if `payload`
    is not a payload."""
    view = decode(payload)
    with_cmsis_nn = with_cmsis_nn and uses(view, ProviderId.CMSIS_NN)
    lines = [f"-D{c_identifier(name).upper()}_SOURCES_CRC32=0x{view.crc32:08x}u", f"-D{_WITHOUT_CHECKS}"]
    lines += [f'-I"{_DELEGATE}"', f'-isystem "{_EXECUTORCH}"']
    if with_cmsis_nn:
        lines += [f"-D{WITH_CMSIS_NN}", f'-isystem "{_CMSIS_NN}/Include"']
    for file in sorted(_files(view, with_cmsis_nn)):
        lines.append(f'"{file}"')
    return "".join(f"{line}\n" for line in lines)


def _files(view: Payload, with_cmsis_nn: bool) -> set[str]:
    """Returns the files that define what a model calls, and what they need."""
    found: set[str] = set()
    for call, (provider, function) in zip(view.calls, called_functions(view), strict=True):
        kernel = kernels()[call.opcode]
        if provider is ProviderId.CMSIS_NN and not with_cmsis_nn:
            provider, function = ProviderId.PORTABLE, kernel.name
        ours, theirs = files_of(kernel, provider, function, view.isa)
        found.update(f"{_DELEGATE}/runtime/kernels/{file}" for file in ours)
        found.update(f"{_CMSIS_NN}/Source/{file}" for file in theirs)
    return found


def files_of(kernel: KernelSpec, provider: ProviderId, function: str, isa: Isa) -> tuple[list[str], list[str]]:
    """Returns the files that the function of a kernel needs on an instruction set: in runtime/kernels, the one that
    defines it first, and in CMSIS-NN's Source/."""
    folder = _FOLDERS[provider]
    helpers = [file.format(isa=isa.name.lower()) for file in _HELPERS.get(function, ())]
    ours = [f"{folder}/{function}.cc"]
    ours += [file for file in helpers if provider is ProviderId.TUNED or not file.startswith("tuned/")]
    if provider is not ProviderId.CMSIS_NN:
        return ours, []
    own = {part.name: part.cmsis_nn_sources for part in kernel.functions}
    return ours, list(own.get(function) or kernel.cmsis_nn_sources)
