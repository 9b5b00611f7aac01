"""LSTM layer in one direction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..edge.program_types import EdgeContext, EdgeNode
from ..format.record import I16, I32, Field
from ..graph.ir import Node, Value
from ..graph.tensor_type import Quant
from .annotation import RecurrentLayer
from .case import Case
from .gate_functions import RESULT_BITS, sigmoid, tanh
from .quantized_math import quantize_multiplier, requantize
from .recurrent import Numbers, Recurrent, RecurrentAttrs, Step, draws, initial, last, sat16, specs

_LAST = "cmsis_nn_delegate.lstm_last.default"
GATES = ("input", "forget", "cell", "output")
CELL_BITS = Field("cell_bits", I32, "of the cells after the point", low=0, high=15)

KERNELS = specs(
    "lstm",
    "LSTM",
    GATES,
    own=lambda _: (CELL_BITS,),
    initial=lambda kind: (initial("initial_hidden", kind.activations), initial("initial_cells", I16)),
    last=(last("last_cells", I16),),
)
KERNEL, LENGTHS_KERNEL, INT16, LENGTHS_INT16, INT4, LENGTHS_INT4, INT4_INT16, LENGTHS_INT4_INT16 = KERNELS


@dataclass(frozen=True)
class LstmAttrs(RecurrentAttrs):
    """`cell_bits`: the cells are in steps of 2^-cell_bits."""

    cell_bits: int = 15


def _draw(d: Case, lengths: bool, numbers: Numbers) -> Value:
    attrs = LstmAttrs(d.pick(False, True), d.pick(False, True), d.integer(8, 15))
    return Lstm.draw(d, attrs, numbers.quant(d, 6.5, 8), lengths, numbers)


class Lstm(Recurrent):
    """The integer LSTM of TensorFlow Lite (8x8->16), also for inputs and outputs of 16 bits: gates in Q3.12, their
    functions in Q0.15, cells in steps of a power of two.

        c = sat16(requantize(i * g) + sat16(requantize(f * c)))
        h = sat(requantize(o * tanh(c)) + zero point)

    The quantizer finds the range of the cells, which the scale of the initial cells states.
    """

    name = "lstm"
    targets = ("cmsis_nn_delegate.lstm.default",)
    whole = targets
    annotation = RecurrentLayer(targets, len(GATES), cells="cmsis_nn_delegate.lstm_cells.default", last=_LAST)
    attrs = LstmAttrs
    kernels = KERNELS
    draws = draws(_draw)
    gates = GATES
    initial = ("h0", "c0")
    wide = ("c0",)
    last = _LAST
    # Of a product of two results of functions.
    real_bits = 2 * RESULT_BITS
    limits = ("LSTM layers of any number of steps; of different lengths with VariableLength",)

    def layer(self, node: EdgeNode, context: EdgeContext) -> LstmAttrs:
        attrs = super().layer(node, context)
        return LstmAttrs(attrs.batch_first, attrs.reverse, self.state_bits("c0", node, context))

    @staticmethod
    def wide_quant(attrs: LstmAttrs) -> Quant:
        return Quant((2.0**-attrs.cell_bits,), 0)

    def start(self, node: Node, given: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        return given[0], given[1].astype(np.int64)

    def update(self, node: Node, step: Step, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        cells, product = self.product(node, step, state)
        return cells, requantize(product, *self.output_multiplier(node))

    @staticmethod
    def product(node: Node, step: Step, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns the cells [batch, hidden] after `step`, and o * tanh(c) in steps of 2^-30."""
        i, f, g, o = step.gates
        bits = node.attrs.cell_bits
        kept = sat16(requantize(sigmoid(f) * state, *quantize_multiplier(2.0**-15)))
        cells = sat16(requantize(sigmoid(i) * tanh(g), *quantize_multiplier(2.0 ** (bits - 30))) + kept)
        return cells, sigmoid(o) * tanh(cells, bits)

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        return {**super().encode(node, refs, scratch_bytes), "cell_bits": node.attrs.cell_bits}
