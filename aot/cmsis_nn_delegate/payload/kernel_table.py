"""NAME.kernels.h: the table of the kernels that a model calls, so that an image links these and no others.

It is made from the payloads alone, as NAME.h is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..format.cpp import camel
from ..format.opcodes import Opcode
from ..format.schema import ProviderId
from ..ops.kernel import Function
from ..ops.registry import kernels
from .c_header import c_identifier
from .decode import Payload, decode

# The library of CMSIS-NN's kernels defines it for everything that depends on it.
WITH_CMSIS_NN = "CMSIS_NN_DELEGATE_CMSIS_NN"


def generate_kernel_table(name: str, payload: bytes) -> str:
    """Returns the text of NAME.kernels.h, C++17. PayloadError if `payload` is not a payload.

    What the compiler gave to CMSIS-NN is computed by the portable kernels, with the same results, in builds without it.
    """
    view = decode(payload)
    prefix = c_identifier(name).upper()
    check = f"""\
#if {prefix}_CRC32 != 0x{view.crc32:08x}u
#error "{name}.h and {name}.kernels.h are from different compilations: compile the model again"
#endif
"""
    return _table(name, [view], f'#include "{name}.h"\n', check)


def generate_kernel_table_of_parts(name: str, payloads: Sequence[bytes], program_crc32: int) -> str:
    """Returns the text of NAME.kernels.h for NAME.pte, the program with this CRC-32 that has several payloads, or
    operators beside one. ExecuTorch's runtime runs it, with a backend that has the table."""
    return _table(name, [decode(payload) for payload in payloads], "", f"// For the program {program_crc32:08x}.\n")


def _table(name: str, views: Sequence[Payload], header: str, check: str) -> str:
    """Returns the text. `header` includes NAME.h if there is one; `check` compares the payload or names the program."""
    symbol = c_identifier(name)
    providers = providers_of(views)
    narrow = narrow_functions(views, providers)
    places = {ProviderId.CMSIS_NN: f"{symbol}_model::stock", ProviderId.PORTABLE: "portable", ProviderId.TUNED: "tuned"}
    names = "\n".join(
        f"        {places[provider]}::k{camel(_narrowest(opcode, provider, narrow))},"
        for opcode, provider in sorted(providers.items())
    )
    stock, to_join = "namespace stock = cmsis_nn;", {ProviderId.CMSIS_NN: "", ProviderId.TUNED: ""}
    for opcode in narrow:
        provider = providers[opcode]
        to_join[provider] += f"\n    .with({provider.name.lower()}::k{camel(opcode.name)})"
    if to_join[ProviderId.CMSIS_NN]:
        lines = [
            f"inline constexpr const auto& k{camel(opcode.name)} = cmsis_nn::k{camel(function.name)};"
            for opcode, function in narrow.items()
            if providers[opcode] is ProviderId.CMSIS_NN
        ]
        stock = "\n".join(["namespace stock {", "using namespace cmsis_nn;", *lines, "}  // namespace stock"])
    return f"""\
// {name}: the kernels that it calls, for CmsisNnBackend. Generated; do not edit.
#pragma once

{header}#include "runtime/kernels/portable/portable.h"
#include "runtime/kernels/tuned/tuned.h"
#include "runtime/payload/kernel.h"
#ifdef {WITH_CMSIS_NN}
#include "runtime/kernels/cmsis_nn/cmsis_nn.h"
#endif

{check}
namespace cmsis_nn_delegate {{
namespace {symbol}_model {{
#ifdef {WITH_CMSIS_NN}
{stock}
inline constexpr const Provider& kProvider = tuned::kProviderWithCmsisNn;
#else
namespace stock = portable;
inline constexpr const Provider& kProvider = tuned::kProvider;
#endif
}}  // namespace {symbol}_model

/// For an image with this model alone.
inline constexpr KernelTable {symbol}_kernels = {{
    {symbol}_model::kProvider,
    {{
{names}
    }},
}};

/// For an image with several models: `joined` makes one table of theirs. Its kernels compute calls of all sizes.
#ifdef {WITH_CMSIS_NN}
inline constexpr KernelTable {symbol}_kernels_to_join = {symbol}_kernels{"".join(to_join.values())};
#else
inline constexpr KernelTable {symbol}_kernels_to_join = {symbol}_kernels{to_join[ProviderId.TUNED]};
#endif

}}  // namespace cmsis_nn_delegate
"""


def providers_of(views: Sequence[Payload]) -> dict[Opcode, ProviderId]:
    """Returns whose kernel an image has for each opcode: a portable kernel also computes what was compiled for
    CMSIS-NN, but not the other way round."""
    providers: dict[Opcode, ProviderId] = {}
    for call in (call for view in views for call in view.calls):
        providers[call.opcode] = min(call.provider, providers.get(call.opcode, call.provider))
    return providers


def narrow_functions(views: Sequence[Payload], providers: Mapping[Opcode, ProviderId]) -> dict[Opcode, Function]:
    """Returns, by opcode, the one function behind a wrapper of CMSIS-NN, or part of a tuned kernel, that computes all
    calls. `providers` are those whose kernels the image has."""
    found: dict[Opcode, set[Function | None]] = {}
    for view in views:
        for call in view.calls:
            found.setdefault(call.opcode, set()).add(kernels()[call.opcode].function_for(call.args, view.isa))
    return {
        opcode: function
        for opcode, functions in found.items()
        if len(functions) == 1 and providers[opcode] is not ProviderId.PORTABLE
        for function in functions
        if function
    }


def _narrowest(opcode: Opcode, provider: ProviderId, narrow: Mapping[Opcode, Function]) -> str:
    """Returns the name of the kernel to list. CMSIS-NN's have the same names in all builds."""
    return narrow[opcode].name if provider is ProviderId.TUNED and opcode in narrow else opcode.name
