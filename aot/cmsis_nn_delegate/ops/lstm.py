"""LSTM layer in one direction, from zeros."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from ..edge.program_types import EdgeContext, EdgeNode
from ..edge.refusal import Reason, Refusal
from ..format.record import I32, Field
from ..graph.ir import Node, Value
from .annotation import RecurrentLayer
from .case import Case
from .gate_functions import RESULT_BITS, sigmoid, tanh
from .kernel import KernelSpec
from .quantized_math import quantize_multiplier, requantize
from .recurrent import INT16, Recurrent, RecurrentAttrs, Step, block, draw, sat16

_GATES = ("input", "forget", "cell", "output")

KERNEL = KernelSpec(
    "lstm",
    block(
        "LstmArgs",
        "int8 LSTM layer in one direction, from zeros, with gates and cells of 16 bits: see "
        "docs/reference/recurrent_layers.md.",
        _GATES,
        Field("cell_bits", I32, "of the cells after the point", low=0, high=15),
    ),
)


@dataclass(frozen=True)
class LstmAttrs(RecurrentAttrs):
    """`cell_bits`: the cells are in steps of 2^-cell_bits."""

    cell_bits: int = 15


def _draw(d: Case) -> Value:
    attrs = LstmAttrs(d.pick(False, True), d.pick(False, True), d.integer(8, 15))
    return draw(d, "lstm", len(_GATES), attrs, d.quant(float(2.0 ** -d.random.uniform(6.5, 8))))


class Lstm(Recurrent):
    """The integer LSTM of TensorFlow Lite (8x8->16): gates in Q3.12, their functions in Q0.15, cells in steps of a
    power of two.

        c = sat16(requantize(i * g) + sat16(requantize(f * c)))
        h = sat8(requantize(o * tanh(c)) + zero point)

    The quantizer finds the range of the cells, which the scale of the initial cells states.
    """

    name = "lstm"
    targets = ("cmsis_nn_delegate.lstm.default",)
    whole = targets
    annotation = RecurrentLayer(targets, len(_GATES), cells="cmsis_nn_delegate.lstm_cells.default")
    attrs = LstmAttrs
    kernels = (KERNEL,)
    draws = (_draw,)
    gates = _GATES
    initial = ("h0", "c0")
    # Of a product of two results of functions.
    real_bits = 2 * RESULT_BITS
    limits = ("LSTM layers of any number of steps",)

    def check(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        refusal = super().check(node, context)
        return self._refuse_cells(node, context) if refusal is None else refusal

    def _refuse_cells(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        cells = context.constant_float(self._parameters(node)["c0"])
        if cells is None or not cells.quantized or cells.dtype != INT16.value or cells.scales is None:
            return Refusal(Reason.NOT_QUANTIZED, f"its cells c0 are not quantized in 16 bits; {context.requantize}")
        mantissa, exponent = math.frexp(cells.scales[0])
        if mantissa != 0.5 or not 0 <= 1 - exponent <= 15:
            return Refusal(
                Reason.UNSUPPORTED_QUANTIZATION,
                f"the scale of its cells c0 is {cells.scales[0]:g}; kernels take a power of two from 2^-15 to 1: "
                f"{context.requantize}",
            )
        return None

    def layer(self, node: EdgeNode, context: EdgeContext) -> LstmAttrs:
        cells = context.constant_float(self._parameters(node)["c0"])
        assert cells is not None and cells.scales is not None  # says check
        attrs = super().layer(node, context)
        return LstmAttrs(attrs.batch_first, attrs.reverse, 1 - math.frexp(cells.scales[0])[1])

    def scratch_bytes(self, node: Node) -> int:
        """The cells of one batch."""
        return INT16.nbytes(self.sizes(node).hidden)

    def update(self, node: Node, step: Step, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        i, f, g, o = step.gates
        bits = node.attrs.cell_bits
        kept = sat16(requantize(sigmoid(f) * state, *quantize_multiplier(2.0**-15)))
        cells = sat16(requantize(sigmoid(i) * tanh(g), *quantize_multiplier(2.0 ** (bits - 30))) + kept)
        return cells, requantize(sigmoid(o) * tanh(cells, bits), *self.output_multiplier(node))

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        return {**super().encode(node, refs, scratch_bytes), "cell_bits": node.attrs.cell_bits}
