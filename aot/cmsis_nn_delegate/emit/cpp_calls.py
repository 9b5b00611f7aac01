"""NAME.model.h and NAME.model.cc: the calls of a payload as C++, for images without the payload's reader.

Each call is one line that calls the kernel's function (of the provider's header) with its argument block as a constexpr
struct. There is no code for any operator here: the blocks are written from the declarations that payloads are encoded
with (`format.record`). The constants of a call are one struct, whose name has the digest of its contents, so that the
linker keeps equal constants of several models once.

Like NAME.h, both are made from the payload alone.
"""

from __future__ import annotations

import hashlib
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..format import schema
from ..format.cpp import float_literal, integer_literal
from ..format.record import F32, REF, Scalar, Struct
from ..ops.kernel import KernelSpec
from ..payload.decode import Call, Payload, Tensor, decode
from ..providers.provider import Provider
from ..providers.registry import kernels
from .c_header import c_identifier
from .linking import alias, function_of, includes, link, used

_WIDTH = 100


@dataclass(frozen=True)
class _Array:
    """Constants that a field of an argument block names."""

    field: str
    type: Scalar
    data: bytes

    @property
    def count(self) -> int:
        return len(self.data) // self.type.size

    @property
    def declaration(self) -> str:
        return f"alignas({schema.ALIGNMENT}) {self.type.cpp} {self.field}[{self.count}];"

    def definition(self) -> str:
        """Returns its numbers in braces."""
        numbers = np.frombuffer(self.data, np.dtype(f"<{self.type.code}"))
        literal = float_literal if self.type is F32 else integer_literal
        text = ", ".join(map(literal, numbers.tolist()))
        return "\n".join(textwrap.wrap(f"{{{text}}}", _WIDTH, initial_indent="    ", subsequent_indent="     "))


@dataclass(frozen=True)
class _Constants:
    """The constants of a call: what lies behind payload::kBaseConstant while it runs. `past` is how many bytes have to
    follow, because the kernel loads them."""

    arrays: tuple[_Array, ...]
    past: int

    @property
    def name(self) -> str:
        """Returns a C++ name that tells these constants from all others."""
        digest = hashlib.sha256(str(self.past).encode())
        for array in self.arrays:
            digest.update(array.declaration.encode())
            digest.update(array.data)
        return digest.hexdigest()[:32]

    def lines(self) -> Iterator[str]:
        name = self.name
        yield f"struct C{name} {{"
        yield from (f"  {array.declaration}" for array in self.arrays)
        if self.past:
            yield f"  std::uint8_t past[{self.past}];  // loaded and not used"
        yield "};"
        yield f"inline constexpr C{name} k{name} = {{"
        yield from (f"{array.definition()}," for array in self.arrays)
        if self.past:
            yield "    {},"
        yield "};"
        yield ""


def generate_header(name: str, payload: bytes) -> str:
    """Returns the text of NAME.model.h, C++17. PayloadError if `payload` is not a payload."""
    view = decode(payload)
    return _HEADER.format(
        name=name,
        symbol=c_identifier(name),
        prefix=c_identifier(name).upper(),
        check=_same_compilation(name, ".model.h", view),
        members="\n".join(_members(c_identifier(name).upper(), view)),
        places="".join(_place(c_identifier(name), *tensor) for tensor in _tensors(view)),
        state=_state(view, _STATE).format(symbol=c_identifier(name), bytes=view.persistent_bytes),
        state_parameter=_state(view, " std::uint8_t* state,"),
        run_in_arena=_run_in_arena(c_identifier(name), view),
    )


def generate_source(name: str, payload: bytes) -> str:
    """Returns the text of NAME.model.cc, C++17, which defines what NAME.model.h declares. PayloadError as above."""
    view = decode(payload)
    symbol = c_identifier(name)
    constants: dict[str, _Constants] = {}
    blocks, body = [], []
    last = ""
    for index, (call, (provider, function)) in enumerate(zip(view.calls, called_functions(view), strict=True)):
        kernel = kernels()[call.opcode]
        own = _constants(view, call, kernel)
        if own.arrays and own.name != last:
            last = own.name
            constants.setdefault(last, own)
            body.append(f"  bases[payload::kBaseConstant] = direct::base(&constants::k{last});")
        blocks += [f"constexpr payload::{kernel.args.name} kCall{index} = {{", *_block(call, kernel, own, view), "};"]
        result = "const Error error" if len(view.calls) == 1 else "Error error" if index == 0 else "error"
        body.append(f"  {result} = {alias(provider)}::{function}(kCall{index}, bases);")
        if index + 1 < len(view.calls):
            body += ["  if (error != Error::Ok) {", "    return error;", "  }"]
    tensors = _tensors(view)
    bases = [
        f"  bases[payload::kBaseIo + {i}] = direct::base(tensors.{field});" for i, (field, _) in enumerate(tensors)
    ]
    bases += [f"  bases[payload::kBaseIo + {len(tensors)}] = state;"] if view.persistent_bytes else []
    return _SOURCE.format(
        name=name,
        symbol=symbol,
        check=_same_compilation(name, ".model.cc", view),
        list_check=_same_list(name, view),
        includes=includes([view]),
        aliases="".join(_aliases(provider, view) for provider in used([view]) if provider.library),
        compatible="\n".join(_compatible(view)),
        constants="\n".join(line for own in constants.values() for line in own.lines()),
        blocks="\n".join(blocks),
        state_parameter=_state(view, " std::uint8_t* state,"),
        bases="\n".join(bases),
        body="\n".join(body),
    )


# What lies where --------------------------------------------------------------


def _constants(view: Payload, call: Call, kernel: KernelSpec) -> _Constants:
    """Returns the constants that `call` names, in the order of its argument block, each once."""
    past = call.provider.reads_past(kernel, view.isa)
    arrays: dict[int, _Array] = {}
    end = needed = 0
    for name, (base, offset) in call.references().items():
        if base != schema.BASE_CONSTANT or offset in arrays:
            continue
        operand = kernel.args.field(name).refers_to
        nbytes = operand.nbytes(call.args)
        arrays[offset] = _Array(name, operand.element, view.data[offset : offset + nbytes])
        begin = _aligned(end)
        end = begin + nbytes
        needed = max(needed, end + past.of(name))
    return _Constants(tuple(arrays.values()), max(needed - end, 0))


def _aligned(offset: int) -> int:
    return -(-offset // schema.ALIGNMENT) * schema.ALIGNMENT


def _reference(value: int, call: Call, own: _Constants, view: Payload) -> str:
    """Returns a reference of `call` as C++."""
    base, offset = schema.split_ref(value)
    if base == schema.BASE_NONE:
        return "payload::kNoRef"
    if base == schema.BASE_ARENA:
        return f"direct::arena({offset})"
    if base == schema.BASE_CONSTANT:
        # Two fields that name the same bytes have one array, called as the first of them.
        first = next(name for name, place in call.references().items() if place == (base, offset))
        return f"direct::constant(offsetof(constants::C{own.name}, {first}))"
    index = base - schema.BASE_IO
    return f"direct::tensor({index}, {offset})" if offset else f"direct::tensor({index})"


# Argument blocks ----------------------------------------------------------------


def _block(call: Call, kernel: KernelSpec, own: _Constants, view: Payload) -> Iterator[str]:
    """Yields the members of an argument block, each with its name."""
    for field in kernel.args.fields:
        value = call.args[field.name]
        items = value if field.count > 1 else (value,)
        if field.type is REF:
            literals = [_reference(item, call, own, view) for item in items]
        else:
            literals = [_literal(field.type, item) for item in items]
        text = f"{{{', '.join(literals)}}}" if field.count > 1 else literals[0]
        yield f"    {text},  // {field.name}"


def _literal(kind: Scalar | Struct, value: Any) -> str:
    if isinstance(kind, Struct):
        members = []
        for field in kind.fields:
            items = value[field.name] if field.count > 1 else (value[field.name],)
            literals = [_literal(field.type, item) for item in items]
            members.append(f"{{{', '.join(literals)}}}" if field.count > 1 else literals[0])
        return f"{{{', '.join(members)}}}"
    return float_literal(value) if kind is F32 else integer_literal(value)


# Inputs and outputs ---------------------------------------------------------------


def _tensors(view: Payload) -> list[tuple[str, Tensor]]:
    """Returns inputs and outputs with their names."""
    inputs = [(f"input{index}", tensor) for index, tensor in enumerate(view.inputs)]
    return inputs + [(f"output{index}", tensor) for index, tensor in enumerate(view.outputs)]


def _members(prefix: str, view: Payload) -> Iterator[str]:
    for field, tensor in _tensors(view):
        const = "const " if field.startswith("input") else ""
        yield f"  {const}{tensor.dtype.c_type}* {field};  // {prefix}_{field.upper()}_BYTES"


def _place(symbol: str, field: str, tensor: Tensor) -> str:
    """Returns the function that says where the arena has room for a tensor, if it has."""
    if tensor.arena_offset is None:
        return ""
    kind, offset = tensor.dtype.c_type, f"{symbol.upper()}_{field.upper()}_ARENA_OFFSET"
    return (
        f"inline {kind}* {symbol}_{field}(std::uint8_t* arena) {{\n"
        f"  return reinterpret_cast<{kind}*>(arena + {offset});\n}}\n"
    )


def _run_in_arena(symbol: str, view: Payload) -> str:
    """Returns the function that runs the model with all tensors in the arena, if there is room for all."""
    tensors = _tensors(view)
    if any(tensor.arena_offset is None for _, tensor in tensors):
        return ""
    places = ", ".join(f"{symbol}_{field}(arena)" for field, _ in tensors)
    return (
        "/// The same, with all inputs and outputs where the arena has room for them.\n"
        f"[[nodiscard]] inline executorch::runtime::Error {symbol}_run(\n"
        f"    std::uint8_t* arena{_state(view, ', std::uint8_t* state')}) {{\n"
        f"  return {symbol}_run(arena,{_state(view, ' state,')} {{{places}}});\n}}\n"
    )


def _state(view: Payload, text: str) -> str:
    """Returns `text` for a model that keeps a state between inferences."""
    return text if view.persistent_bytes else ""


# Compatibility ----------------------------------------------------------------


def _same_list(name: str, view: Payload) -> str:
    """Returns the check that files to compile were taken from the list of the same compilation, if from one."""
    macro = f"{c_identifier(name).upper()}_SOURCES_CRC32"
    return (
        f"#if defined({macro}) && {macro} != 0x{view.crc32:08x}u\n"
        f'#error "{name}.sources.txt and {name}.model.cc are from different compilations: compile the model again"\n'
        "#endif"
    )


def _same_compilation(name: str, suffix: str, view: Payload) -> str:
    """Returns the check that NAME.h is of the same compilation."""
    return (
        f"#if {c_identifier(name).upper()}_CRC32 != 0x{view.crc32:08x}u\n"
        f'#error "{name}.h and {name}{suffix} are from different compilations: compile the model again"\n'
        "#endif"
    )


def called_functions(view: Payload) -> list[tuple[Provider, str]]:
    """Returns provider and name of the function that runs each call: of a library's, the one that a wrapper would
    choose; of other kernels, the one for such calls if all calls are such."""
    linked = link([view])
    return [(call.provider, function_of(call, linked[call.opcode], view.isa)) for call in view.calls]


def _aliases(provider: Provider, view: Payload) -> str:
    """Returns which kernels stand for those of `provider`, which calls a library."""
    assert provider.library is not None
    names = {
        name: kernels()[call.opcode].name
        for call, (owner, name) in zip(view.calls, called_functions(view), strict=True)
        if owner is provider and name != kernels()[call.opcode].name
    }
    other, name = provider.library.stand_in, alias(provider)
    wide = "".join(f"constexpr auto& {name} = {other}::{names[name]};\n" for name in sorted(names))
    block = f"namespace {name} {{\nusing namespace {other};\n{wide}}}  // namespace {name}"
    return _LIBRARY.format(
        macro=provider.library.macro,
        namespace=provider.namespace,
        alias=name,
        without=block if wide else f"namespace {name} = {other};",
    )


def _compatible(view: Payload) -> Iterator[str]:
    """Yields what init() checks of the image that runs a payload."""
    yield (
        f"static_assert(payload::kFormatVersion == {view.header['format_version']},\n"
        '              "argument blocks of another version: compile the model again");'
    )
    for provider in sorted(used([view]), key=lambda provider: provider.id):
        yield (
            f"static_assert({provider.revision_constant} == 0x{provider.revision:08x}u,\n"
            '              "kernels of another revision: compile the model again");'
        )
    yield (
        f"static_assert((kAcceptedIsas & isa_set(payload::Isa::k{view.isa.name.capitalize()})) != 0,\n"
        f'              "made for the instruction set {view.isa.name}: compile the model for this core");'
    )


_STATE = """\
/// The bytes that it keeps between inferences, aligned like the arena. They start as zeros; zeros make the next
/// inference the first one again.
inline constexpr std::size_t {symbol}_state_bytes = {bytes};

"""

_HEADER = """\
// {name}: the model as C++ calls. Generated; do not edit.
//
// Link {name}.model.cc, and the kernels that it calls. Nothing else of the delegate is needed: the calls and
// their constants are part of the program, so that there is no payload to validate.
#pragma once

#include <cstddef>
#include <cstdint>

#include <executorch/runtime/core/error.h>

#include "{name}.h"

{check}

namespace cmsis_nn_delegate {{

/// Inputs and outputs in memory of the caller or in the arena, laid out as {name}.h says, 4-byte aligned for floats
/// and 2-byte aligned for int16.
struct {symbol}_tensors {{
{members}
}};

// Where the arena has room for them. {symbol}_run() may overwrite inputs there: write all of them before every
// inference, and read the outputs before the next one.
{places}
{state}/// Runs one inference. `arena` is {prefix}_ARENA_BYTES, aligned to {prefix}_ALIGNMENT; between inferences it may
/// hold other data. No argument is checked. Errors: what a kernel returns, such as InvalidArgument for an index
/// that is not in its table, with which the outputs are undefined.
[[nodiscard]] executorch::runtime::Error {symbol}_run(
    std::uint8_t* arena,{state_parameter} const {symbol}_tensors& tensors);

{run_in_arena}
}}  // namespace cmsis_nn_delegate
"""

_LIBRARY = """\
// What the compiler gave to a library is computed by other kernels, with the same results, in builds without it and on
// other CPUs, where it needs other scratch memory.
#if defined({macro}) && defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
namespace {alias} = {namespace};
#else
{without}
#endif

"""

_SOURCE = """\
// {name}: the model as C++ calls. Generated; do not edit.
#include "{name}.model.h"

#include <cstddef>
#include <cstdint>

{includes}
#include "runtime/payload/direct_calls.h"

{check}
{list_check}

namespace cmsis_nn_delegate {{

// Each is named by a digest of its contents: models of one image share those that are equal.
namespace constants {{

{constants}
}}  // namespace constants

namespace {{

{aliases}{compatible}

{blocks}

}}  // namespace

executorch::runtime::Error {symbol}_run(std::uint8_t* arena,{state_parameter} const {symbol}_tensors& tensors) {{
  using executorch::runtime::Error;
  Bases bases;
  bases[payload::kBaseNone] = nullptr;
  bases[payload::kBaseArena] = arena;
{bases}
{body}
  return error;
}}

}}  // namespace cmsis_nn_delegate
"""
