"""Reads the state that the inference before has left."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..format import blocks
from ..format.record import BYTES, Struct
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element
from .case import Case
from .held import FIELDS, STATE, Held, draw_recall, draw_state, exclusive_or
from .kernel import KernelSpec

KERNEL = KernelSpec(
    "recall",
    Struct(
        "RecallArgs",
        "A copy of persistent memory: output = state ^ initial.",
        (STATE, blocks.output(BYTES, "nbytes", doc="of any element"), *FIELDS),
        geometry="held",
    ),
)


def _draw(d: Case) -> Value:
    return draw_recall(d, *draw_state(d, Element.INT8))


def _draw_int16(d: Case) -> Value:
    return draw_recall(d, *draw_state(d, Element.INT16))


class Recall(Held):
    """Output: the state before this inference."""

    name = "recall"
    kernels = (KERNEL,)
    draws = (_draw, _draw_int16)

    def output_shape(self, inputs: Sequence[Value], attrs: Any) -> tuple[int, ...]:
        shape: tuple[int, ...] = attrs.shape
        return shape

    def compute(self, node: Node, inputs: Sequence[np.ndarray], states: Sequence[np.ndarray]) -> list[np.ndarray]:
        return [exclusive_or(node, states[0], node.output.storage_shape)]
