"""NAME.sources.txt: what a compiler needs besides NAME.model.cc to build a model as C++ calls, without a build system.

A line is one argument of GCC or Clang: a file, an include folder or a definition. Paths begin with a variable, so that
the list is the same on all machines: the shell replaces `${CMSIS_NN_DELEGATE_DIR}` and the others, and so do make and
envsubst. docs/guides/firmware_gcc.md shows how.

NAME.portable.sources.txt is the same without CMSIS-NN, for the host: portable kernels compute what the compiler gave to
CMSIS-NN. Like NAME.h, both are made from the payload alone.
"""

from __future__ import annotations

from ..format.schema import Isa
from ..ops.kernel import KernelSpec
from ..payload.decode import Payload, decode
from ..providers.provider import Provider
from ..providers.registry import kernels, operator_of
from .c_header import c_identifier
from .cpp_calls import called_functions
from .linking import stand_in, used

# The folder with executorch/runtime/, of which kernels need the header of error codes.
_EXECUTORCH = "${EXECUTORCH_INCLUDE_DIR}"

# Kernels then link no checks of calls, which C++ calls do not need.
_WITHOUT_CHECKS = "CMSIS_NN_DELEGATE_WITHOUT_CHECKS"


def generate_list(name: str, payload: bytes, with_cmsis_nn: bool) -> str:
    """Returns the text of NAME.sources.txt, or of NAME.portable.sources.txt without CMSIS-NN. PayloadError if `payload`
    is not a payload."""
    view = decode(payload)
    linked = [_placed(provider, with_cmsis_nn) for provider in used([view])]
    lines = [f"-D{c_identifier(name).upper()}_SOURCES_CRC32=0x{view.crc32:08x}u", f"-D{_WITHOUT_CHECKS}"]
    roots = dict.fromkeys((Provider.root, *(provider.root for provider in linked)))
    lines += [f'-I"{_variable(root)}"' for root in roots] + [f'-isystem "{_EXECUTORCH}"']
    for library in (provider.library for provider in linked if provider.library):
        lines += [f"-D{library.macro}", f'-isystem "{_variable(library.variable)}/{library.includes}"']
    for file in sorted(_files(view, with_cmsis_nn)):
        lines.append(f'"{file}"')
    return "".join(f"{line}\n" for line in lines)


def _variable(name: str) -> str:
    return f"${{{name}}}"


def _placed(provider: Provider, with_libraries: bool) -> Provider:
    """Returns the provider whose kernels compute the calls for `provider`, in a build with or without libraries."""
    return stand_in(provider) if provider.library and not with_libraries else provider


def _files(view: Payload, with_libraries: bool) -> set[str]:
    """Returns the files that define what a model calls, and what they need."""
    found: set[str] = set()
    for call, (compiled_for, function) in zip(view.calls, called_functions(view), strict=True):
        kernel = kernels()[call.opcode]
        provider = _placed(compiled_for, with_libraries)
        if provider is not compiled_for:
            function = kernel.name
        ours, theirs = files_of(kernel, provider, function, view.isa)
        found.update(f"{_variable(provider.root)}/{file}" for file in ours)
        if provider.library:
            library = provider.library
            found.update(f"{_variable(library.variable)}/{library.sources}/{file}" for file in theirs)
    return found


def files_of(kernel: KernelSpec, provider: Provider, function: str, isa: Isa) -> tuple[list[str], list[str]]:
    """Returns the files that the function of a kernel needs on an instruction set: below the provider's root, the one
    that defines it first, and below its library's folder of sources."""
    symbol = provider.symbol(kernel)
    assert symbol is not None
    part = next((part for part in symbol.functions if part.name == function), None)
    # Assembly that is there for one instruction set alone is named after it.
    others = tuple(f"_{other.name.lower()}.S" for other in Isa if other is not isa)
    helpers = [file.format(isa=isa.name.lower()) for file in (part or symbol).helpers if not file.endswith(others)]
    return [provider.file_of(operator_of(kernel), function), *helpers], list((part or symbol).sources)
