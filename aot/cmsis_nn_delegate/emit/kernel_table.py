"""NAME.kernels.h: the table of the kernels that a model calls, so that an image links these and no others.

It is made from the payloads alone, as NAME.h is.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..format.cpp import camel
from ..payload.decode import Payload, decode
from ..providers.provider import Library, Provider
from ..providers.registry import DEFAULT
from .c_header import c_identifier
from .linking import Linked, alias, included, includes, link, used

# What tables with kernels of this repository accept, without CMSIS-NN and with it.
_ACCEPTED = "tuned::kProvider", "tuned"
_ACCEPTED_WITH_LIBRARY = "tuned::kProviderWithCmsisNn", "tuned+cmsis-nn"


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
    linked = list(link(views).values())
    names = "\n".join(f"        {_entry(kernel, symbol)}," for kernel in linked)
    (with_library,) = {provider.library for provider in DEFAULT if provider.library is not None}
    return f"""\
// {name}: the kernels that it calls, for CmsisNnBackend. Generated; do not edit.
#pragma once

{header}{includes(views)}
#include "runtime/payload/kernel.h"

{check}
namespace cmsis_nn_delegate {{
namespace {symbol}_model {{
{"".join(_aliases(provider, linked) for provider in included(views) if provider.library)}\
{_revisions(views)}\
#ifdef {with_library.macro}
{_provider(views, _ACCEPTED_WITH_LIBRARY)}
#else
{_provider(views, _ACCEPTED)}
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
#ifdef {with_library.macro}
inline constexpr KernelTable {symbol}_kernels_to_join = {symbol}_kernels{_whole(linked, with_library)};
#else
inline constexpr KernelTable {symbol}_kernels_to_join = {symbol}_kernels{_whole(linked, None)};
#endif

}}  // namespace cmsis_nn_delegate
"""


def _entry(kernel: Linked, symbol: str) -> str:
    """Returns the C++ constant of a kernel. Those of a library have the same names in all builds."""
    if kernel.provider.library is None:
        return f"{kernel.provider.namespace}::k{camel(kernel.name)}"
    return f"{symbol}_model::{alias(kernel.provider)}::k{camel(kernel.opcode.name)}"


def _aliases(provider: Provider, linked: Sequence[Linked]) -> str:
    """Returns the definition of `alias(provider)`, with functions for some calls in the place of whole kernels."""
    assert provider.library is not None
    ours, name = provider.namespace, alias(provider)
    narrow = [
        f"inline constexpr const auto& k{camel(kernel.opcode.name)} = {ours}::k{camel(kernel.name)};"
        for kernel in linked
        if kernel.provider is provider and kernel.function
    ]
    block = f"namespace {name} = {ours};"
    if narrow:
        block = "\n".join([f"namespace {name} {{", f"using namespace {ours};", *narrow, f"}}  // namespace {name}"])
    return f"#ifdef {provider.library.macro}\n{block}\n#else\nnamespace {name} = {provider.library.stand_in};\n#endif\n"


def _others(views: Sequence[Payload]) -> list[Provider]:
    """Returns the providers of others that the model uses."""
    return [provider for provider in used(views) if provider not in DEFAULT]


def _revisions(views: Sequence[Payload]) -> str:
    """Returns the definition of the revisions that the table follows, if that is not done beside our kernels."""
    others = _others(views)
    if not others:
        return ""
    known = {provider.id: provider for provider in (*DEFAULT, *others)}
    constants = [known[i].revision_constant if i in known else "0" for i in range(max(known) + 1)]
    return f"inline constexpr std::uint32_t kRevisions[] = {{{', '.join(constants)}}};\n"


def _provider(views: Sequence[Payload], ours: tuple[str, str]) -> str:
    """Returns the definition of which payloads the table accepts: beside those for our kernels, which the C++ constant
    and name `ours` stand for, those for the kernels of others that the model uses."""
    constant, name = ours
    others = _others(views)
    if not others:
        return f"inline constexpr const Provider& kProvider = {constant};"
    names = "+".join([*(provider.name for provider in others), name])
    isas = "isa_set(kCompiledIsa)" if any(provider.isa_dependent for provider in others) else f"{constant}.isas"
    return f'inline constexpr Provider kProvider = {{"{names}", {isas}, kRevisions}};'


def _whole(linked: Sequence[Linked], library: Library | None) -> str:
    """Returns what replaces functions for some calls by whole kernels, in builds with `library` or without one."""
    return "".join(
        f"\n    .with({kernel.provider.namespace}::k{camel(kernel.opcode.name)})"
        for kernel in linked
        if kernel.function and kernel.provider.library in (None, library)
    )
