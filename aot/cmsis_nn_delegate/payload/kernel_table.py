"""NAME.kernels.h: the table of the kernels that a payload calls, so that an image links these and no others.

It is made from the payload alone, as NAME.h is.
"""

from __future__ import annotations

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
    symbol = c_identifier(name)
    prefix = symbol.upper()
    # A portable kernel also computes what was compiled for CMSIS-NN, but not the other way round.
    providers: dict[Opcode, ProviderId] = {}
    for call in view.calls:
        providers[call.opcode] = min(call.provider, providers.get(call.opcode, call.provider))
    places = {ProviderId.CMSIS_NN: f"{symbol}_model::stock", ProviderId.PORTABLE: "portable", ProviderId.TUNED: "tuned"}
    names = "\n".join(
        f"        {places[provider]}::k{camel(opcode.name)}," for opcode, provider in sorted(providers.items())
    )
    narrow = {
        opcode: function for opcode, function in _narrow(view).items() if providers[opcode] is ProviderId.CMSIS_NN
    }
    stock, to_join = "namespace stock = cmsis_nn;", f"{symbol}_kernels"
    if narrow:
        lines = [
            f"inline constexpr const auto& k{camel(opcode.name)} = cmsis_nn::k{camel(function.name)};"
            for opcode, function in narrow.items()
        ]
        stock = "\n".join(["namespace stock {", "using namespace cmsis_nn;", *lines, "}  // namespace stock"])
        to_join += "".join(f"\n    .with(cmsis_nn::k{camel(opcode.name)})" for opcode in narrow)
    return f"""\
// {name}: the kernels that it calls, for CmsisNnBackend. Generated; do not edit.
#pragma once

#include "{name}.h"
#include "runtime/kernels/portable/portable.h"
#include "runtime/kernels/tuned/tuned.h"
#include "runtime/payload/kernel.h"
#ifdef {WITH_CMSIS_NN}
#include "runtime/kernels/cmsis_nn/cmsis_nn.h"
#endif

#if {prefix}_CRC32 != 0x{view.crc32:08x}u
#error "{name}.h and {name}.kernels.h are from different compilations: compile the model again"
#endif

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
inline constexpr KernelTable {symbol}_kernels_to_join = {to_join};
#else
inline constexpr KernelTable {symbol}_kernels_to_join = {symbol}_kernels;
#endif

}}  // namespace cmsis_nn_delegate
"""


def _narrow(view: Payload) -> dict[Opcode, Function]:
    """Returns, by opcode, the one function of CMSIS-NN behind a wrapper that computes all of its calls."""
    found: dict[Opcode, set[Function | None]] = {}
    for call in view.calls:
        found.setdefault(call.opcode, set()).add(kernels()[call.opcode].function_for(call.args, view.isa))
    return {
        opcode: function
        for opcode, functions in found.items()
        if len(functions) == 1
        for function in functions
        if function
    }
