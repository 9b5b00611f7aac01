"""Leaves a state for the next inference."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..format import blocks
from ..format.record import BYTES, Struct
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element
from .case import Case
from .held import FIELDS, STATE, Held, HeldAttrs, draw_recall, draw_state, exclusive_or
from .kernel import KernelSpec

KERNEL = KernelSpec(
    "keep",
    Struct(
        "KeepArgs",
        "A copy to persistent memory: state = input ^ initial.",
        (blocks.input("input", BYTES, "nbytes", doc="of any element"), STATE, *FIELDS),
        geometry="held",
    ),
)


def _draw(d: Case) -> Value:
    """With a recall, because a case has an output: of the state that the keep before it has left."""
    state, initial = draw_state(d, Element.INT8)
    return _kept(d, d.input(*state.shape, quant=state.quant), state, initial)


def _draw_int16(d: Case) -> Value:
    """Of a constant: no input of a model has 16 bits."""
    element = Element.INT16
    state, initial = draw_state(d, element)
    return _kept(d, d.constant(state.shape, element, element.low, element.high, state.quant), state, initial)


def _kept(d: Case, x: Value, state: Value, initial: Value) -> Value:
    d.nodes.append(Node("keep", "keep_0", [x, initial], [], HeldAttrs(state.shape), states=[state]))
    return draw_recall(d, state, initial)


class Keep(Held):
    """Input: the state after this inference. It has no output."""

    name = "keep"
    kernels = (KERNEL,)
    draws = (_draw, _draw_int16)

    def compute(self, node: Node, inputs: Sequence[np.ndarray], states: Sequence[np.ndarray]) -> list[np.ndarray]:
        states[0][...] = exclusive_or(node, inputs[0], states[0].shape)
        return []
