"""The state of a recurrent layer after its last step, or of a sum after this one, which the layer itself gives."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Optional

from ..edge.nodes import DEQUANTIZE, QUANTIZE, operand, target_name
from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Reason, Refusal
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element, TensorType
from .annotation import NotAnnotated
from .op import Op

# By the layer.
_LAST = {
    "cmsis_nn_delegate.gru.default": "cmsis_nn_delegate.gru_last.default",
    "cmsis_nn_delegate.leaky_sum.default": "cmsis_nn_delegate.leaky_sum_last.default",
    "cmsis_nn_delegate.lstm.default": "cmsis_nn_delegate.lstm_last.default",
    "cmsis_nn_delegate.lstm_projected.default": "cmsis_nn_delegate.lstm_projected_last.default",
    "cmsis_nn_delegate.pcen.default": "cmsis_nn_delegate.pcen_last.default",
    "cmsis_nn_delegate.selective_state.default": "cmsis_nn_delegate.selective_state_last.default",
}
_TARGETS = tuple(_LAST.values())


class LastState(Op):
    """Becomes a second output of the layer whose result it reads."""

    name = "last_state"
    targets = _TARGETS
    whole = _TARGETS
    annotation = NotAnnotated("the quantizer annotates it with its layer", _TARGETS)
    limits = ("the state of a layer that is given its initial state, or whose cells are read",)
    becomes = ("gru", "leaky_sum", "lstm", "lstm_projected", "pcen", "selective_state")
    elements = None
    computes = False

    def check(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        if _layer(node) is not None:
            return None
        return Refusal(
            Reason.NOT_QUANTIZED,
            f"the result {operand(node).name} that it reads is not quantized; {context.requantize}",
        )

    def companions(self, node: EdgeNode, context: EdgeContext) -> Iterable[EdgeNode]:
        layer = _layer(node)
        return () if layer is None else (layer,)

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        layer = _layer(node)
        assert layer is not None  # says check
        state = context.last_states[layer]
        value = Value(node.name, TensorType(Element.FLOAT32, state.shape))
        context.define(node, value)
        return [Node("dequantize", node.name, [state], [value], sources=(node.name,))]


def _layer(node: EdgeNode) -> Optional[EdgeNode]:
    """Returns the layer whose result `node` reads."""
    source = operand(node)
    for wanted in (DEQUANTIZE, QUANTIZE):
        if target_name(source) != wanted:
            return None
        source = operand(source)
    return source if target_name(source) in _LAST else None
