"""Writes a network as C that calls CMSIS-NN directly: constants, one call a layer, a static arena.

    generate.py NETWORK PREFIX

writes PREFIX_dsp.c and PREFIX_mve.c, which implement network.h, and PREFIX.json with the outputs that they must have.

The C is what a person would write for the network: no runtime, no checks, no function table, every parameter a literal.
Nothing is left out of the network (no channel is eliminated), and linear layers have weights per tensor, because
arm_fully_connected_s8 is what examples call. Weights are seeded random ones; README.md says what that changes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from cmsis_nn_delegate.support.quiet import quiet

quiet()

# ruff: noqa: E402
import numpy as np
import torch

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.compile import compile_model
from cmsis_nn_delegate.format import schema
from cmsis_nn_delegate.graph.ir import Graph
from cmsis_nn_delegate.passes.run_passes import OPTIONAL_PASSES
from cmsis_nn_delegate.payload.decode import Payload, decode
from cmsis_nn_delegate.payload.encode import Encoded
from cmsis_nn_delegate.payload.lower_partition import encode
from cmsis_nn_delegate.payload.tensor_data import to_bytes
from cmsis_nn_delegate.providers.registry import CMSIS_NN, PORTABLE
from cmsis_nn_delegate.selection.options import PayloadOptions
from cmsis_nn_delegate.targets.target import TARGET_OF_ISA
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster
from examples.mlperf_tiny.networks import NETWORKS

ISAS = ("dsp", "mve")
_SAMPLES = 8


def lowered(network: str) -> tuple[Graph, np.ndarray]:
    """Returns the graph of a network of MLPerf Tiny with random weights, and an input."""
    samples = list(NETWORKS[network].random_inputs(_SAMPLES).split(1))
    if samples[0].dim() == 4:
        samples = [x.contiguous(memory_format=torch.channels_last) for x in samples]
    compiled = compile_model(
        NETWORKS[network].random(),
        (samples[0],),
        TARGET_OF_ISA["dsp"].name,
        [(x,) for x in samples],
        io="int8",
        strict=True,
        providers=(CMSIS_NN.name, PORTABLE.name),
        linear_weights="per-tensor",
        observer="minmax",
        skip_passes=OPTIONAL_PASSES,
        name=network,
    )
    graph = compiled.graph
    assert graph is not None, compiled.obstacle
    return graph, graph.inputs[0].type.quantize(samples[0].numpy())


class Writer:
    """Writes the C of a network for one instruction set.

    encoded: the payload and what it was made from; only the calls' numbers and constants are used.
    image: int8, the input in memory order.
    """

    def __init__(self, name: str, encoded: Encoded, image: bytes) -> None:
        self._name = name
        self._encoded = encoded
        self._view: Payload = decode(encoded.payload)
        self._mve = encoded.target.isa is schema.Isa.MVE
        self._image = image
        self._constants: dict[str, str] = {}  # C name -> definition

    def text(self) -> str:
        """Returns the C file. ValueError if a call is none that this class knows."""
        calls = [line for number in range(len(self._view.calls)) for line in self._call(number)]
        view = self._view
        return "\n".join(
            [
                f"// {self._name} for {self._encoded.target.isa.name}: written by benchmarks/direct/generate.py.",
                '#include "benchmarks/direct/network.h"',
                "",
                '#include "arm_nnfunctions.h"',
                "",
                f"static int8_t arena[{view.arena_bytes}] __attribute__((aligned(16)));",
                "",
                *self._constants.values(),
                self._array("int8_t", "image", np.frombuffer(self._image, np.int8)),
                "",
                "const DirectNetwork direct_network = {",
                f"    image, {self._memory('input', 0)}, {view.inputs[0].nbytes},",
                f"    {self._memory('output', 0)}, {view.outputs[0].nbytes}, sizeof(arena)}};",
                "",
                "int direct_run(void) {",
                "  arm_cmsis_nn_status status = ARM_CMSIS_NN_SUCCESS;",
                *calls,
                "  return status;",
                "}",
                "",
            ]
        )

    def _call(self, number: int) -> Iterator[str]:
        call = self._encoded.calls[number]
        kernel = call.choice.kernel.name
        write = getattr(self, f"_{kernel}", None)
        if write is None:
            raise ValueError(f"call {number} is {kernel}, for which this program writes no C")
        yield f"  {{  // {number}: {kernel}"
        for line in write(number, self._view.calls[number].args):
            yield f"    {line}"
        yield "  }"

    # Layers ---------------------------------------------------------------

    def _conv2d(self, number: int, a: Mapping[str, Any]) -> Iterator[str]:
        yield from self._convolution(number, a, "cmsis_nn_conv_params", "arm_convolve_wrapper_s8", "")

    def _depthwise_conv2d(self, number: int, a: Mapping[str, Any]) -> Iterator[str]:
        multiplier = f" .ch_mult = {a['params']['ch_mult']},"
        yield from self._convolution(number, a, "cmsis_nn_dw_conv_params", "arm_depthwise_conv_wrapper_s8", multiplier)

    def _convolution(self, number: int, a: Mapping[str, Any], struct: str, function: str, more: str) -> Iterator[str]:
        params = a["params"]
        yield self._context(number, a)
        yield (
            f"static const {struct} params = {{.input_offset = {params['input_offset']}, "
            f".output_offset = {params['output_offset']},{more} .stride = {_tile(params['stride'])}, "
            f".padding = {_tile(params['padding'])}, .dilation = {_tile(params['dilation'])}, "
            f".activation = {_range(params['activation'])}}};"
        )
        scales = (self._constant(number, name, "int32_t") for name in ("multiplier", "shift"))
        yield f"const cmsis_nn_per_channel_quant_params scales = {{{', '.join(f'(int32_t*){s}' for s in scales)}}};"
        yield from _dims(a, "input", "filter", "output")
        weights, bias = self._constant(number, "filter", "int8_t"), self._constant(number, "bias", "int32_t")
        yield (
            f"status |= {function}(&context, &params, &scales, &input, {self._ref(number, 'input')}, &filter, "
            f"{weights}, NULL, {bias}, &output, {self._ref(number, 'output')});"
        )

    def _fully_connected_per_tensor(self, number: int, a: Mapping[str, Any]) -> Iterator[str]:
        x, weight, bias = self._encoded.calls[number].node.inputs
        zero_point = x.zero_point
        self._constants[f"plain_bias_{number}"] = self._array("int32_t", f"plain_bias_{number}", bias.constant)
        if self._mve:
            # What arm_vector_sum_s8 computes: it depends on constants only.
            sums = bias.constant - zero_point * weight.constant.astype(np.int64).sum(axis=1)
            self._constants[f"sums_{number}"] = self._array("int32_t", f"sums_{number}", sums)
        buffer = f"(void*)sums_{number}, sizeof(sums_{number})" if self._mve else "NULL, 0"
        yield f"const cmsis_nn_context context = {{{buffer}}};"
        yield (
            f"static const cmsis_nn_fc_params params = {{.input_offset = {-zero_point}, .filter_offset = 0, "
            f".output_offset = {a['output_offset']}, .activation = {_range(a['activation'])}}};"
        )
        yield f"static const cmsis_nn_per_tensor_quant_params scale = {{{a['multiplier']}, {a['shift']}}};"
        sizes = {
            "input": (a["batch"], 1, 1, a["inputs"]),
            "filter": (a["inputs"], 1, 1, a["outputs"]),
            "output": (a["batch"], 1, 1, a["outputs"]),
        }
        for name, values in sizes.items():
            yield f"static const cmsis_nn_dims {name} = {{{', '.join(map(str, values))}}};"
        yield (
            "status |= arm_fully_connected_s8(&context, &params, &scale, &input, "
            f"{self._ref(number, 'input')}, &filter, {self._constant(number, 'filter', 'int8_t')}, NULL, "
            f"plain_bias_{number}, &output, {self._ref(number, 'output')});"
        )

    def _avg_pool2d(self, number: int, a: Mapping[str, Any]) -> Iterator[str]:
        params = a["params"]
        yield self._context(number, a)
        yield (
            f"static const cmsis_nn_pool_params params = {{.stride = {_tile(params['stride'])}, "
            f".padding = {_tile(params['padding'])}, .activation = {_range(params['activation'])}}};"
        )
        yield from _dims(a, "input", "filter", "output")
        yield (
            f"status |= arm_avgpool_s8(&context, &params, &input, {self._ref(number, 'input')}, &filter, &output, "
            f"{self._ref(number, 'output')});"
        )

    def _softmax(self, number: int, a: Mapping[str, Any]) -> Iterator[str]:
        numbers = (a[name] for name in ("rows", "row_size", "multiplier", "shift", "diff_min"))
        yield (
            f"arm_softmax_s8({self._ref(number, 'input')}, {', '.join(map(str, numbers))}, "
            f"{self._ref(number, 'output')});"
        )

    def _add(self, number: int, a: Mapping[str, Any]) -> Iterator[str]:
        inputs = ", ".join(str(a[f"input{i}_{name}"]) for i in (1, 2) for name in ("offset", "multiplier", "shift"))
        last = (a["output_offset"], a["output_multiplier"], a["output_shift"])
        limits = (a["activation"]["min"], a["activation"]["max"], a["count"])
        yield (
            f"status |= arm_elementwise_add_s8({self._ref(number, 'input1')}, {self._ref(number, 'input2')}, {inputs}, "
            f"{a['left_shift']}, {self._ref(number, 'output')}, {', '.join(map(str, (*last, *limits)))});"
        )

    # Operands -------------------------------------------------------------

    def _context(self, number: int, a: Mapping[str, Any]) -> str:
        scratch = self._ref(number, "scratch") if a["scratch_bytes"] else "NULL"
        return f"const cmsis_nn_context context = {{{scratch}, {a['scratch_bytes']}}};"

    def _ref(self, number: int, name: str) -> str:
        """Returns the address of an activation or of scratch memory."""
        base, offset = schema.split_ref(self._view.calls[number].args[name])
        if base == schema.BASE_ARENA:
            return f"arena + {offset}"
        index = base - schema.BASE_IO
        count = len(self._view.inputs)
        where = self._memory("input", index) if index < count else self._memory("output", index - count)
        return f"{where} + {offset}" if offset else where

    def _memory(self, kind: str, index: int) -> str:
        tensor = (self._view.inputs if kind == "input" else self._view.outputs)[index]
        assert tensor.arena_offset is not None
        return f"arena + {tensor.arena_offset}"

    def _constant(self, number: int, name: str, ctype: str) -> str:
        """Returns the name of a constant, and defines it."""
        (found,) = [c for c in self._encoded.calls[number].constants if c.name == name]
        symbol = f"{name}_{number}"
        data = self._encoded.payload[found.offset : found.offset + found.nbytes]
        array = np.frombuffer(data, np.int8 if ctype == "int8_t" else np.dtype("<i4"))
        self._constants[symbol] = self._array(ctype, symbol, array)
        return symbol

    @staticmethod
    def _array(ctype: str, name: str, values: np.ndarray) -> str:
        # INT32_MIN is no literal of C: -2147483648 is a minus before a number that does not fit.
        numbers = ["INT32_MIN" if v == -(1 << 31) else str(v) for v in values.reshape(-1).tolist()]
        lines = [f"    {', '.join(numbers[at : at + 16])}," for at in range(0, len(numbers), 16)]
        return "\n".join([f"static const {ctype} {name}[] __attribute__((aligned(16))) = {{", *lines, "};", ""])


def _tile(value: Mapping[str, int]) -> str:
    return f"{{.w = {value['w']}, .h = {value['h']}}}"


def _range(value: Mapping[str, int]) -> str:
    return f"{{.min = {value['min']}, .max = {value['max']}}}"


def _dims(a: Mapping[str, Any], *names: str) -> Iterator[str]:
    for name in names:
        sizes = ", ".join(f".{axis} = {a[f'{name}_dims'][axis]}" for axis in "nhwc")
        yield f"static const cmsis_nn_dims {name} = {{{sizes}}};"


def generate(network: str) -> dict[str, str]:
    """Returns the files by what follows their prefix."""
    graph, image = lowered(network)
    (expected,) = reference.run(graph, [image])
    about: dict[str, Any] = {"network": network, "weights": "random", "expected": {}, "multiplications": {}}
    files = {}
    for isa in ISAS:
        encoded = encode(graph, TARGET_OF_ISA[isa], PayloadOptions(providers=(CMSIS_NN, PORTABLE)))
        view = decode(encoded.payload)
        files[f"_{isa}.c"] = Writer(network, encoded, to_bytes(image, view.inputs[0])).text()
        about["expected"][isa] = to_bytes(expected, view.outputs[0]).hex()
        about["multiplications"][isa] = sum(call.macs for call in encoded.calls)
    files[".json"] = json.dumps(about, indent=1) + "\n"
    return files


def main(arguments: Sequence[str]) -> int:
    if len(arguments) != 2 or arguments[0] not in NETWORKS:
        print(__doc__, file=sys.stderr)
        return 2
    network, prefix = arguments
    make_torch_faster()
    for suffix, text in generate(network).items():
        Path(prefix + suffix).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
