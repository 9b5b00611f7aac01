"""Reads the state that the inference before has left."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..format import blocks
from ..format.record import I8, I16, Scalar, Struct
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element
from .case import Case
from .held import COUNTS, Held, draw_recall, draw_state, initial_field, wrapped
from .kernel import KernelSpec


def _kernel(name: str, args: str, element: Scalar) -> KernelSpec:
    fields = (
        blocks.state("state", element, "count", doc=f"{element.element} [count], without `initial`"),
        initial_field(element),
        blocks.output(element, "count", doc=f"{element.element} [count]"),
        *COUNTS,
    )
    bits = 8 * element.size
    doc = f"A copy of persistent memory: output = state + initial, modulo 2^{bits}."
    return KernelSpec(name, Struct(args, doc, fields, geometry="held"))


KERNEL = _kernel("recall", "RecallArgs", I8)
STATE_KERNEL = _kernel("recall_int16", "RecallInt16Args", I16)


def _draw(d: Case) -> Value:
    return draw_recall(d, *draw_state(d, Element.INT8))


def _draw_int16(d: Case) -> Value:
    return draw_recall(d, *draw_state(d, Element.INT16))


class Recall(Held):
    """Output: the state before this inference."""

    name = "recall"
    kernels = (KERNEL, STATE_KERNEL)
    draws = (_draw, _draw_int16)

    def output_shape(self, inputs: Sequence[Value], attrs: Any) -> tuple[int, ...]:
        shape: tuple[int, ...] = attrs.shape
        return shape

    def compute(self, node: Node, inputs: Sequence[np.ndarray], states: Sequence[np.ndarray]) -> list[np.ndarray]:
        (state,) = states
        held = state.astype(np.int64).reshape(-1) + node.inputs[-1].constant.reshape(-1)
        return [wrapped(held, node.output.element).reshape(node.output.storage_shape)]
