"""Step 3: the conversion, operator by operator."""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch.fx import GraphModule, Interpreter, Node
from torch.utils import _pytree as pytree

from ..in_place import names_of_state, written
from .running import DEQUANTIZES, FLOAT_TOLERANCE, Sample, Stepwise, close, extent, fail, is_float, outputs
from .scales import Scales

_Q = torch.ops.quantized_decomposed
_QUANTIZES = {_Q.quantize_per_tensor.default, _Q.quantize_per_channel.default, *DEQUANTIZES}
_STEPS_TOLERANCE = 0.51  # of the scale


class Layers(Interpreter):
    """Runs the prepared module on the numbers of the quantized one, and compares node by node."""

    def __init__(self, prepared: GraphModule, converted: GraphModule, sample: Sample, scales: Scales) -> None:
        super().__init__(prepared)
        self.extra_traceback = False
        self._scales = scales
        self._state = names_of_state(prepared.graph)
        twins = {
            node.name: node
            for node in converted.graph.nodes
            if node.op == "output" or node.op == "call_function" and node.target not in _QUANTIZES
        }
        self._twins = {node: twins[node.name] for node in prepared.graph.nodes if node.name in twins}
        readers = {read: node for node, twin in self._twins.items() for read in (*twin.all_input_nodes, twin)}
        self._last_reads: dict[Node, list[Node]] = {}
        for read, node in readers.items():
            self._last_reads.setdefault(node, []).append(read)
        self._quantized = Stepwise(converted, sample, readers)

    def quantized_outputs(self) -> list[Any]:
        """Returns the outputs of the quantized module, once this one has run."""
        return outputs(self._quantized)

    def run_node(self, node: Node) -> Any:
        if node.op == "call_module":
            source: Any = node.args[0]
            return self._scales.rounded(node, self.env[source])
        twin = self._twins.get(node)
        if twin is None:
            return super().run_node(node)
        result = self._run_beside(node, twin)
        for read in self._last_reads.get(node, []):
            if read.op != "output":
                self._quantized.forget(read)
        return result

    def _run_beside(self, node: Node, twin: Node) -> Any:
        mine, spec = pytree.tree_flatten((node.args, node.kwargs))
        others = pytree.tree_leaves((twin.args, twin.kwargs))
        nodes = [[x for x in leaves if isinstance(x, Node)] for leaves in (mine, others)]
        if len(nodes[0]) != len(nodes[1]):
            fail(node, "the quantized operator reads another number of tensors")
        read = {}
        for a, b in zip(*nodes):
            read[a] = self._quantized[b]
            self._compare(node, a, self.env[a], read[a])
        if node.op == "output" or written(node) or node in self._state:
            return super().run_node(node)  # a copy of a state would not be written
        # What the operator is given but for tensors (strides, padding) is the float one's.
        args, kwargs = pytree.tree_unflatten([read[x] if isinstance(x, Node) else x for x in mine], spec)
        target: Any = node.target
        wanted, value = target(*args, **kwargs), self._quantized[twin]
        for a, b in zip(pytree.tree_leaves(value), pytree.tree_leaves(wanted)):
            if not close(a, b, FLOAT_TOLERANCE):
                fail(node, "the quantized operator computes other numbers of what it is given")
        return value.clone() if isinstance(value, torch.Tensor) else value

    def _constant(self, node: Node) -> torch.Tensor:
        value: torch.Tensor = operator.attrgetter(str(node.target))(self.module)
        return value

    def _compare(self, node: Node, operand: Node, wanted: Any, value: Any) -> None:
        if not is_float(wanted) or not is_float(value):
            return
        source: Any = operand.args[0] if operand.op == "call_module" else operand
        constant = source.op == "get_attr"
        at, what = (node, f"its constant {source.target}") if constant else (source, "its output")
        if wanted.shape != value.shape:
            fail(at, f"{what} has another shape after quantization")
        apart = (wanted - value).abs_()
        if operand.op == "call_module":
            step = self._scales.step(operand, wanted)
            # A tensor without dimensions cannot hold what one element of a vector makes of it.
            apart = apart.div_(step if apart.dim() else step.squeeze())
            if constant and self._scales.observer(operand).dtype == torch.int32:
                # What exceeds 32 bits is refused when the layer is lowered, with the reason.
                apart = apart[(self._constant(source).double() / step.double()).abs() < 2.0**31 - 256]
            limit, unit = _STEPS_TOLERANCE, "steps of its scale"
        else:
            limit, unit = FLOAT_TOLERANCE * extent(wanted) + 1e-30, "in float"
        worst = float(apart.nan_to_num_(0.0).max()) if apart.numel() else 0.0
        if worst > limit:
            fail(
                at,
                f"{what}, as {node.name} reads it, differs by {worst:.3g} {unit} from the float value rounded once",
            )
