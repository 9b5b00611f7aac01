"""Layer of a simple recurrent network in one direction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..edge.nodes import target_name
from ..edge.program_types import EdgeContext, EdgeNode
from ..format.record import I8, I32, Field
from ..graph.ir import Node, Value
from .annotation import RecurrentLayer
from .case import Case
from .gate_functions import ARGUMENT_BITS, tanh
from .quantized_math import requantize
from .recurrent import Recurrent, RecurrentAttrs, Step, half_up, initial, specs

# The sum before a ReLU has so many bits more than the output.
_RELU_BITS = 7

KERNEL, LENGTHS_KERNEL = specs(
    "rnn",
    "int8 recurrent layer in one direction: h = tanh or relu of W x + U h, see docs/reference/recurrent_layers.md.",
    ("new",),
    Field("relu", I32, "1: relu, 0: tanh", low=0, high=1),
    initial=(initial("initial_hidden", I8),),
)


@dataclass(frozen=True)
class RnnAttrs(RecurrentAttrs):
    """`relu`: instead of tanh."""

    relu: bool = False


def _draw(d: Case, lengths: bool = False) -> Value:
    attrs = RnnAttrs(d.pick(False, True), d.pick(False, True), d.pick(False, True))
    low, high = (4, 7) if attrs.relu else (6.5, 8)
    return Rnn.draw(d, attrs, d.quant(float(2.0 ** -d.random.uniform(low, high))), lengths)


def _draw_lengths(d: Case) -> Value:
    return _draw(d, lengths=True)


class Rnn(Recurrent):
    """Gate in Q3.12 for tanh, whose result is Q0.15; for relu the gate has 7 bits more than the output, which are
    rounded halves up."""

    name = "rnn"
    targets = ("cmsis_nn_delegate.rnn_tanh.default", "cmsis_nn_delegate.rnn_relu.default")
    whole = targets
    annotation = RecurrentLayer(targets, 1)
    attrs = RnnAttrs
    kernels = (KERNEL, LENGTHS_KERNEL)
    draws = (_draw, _draw_lengths)
    gates = ("new",)
    limits = ("RNN layers of any number of steps, with tanh or relu; of different lengths with VariableLength",)

    def layer(self, node: EdgeNode, context: EdgeContext) -> RnnAttrs:
        attrs = super().layer(node, context)
        return RnnAttrs(attrs.batch_first, attrs.reverse, target_name(node) == self.targets[1])

    def gate_steps(self, gate: int, h: float, attrs: RnnAttrs) -> tuple[float, float]:
        step = h * 2.0**-_RELU_BITS if attrs.relu else 2.0**-ARGUMENT_BITS
        return step, step

    def start(self, node: Node, given: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        return given[0], np.zeros(len(given[0]))

    def update(self, node: Node, step: Step, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        (gate,) = step.gates
        if node.attrs.relu:
            return state, np.maximum(half_up(gate, _RELU_BITS), 0)
        return state, requantize(tanh(gate), *self.output_multiplier(node))

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        return {**super().encode(node, refs, scratch_bytes), "relu": int(node.attrs.relu)}

    def output_multiplier(self, node: Node) -> tuple[int, int]:
        """Returns that of tanh; relu has none."""
        return (0, 0) if node.attrs.relu else super().output_multiplier(node)
