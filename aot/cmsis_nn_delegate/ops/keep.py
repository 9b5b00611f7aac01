"""Leaves a state for the next inference."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..format import blocks
from ..format.record import I8, I16, Scalar, Struct
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element
from .case import Case
from .held import COUNTS, Held, HeldAttrs, draw_recall, draw_state, initial_field, wrapped
from .kernel import KernelSpec


def _kernel(name: str, args: str, element: Scalar) -> KernelSpec:
    fields = (
        blocks.input("input", element, "count", doc=f"{element.element} [count]"),
        blocks.state("state", element, "count", doc=f"{element.element} [count], without `initial`"),
        initial_field(element),
        *COUNTS,
    )
    bits = 8 * element.size
    doc = f"A copy to persistent memory: state = input - initial, modulo 2^{bits}."
    return KernelSpec(name, Struct(args, doc, fields, geometry="held"))


KERNEL = _kernel("keep", "KeepArgs", I8)
STATE_KERNEL = _kernel("keep_int16", "KeepInt16Args", I16)


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
    kernels = (KERNEL, STATE_KERNEL)
    draws = (_draw, _draw_int16)

    def compute(self, node: Node, inputs: Sequence[np.ndarray], states: Sequence[np.ndarray]) -> list[np.ndarray]:
        difference = inputs[0].astype(np.int64).reshape(-1) - node.inputs[-1].constant.reshape(-1)
        states[0][...] = wrapped(difference, node.states[0].element).reshape(states[0].shape)
        return []
