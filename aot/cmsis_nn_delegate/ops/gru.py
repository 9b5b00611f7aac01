"""GRU layer in one direction."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..edge.program_types import EdgeContext, EdgeNode
from ..format.record import I16, I32, Field
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element
from .annotation import RecurrentLayer
from .case import Case
from .gate_functions import ARGUMENT_BITS, RESULT_BITS, sigmoid, tanh
from .quantized_math import requantize
from .recurrent import Numbers, Recurrent, RecurrentAttrs, Step, draws, floats, half_up, initial, last, sat16, specs

_LAST = "cmsis_nn_delegate.gru_last.default"
_GATES = ("reset", "update", "new")

KERNELS = specs(
    "gru",
    "GRU",
    _GATES,
    own=lambda _: (Field("new_bits", I32, "of the recurrent sum of the new gate after the point", low=0, high=12),),
    initial=lambda _: (initial("initial_state", I16),),
    last=(last("last_state", I16),),
)
KERNEL, LENGTHS_KERNEL, INT16, LENGTHS_INT16, INT4, LENGTHS_INT4, INT4_INT16, LENGTHS_INT4_INT16 = KERNELS


@dataclass(frozen=True)
class GruAttrs(RecurrentAttrs):
    """`new_bits`: the recurrent sum of the new gate is in steps of 2^-new_bits."""

    new_bits: int = ARGUMENT_BITS


def _draw(d: Case, lengths: bool, numbers: Numbers) -> Value:
    attrs = GruAttrs(d.pick(False, True), d.pick(False, True), d.integer(8, 12))
    return Gru.draw(d, attrs, numbers.quant(d, 6.5, 8), lengths, numbers)


class Gru(Recurrent):
    """Like the LSTM: gates in Q3.12, their functions in Q0.15. The state is 16 bits, Q0.15, since it adds up small
    steps; the products of the next step take the output, which is that state in the steps and the type of the output.
    All shifts round halves up.

        n = tanh(sat16(input sum + (r * recurrent sum >> (15 + new_bits - 12))))
        s = n + (z * (s - n) >> 15)
        h = sat(requantize(s) + zero point)

    The output before the first step is that of the initial state. The recurrent sum of the new gate is not an argument
    of a function yet, and has as many bits before the point as the weights may need."""

    name = "gru"
    targets = ("cmsis_nn_delegate.gru.default",)
    whole = targets
    annotation = RecurrentLayer(targets, len(_GATES), unit=True, last=_LAST)
    attrs = GruAttrs
    kernels = KERNELS
    draws = draws(_draw)
    gates = _GATES
    wide = ("h0",)
    wide_bits = range(RESULT_BITS, RESULT_BITS + 1)
    last = _LAST
    limits = ("GRU layers of any number of steps; of different lengths with VariableLength",)

    def _apart(self, bias: np.ndarray, recurrent_bias: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The recurrent bias of the new gate is inside of the product with the reset gate."""
        apart = np.where(np.arange(len(bias)) < len(bias) // 3 * 2, 0.0, recurrent_bias)
        return bias + recurrent_bias - apart, apart

    def layer(self, node: EdgeNode, context: EdgeContext) -> GruAttrs:
        attrs, parameters = super().layer(node, context), self._parameters(node)
        weight, output = context.constant_float(parameters["w_hh"]), context.output_quant(node)
        assert weight is not None and weight.data is not None and weight.scales is not None and output is not None
        element = self._element(node, context)
        largest = output.scale[0] * max(element.high - output.zero_point, output.zero_point - element.low)
        reals = np.abs(weight.data.astype(np.float64)) * np.broadcast_to(weight.scales, len(weight.data))[:, None]
        sums = (reals.sum(axis=1) * largest + np.abs(floats(parameters["b_hh"], context)))[len(reals) // 3 * 2 :]
        bits = 15 - math.ceil(math.log2(max(float(sums.max()), 2.0**-10)))
        return GruAttrs(attrs.batch_first, attrs.reverse, min(max(bits, 0), ARGUMENT_BITS))

    def gate_steps(self, gate: int, h: float, attrs: GruAttrs, element: Element) -> tuple[float, float]:
        inputs, recurrent = super().gate_steps(gate, h, attrs, element)
        return inputs, 2.0**-attrs.new_bits if gate == 2 else recurrent

    def scratch_bytes(self, node: Node) -> int:
        """The output before the first step of one batch."""
        return node.outputs[0].element.nbytes(self.sizes(node).hidden)

    def start(self, node: Node, given: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        state = given[0].astype(np.int64)
        output = requantize(state, *self.output_multiplier(node)) + node.outputs[0].zero_point
        return node.outputs[0].type.clamp(output), state

    def update(self, node: Node, step: Step, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        reset, update, _ = step.gates
        product = sigmoid(reset) * sat16(step.recurrent[2])
        new = tanh(sat16(step.inputs[2] + half_up(product, RESULT_BITS + node.attrs.new_bits - ARGUMENT_BITS)))
        state = new + half_up(sigmoid(update) * (state - new), RESULT_BITS)
        return state, requantize(state, *self.output_multiplier(node))

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        return {**super().encode(node, refs, scratch_bytes), "new_bits": node.attrs.new_bits}
