"""Writes calls of every kernel as C++, with inputs and expected outputs.

    write_cases.py CORE MODELS FOLDER

writes MODELS models, mN.h, mN.model.h and mN.model.cc, each of several independent operators, and cases.cc, which
defines what cases.h declares. The operators are random cases of tests/conformance: small ones of every kernel and
provider that the compiler has for CORE. ds_cnn in int16 is beside those of a model.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.emit import c_header, cpp_calls
from cmsis_nn_delegate.format import schema
from cmsis_nn_delegate.format.element import Element
from cmsis_nn_delegate.graph.ir import Graph
from cmsis_nn_delegate.payload.decode import Payload, decode
from cmsis_nn_delegate.payload.lower_partition import encode
from cmsis_nn_delegate.payload.tensor_data import to_bytes
from cmsis_nn_delegate.planner.memory import IoPlacement
from cmsis_nn_delegate.selection.options import PayloadOptions
from cmsis_nn_delegate.targets.target import Target, get_target
from cmsis_nn_delegate.testing.networks import ds_cnn, random_inputs
from tests.conformance.cases import NETWORK, OPERATORS, TUNED, graph_of

_SEEDS = 40  # of each operator; enough for each of its kernels to occur
_FLASH_GROWTH = 1 << 20  # so that kernels that trade flash for speed are chosen too


def size_and_kernels(graph: Graph, target: Target) -> tuple[int, set[tuple[int, int]]]:
    """Returns the bytes of payload, inputs and outputs, and the opcode and provider of each call."""
    payload = _payload(graph, target)
    nbytes = len(payload) + sum(value.nbytes for value in (*graph.inputs, *graph.outputs))
    return nbytes, {(call.opcode, call.provider.id) for call in decode(payload).calls}


def chosen_graphs(target: Target) -> list[Graph]:
    """Returns graphs that call every kernel that random cases reach, small ones first, so that an image has room for
    all, with a random network, and a network in int16."""
    found: list[Graph] = []
    seen: set[tuple[int, int]] = set()
    for operator in (*OPERATORS, *TUNED):
        if operator in TUNED and target.isa not in TUNED[operator].isas:
            continue
        seeds = range(1 if operator == NETWORK else _SEEDS)
        cases = ((*size_and_kernels(graph_of(operator, seed), target), seed) for seed in seeds)
        for _, kernels, seed in sorted(cases, key=lambda case: case[0]):
            if kernels - seen or operator == NETWORK:
                seen |= kernels
                found.append(graph_of(operator, seed))
    return [*found, ds_cnn(Element.INT16)]


def joined(graphs: Sequence[Graph], count: int) -> list[Graph]:
    """Returns `count` graphs in which `graphs` stand beside each other. ValueError if these have too many inputs and
    outputs."""
    groups: list[Graph] = [Graph([], []) for _ in range(count)]
    for graph in graphs:
        fewest = min(groups, key=lambda group: len(group.inputs) + len(group.outputs))
        fewest.inputs += graph.inputs
        fewest.outputs += graph.outputs
        fewest.nodes += graph.nodes
    most = max(len(group.inputs) + len(group.outputs) for group in groups)
    if most > schema.MAX_IO - 1:  # beside a state
        raise ValueError(
            f"{most} inputs and outputs in one of {count} models, more than {schema.MAX_IO - 1}: use more models"
        )
    return groups


def _payload(graph: Graph, target: Target) -> bytes:
    return encode(graph, target, PayloadOptions(IoPlacement.CALLER, max_flash_growth=_FLASH_GROWTH)).payload


def _array(kind: str, data: bytes) -> str:
    return f"alignas(16) const unsigned char {kind}[] = {{{', '.join(map(str, data))}}};\n"


def _tables(name: str, view: Payload, inputs: Sequence[bytes], outputs: Sequence[bytes]) -> str:
    """Returns the definitions of a model's inputs and outputs and of the function that runs it."""
    text = ""
    for kind, tensors in (("input", inputs), ("output", outputs)):
        text += "".join(_array(f"{name}_{kind}{index}", data) for index, data in enumerate(tensors))
        members = "".join(f"{{{name}_{kind}{i}, {len(data)}}}, " for i, data in enumerate(tensors))
        text += f"const Bytes {name}_{kind}s[] = {{{members}}};\n"
    arguments = [f"reinterpret_cast<const {t.dtype.c_type}*>({name}_input{i})" for i, t in enumerate(view.inputs)]
    arguments += [f"reinterpret_cast<{t.dtype.c_type}*>(outputs[{i}])" for i, t in enumerate(view.outputs)]
    state = ""
    if view.persistent_bytes:  # of a first inference
        text += f"alignas(16) std::uint8_t {name}_state[{name}_state_bytes];\n"
        state = f"{name}_state, "
    text += (
        f"Error run_{name}(std::uint8_t* arena, std::uint8_t* const* outputs) {{\n"
        f"  return {name}_run(arena, {state}{{{', '.join(arguments)}}});\n}}\n"
    )
    return text


def main(argv: list[str]) -> int:
    if len(argv) != 4:
        print(__doc__, file=sys.stderr)
        return 2
    target, count, folder = get_target(argv[1]), int(argv[2]), Path(argv[3])
    text = includes = rows = ""
    for number, graph in enumerate(joined(chosen_graphs(target), count)):
        name = f"m{number}"
        inputs = random_inputs(graph, number)
        expected = reference.run(graph, inputs)
        about = " ".join(sorted({node.op for node in graph.nodes}))
        payload = _payload(graph, target)
        view = decode(payload)
        (folder / f"{name}.h").write_text(c_header.generate_header(name, payload))
        (folder / f"{name}.model.h").write_text(cpp_calls.generate_header(name, payload))
        (folder / f"{name}.model.cc").write_text(cpp_calls.generate_source(name, payload))
        data = [
            [to_bytes(np.asarray(array), tensor) for array, tensor in zip(arrays, tensors)]
            for arrays, tensors in ((inputs, view.inputs), (expected, view.outputs))
        ]
        includes += f'#include "{name}.model.h"\n'
        text += _tables(name, view, *data)
        rows += f'    {{"{name}: {about}", run_{name}, {view.arena_bytes}, {name}_outputs, {len(expected)}}},\n'
    (folder / "cases.cc").write_text(
        f'#include "tests/forms/cases.h"\n\n{includes}\nnamespace cmsis_nn_delegate::forms {{\n'
        f"namespace {{\n\nusing executorch::runtime::Error;\n\n{text}\nconst Case kModels[] = {{\n{rows}}};\n\n"
        f"}}  // namespace\n\nconst Cases kCases = {{kModels, {count}}};\n\n"
        "}  // namespace cmsis_nn_delegate::forms\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
