"""A payload for firmware: NAME.h with its sizes and I/O, NAME.c with its bytes as a constant array.

Both are made from the payload alone, so that they cannot disagree with it. The array is
plain C: no assembler, no include path for binaries.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..format import schema
from ..format.cpp import float_literal
from ..format.opcodes import Opcode
from ..payload.decode import Call, Payload, Tensor, decode


def c_identifier(name: str) -> str:
    """`name` with everything that C does not allow in an identifier replaced by '_'."""
    identifier = re.sub(r"\W", "_", name, flags=re.ASCII)
    return f"_{identifier}" if not identifier or identifier[0].isdigit() else identifier


def generate_header(name: str, payload: bytes) -> str:
    """Returns the text of NAME.h. PayloadError if `payload` is not a payload."""
    view = decode(payload)
    symbol = c_identifier(name)
    prefix = symbol.upper()
    lines = [
        f"// {name}: a model for CmsisNnBackend. Generated; do not edit.",
        "#pragma once",
        "",
        "#include <stdint.h>",
        "",
        f"// Instruction set whose kernels it calls: {view.isa.name}.",
        f"#define {prefix}_ISA_{view.isa.name} 1",
        f"#define {prefix}_CMSIS_NN_REVISION 0x{schema.CMSIS_NN_REVISION:08x}u",
        f"#define {prefix}_CRC32 0x{view.crc32:08x}u",
        "// Read-only memory, bytes.",
        f"#define {prefix}_PAYLOAD_BYTES {len(payload)}u",
        f"// Activations and scratch, bytes; align the arena to {schema.ALIGNMENT}.",
        f"#define {prefix}_ARENA_BYTES {view.arena_bytes}u",
        f"#define {prefix}_ALIGNMENT {schema.ALIGNMENT}u",
        *_region_lines(prefix, view.region_bytes),
        *_state_lines(prefix, view),
        f"#define {prefix}_CALL_COUNT {len(view.calls)}u",
        f"#define {prefix}_INPUT_COUNT {len(view.inputs)}u",
        f"#define {prefix}_OUTPUT_COUNT {len(view.outputs)}u",
    ]
    for kind, tensors in (("INPUT", view.inputs), ("OUTPUT", view.outputs)):
        for index, tensor in enumerate(tensors):
            lines += ["", *_tensor_lines(f"{prefix}_{kind}{index}", f"{kind.lower()} {index}", tensor)]
            lines += _index_lines(f"{prefix}_{kind}{index}", view, index) if tensors is view.inputs else []
    lines += [
        "",
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        f"extern const unsigned char {symbol}_payload[{prefix}_PAYLOAD_BYTES];",
        "#ifdef __cplusplus",
        "}",
        "#endif",
        "",
    ]
    return "\n".join(lines)


def generate_source(name: str, payload: bytes) -> str:
    """The text of NAME.c, C11: defines the array that NAME.h declares."""
    view = decode(payload)
    symbol = c_identifier(name)
    prefix = symbol.upper()
    lines = [
        f"// {name}: the payload. Generated; do not edit.",
        f'#include "{name}.h"',
        "",
        f"#if {prefix}_CRC32 != 0x{view.crc32:08x}u",
        f'#error "{name}.h and {name}.c are from different compilations: compile the model again"',
        "#endif",
        "",
        f"_Alignas({schema.ALIGNMENT}) const unsigned char {symbol}_payload[{prefix}_PAYLOAD_BYTES] = {{",
    ]
    for start in range(0, len(payload), 16):
        lines.append("    " + " ".join(f"0x{byte:02x}," for byte in payload[start : start + 16]))
    return "\n".join([*lines, "};", ""])


def _region_lines(prefix: str, region_bytes: tuple[int, ...]) -> list[str]:
    """Returns the sizes of the regions beside the arena; nothing for a model in one memory."""
    if not region_bytes:
        return []
    return [
        "// Regions beside the arena, bytes, in the order of the backend's Config::regions; align them like the arena.",
        f"#define {prefix}_REGION_COUNT {len(region_bytes)}u",
        *(f"#define {prefix}_REGION{i}_BYTES {nbytes}u" for i, nbytes in enumerate(region_bytes, 1)),
    ]


def _state_lines(prefix: str, view: Payload) -> list[str]:
    """Returns the size of what a model keeps between inferences in RAM, 0 for most models."""
    kept = {"its state": view.persistent_bytes, "copies of constants": view.copied_bytes}
    named = [f"{name}, {nbytes} bytes" for name, nbytes in kept.items() if nbytes]
    if not named:
        return ["// It keeps nothing between inferences.", f"#define {prefix}_STATE_BYTES 0u"]
    return [
        f"// Kept between inferences, after the delegate's handle: {', and '.join(named)}; bytes of all, aligned like",
        "// the arena.",
        f"#define {prefix}_STATE_BYTES {schema.STATE_OFFSET + sum(kept.values())}u",
    ]


def _tensor_lines(prefix: str, name: str, tensor: Tensor) -> list[str]:
    def braced(items: Iterable[int]) -> str:
        return "{" + ", ".join(str(item) for item in items) + "}"

    lines = [
        f"// {name}: {tensor.dtype.value}{list(tensor.shape)}, "
        f"dimensions from outermost in memory {list(tensor.dim_order)}",
        f"#define {prefix}_TYPE {tensor.dtype.c_type}",
        f"#define {prefix}_BYTES {tensor.nbytes}u",
        f"#define {prefix}_RANK {len(tensor.shape)}u",
        f"#define {prefix}_SHAPE {braced(tensor.shape)}",
        f"#define {prefix}_DIM_ORDER {braced(tensor.dim_order)}",
    ]
    if tensor.dtype.is_activation:
        lines += [
            "// real = scale * (q - zero_point)",
            f"#define {prefix}_SCALE {float_literal(tensor.scale)}",
            f"#define {prefix}_ZERO_POINT ({tensor.zero_point})",
        ]
    if tensor.arena_offset is not None:
        lines.append(f"#define {prefix}_ARENA_OFFSET {tensor.arena_offset}u")
    else:
        lines.append("// There is no room for it in the arena: pass memory of your own.")
    return lines


def _index_lines(prefix: str, view: Payload, index: int) -> list[str]:
    """Returns which indices the tables take that input `index` chooses from, and which lengths the layers take that it
    gives them, if it does."""

    def readers(field: str) -> list[Call]:
        here = schema.BASE_IO + index
        return [call for call in view.calls if call.references().get(field, (None, 0))[0] == here]

    choosing = (Opcode.EMBEDDING, Opcode.EMBEDDING_INT32)
    tables = [call.args for call in readers("input") if call.opcode in choosing]
    sequences = [call.args for call in readers("lengths")]
    lines = []
    if tables:
        low = max(-args["rows"] if args["from_end"] else 0 for args in tables)
        lines += [
            "// For any other index the execution ends with InvalidArgument, and the outputs are undefined.",
            f"#define {prefix}_INDEX_MIN {f'({low})' if low < 0 else low}",
            f"#define {prefix}_INDEX_MAX {min(args['rows'] for args in tables) - 1}",
        ]
    if sequences:
        lines += [
            "// For any other length the execution ends with InvalidArgument, and the outputs are undefined.",
            f"#define {prefix}_LENGTH_MIN 1",
            f"#define {prefix}_LENGTH_MAX {min(args['steps'] for args in sequences)}",
        ]
    return lines
