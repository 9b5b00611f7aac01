"""What `recall` and `keep` have in common: the state of a model as bytes in persistent memory.

Persistent memory starts as zero bytes, and a state may start as any numbers: it is stored as the exclusive or with
these. So starting anew is to clear the memory, whatever the elements, and the payload has the initial numbers as a
constant: one, if all are equal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..format import blocks
from ..format.record import BYTES, I32, Field, Role
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element, Quant, TensorType
from .annotation import NotAnnotated
from .case import Case
from .features import Features
from .layouts import Layouts
from .op import Op

STATE = blocks.state("state", BYTES, "nbytes", doc="the exclusive or of the state and `initial`")
FIELDS = (
    blocks.operand(Role.FILTER, "initial", BYTES, ("initial_bytes",), "of one element or, if they differ, of each"),
    Field("nbytes", I32, "at least 1"),
    Field("initial_bytes", I32, "1, 2 or nbytes, and a part of nbytes"),
)


@dataclass(frozen=True)
class HeldAttrs:
    """`shape` of the state."""

    shape: tuple[int, ...]


class Held(Op):
    """Base class. The last input is the initial state: one element, or as many as the state has."""

    annotation = NotAnnotated("the importer creates it, of a buffer that forward writes")
    attrs = HeldAttrs
    computes = False
    only_moves = True
    layouts: ClassVar[Layouts] = Layouts.ROW_MAJOR

    def features(self, node: Node) -> Features:
        words, rest = divmod(node.states[0].nbytes, 4)
        return Features({"words": words, "bytes": rest})

    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        return {"initial": node.inputs[-1].constant.reshape(-1)}

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        return {**refs, "nbytes": node.states[0].nbytes, "initial_bytes": node.inputs[-1].nbytes}


def initial_value(name: str, data: np.ndarray) -> Value:
    """Returns the constant for a state that starts as `data`, int8 or int16."""
    flat = data.reshape(-1)
    first = flat[:1] if np.all(flat == flat[0]) else flat
    return Value(f"{name}_initial", TensorType(Element(str(data.dtype)), first.shape), np.ascontiguousarray(first))


def exclusive_or(node: Node, data: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Returns `data` exclusive or the initial state, in `shape`."""
    found: np.ndarray = np.bitwise_xor(data.reshape(-1), node.inputs[-1].constant.reshape(-1)).reshape(shape)
    return found


def draw_state(d: Case, element: Element) -> tuple[Value, Value]:
    """A state and its initial value."""
    shape = (d.integer(1, 3), d.pick(d.integer(1, 20), d.integer(20, 90)))
    quant = d.quant() if element is Element.INT8 else Quant((2.0**-15,), 0)
    state = Value("state", TensorType(element, shape, quant=quant))
    data = d.random.integers(element.low, element.high, shape, endpoint=True).astype(element.numpy)
    if d.pick(False, True):
        data[:] = d.pick(0, data.flat[0])
    return state, initial_value("state", data)


def draw_recall(d: Case, state: Value, initial: Value) -> Value:
    """A recall, of which the floats are an output: no output of a model has 16 bits."""
    output = d.node("recall", [initial], HeldAttrs(state.shape), state.quant)
    output.retype(element=state.element)
    d.nodes[-1].states = [state]
    return d.dequantize(output) if state.element is Element.INT16 else output
