"""Layer of a simple recurrent network in one direction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..edge.nodes import target_name
from ..edge.program_types import EdgeContext, EdgeNode
from ..format.record import I32, Field
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element
from .annotation import RecurrentLayer
from .case import Case
from .gate_functions import ARGUMENT_BITS, tanh
from .quantized_math import requantize
from .recurrent import Numbers, Recurrent, RecurrentAttrs, Step, draws, half_up, initial, specs

# The sum before a ReLU, which has 16 bits, has so many bits more than an output of 8, and none more than one of 16.
_RELU_BITS = {Element.INT8: 7, Element.INT16: 0}

KERNELS = specs(
    "rnn",
    "recurrent",
    ("new",),
    own=lambda _: (Field("relu", I32, "1: relu, 0: tanh", low=0, high=1),),
    initial=lambda kind: (initial("initial_hidden", kind.activations),),
)


@dataclass(frozen=True)
class RnnAttrs(RecurrentAttrs):
    """`relu`: instead of tanh."""

    relu: bool = False


def _draw(d: Case, lengths: bool, numbers: Numbers) -> Value:
    attrs = RnnAttrs(d.pick(False, True), d.pick(False, True), d.pick(False, True))
    low, high = (4, 7) if attrs.relu else (6.5, 8)
    return Rnn.draw(d, attrs, numbers.quant(d, low, high), lengths, numbers)


class Rnn(Recurrent):
    """Gate in Q3.12 for tanh, whose result is Q0.15; for relu the gate has 7 bits more than an output of 8, which are
    rounded halves up, and the steps of one of 16."""

    name = "rnn"
    targets = ("cmsis_nn_delegate.rnn_tanh.default", "cmsis_nn_delegate.rnn_relu.default")
    whole = targets
    annotation = RecurrentLayer(targets, 1)
    attrs = RnnAttrs
    kernels = KERNELS
    draws = draws(_draw)
    gates = ("new",)
    limits = ("RNN layers of any number of steps, with tanh or relu; of different lengths with VariableLength",)

    def layer(self, node: EdgeNode, context: EdgeContext) -> RnnAttrs:
        attrs = super().layer(node, context)
        return RnnAttrs(attrs.batch_first, attrs.reverse, target_name(node) == self.targets[1])

    def gate_steps(self, gate: int, h: float, attrs: RnnAttrs, element: Element) -> tuple[float, float]:
        step = h * 2.0 ** -_RELU_BITS[element] if attrs.relu else 2.0**-ARGUMENT_BITS
        return step, step

    def start(self, node: Node, given: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        return given[0], np.zeros(len(given[0]))

    def update(self, node: Node, step: Step, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        (gate,) = step.gates
        if node.attrs.relu:
            return state, np.maximum(half_up(gate, _RELU_BITS[node.outputs[0].element]), 0)
        return state, requantize(tanh(gate), *self.output_multiplier(node))

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        return {**super().encode(node, refs, scratch_bytes), "relu": int(node.attrs.relu)}

    def output_multiplier(self, node: Node) -> tuple[int, int]:
        """Returns that of tanh; relu has none."""
        return (0, 0) if node.attrs.relu else super().output_multiplier(node)
