"""What an operator may ask about a node of an edge program.

An *edge program* is an `ExportedProgram` of ExecuTorch's edge dialect. Operators are
named by the strings of their overloads ("aten.linear.default"), so that the same
checks serve the ATen program before `to_edge` (see `CmsisNnPartitioner.ops_to_not_decompose`).

Quantized operators stand between dequantize and quantize nodes:

    q -> dq -> convolution -> relu -> q -> dq -> view_copy -> q

`EdgeContext` finds the parameters at both ends. It looks through nodes without
parameters of their own: reshapes, and the activation fused into the operator before it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple, Optional

import numpy as np
import torch
from torch._subclasses import FakeTensor
from torch.export import ExportedProgram
from torch.fx import Node

from ..format.element import KERNEL_ELEMENTS, named
from ..format.schema import MAX_DIM, MAX_RANK
from ..graph.tensor_type import Element, Layout, Quant, TensorType
from .constant import Constant
from .functions import Functions
from .naming import computed_in_float, described
from .nodes import (
    ACTIVATIONS,
    DEQUANTIZE,
    DEQUANTIZE_BLOCKS,
    DEQUANTIZE_CHANNEL,
    DEQUANTIZE_DYNAMIC,
    DEQUANTIZE_GROUPS,
    GETITEM,
    MOVES,
    QUANTIZE,
    RESHAPES,
    argument,
    element_type,
    is_dynamic,
    operand,
    quant_of,
    quantized_element,
    shape_of,
    target_name,
    tensor,
)
from .refusal import DYNAMICALLY, Reason, Refusal
from .torch_types import element_of

# What kernels compute with, for messages.
_TAKEN = named(*KERNEL_ELEMENTS)
_RANGES = " or ".join(element.range_text for element in KERNEL_ELEMENTS)

_TRANSPOSES = {
    "aten.permute_copy.default",
    "aten.permute.default",
    "aten.t_copy.default",
    "aten.t.default",
    "aten.transpose_copy.int",
    "aten.transpose.int",
}

# Operators that at most convert the elements. Edge programs convert numbers to the type of the other operand.
_COPIES = {
    "aten._to_copy.default",
    "aten.clone.default",
    "aten.detach.default",
    "aten.lift_fresh_copy.default",
    "dim_order_ops._clone_dim_order.default",
    "dim_order_ops._to_dim_order_copy.default",
}


def layout_of(node: Node) -> Optional[Layout]:
    """Returns how the tensor lies in memory, if that is one of the two layouts that a payload supports."""
    value = tensor(node)
    if value.is_contiguous():
        return Layout.ROW_MAJOR
    if value.dim() == 4 and value.is_contiguous(memory_format=torch.channels_last):
        return Layout.CHANNELS_LAST
    return None


def is_index(node: Node) -> bool:
    """Whether the result is a tensor of integers that can count the rows of a table, of a fixed shape."""
    value = tensor(node)
    if not isinstance(value, torch.Tensor) or is_dynamic(node):
        return False
    element = element_of(value.dtype)
    return element is not None and element.is_index


def _leads_to_lengths(node: Node) -> bool:
    """Returns whether integers or booleans reach a layer of ours, which take none but the lengths of sequences."""
    pending = [node]
    for found in pending:
        value = tensor(found)
        if not isinstance(value, torch.Tensor) or value.is_floating_point():
            continue
        if any(target_name(user).startswith("cmsis_nn_delegate.") for user in found.users):
            return True
        pending += [user for user in found.users if user.op == "call_function" and user not in pending]
    return False


def _numpy(data: Optional[torch.Tensor]) -> Optional[np.ndarray]:
    return None if data is None or isinstance(data, FakeTensor) else data.detach().cpu().numpy()


def _order(node: Node, rank: int) -> list[int]:
    """Returns the permutation that a node of `_TRANSPOSES` applies."""
    name = target_name(node)
    if "permute" in name:
        return [dim % rank for dim in argument(node, 1)]
    order = list(range(rank))
    if "transpose" in name:
        a, b = (argument(node, index) % rank for index in (1, 2))
        order[a], order[b] = order[b], order[a]
        return order
    return order[::-1]


class _Quantized(NamedTuple):
    """How an activation is quantized."""

    element: Element
    quant: Quant


class EdgeContext:
    """Questions about `program`, which must not change while the context is used.

    `functions` are those of the program before it was decomposed, for messages. `prepared` says that
    CmsisNnQuantizer has seen the program, even if nothing in it could be quantized.
    """

    def __init__(
        self,
        program: ExportedProgram,
        functions: Optional[Functions] = None,
        prepared: bool = False,
    ) -> None:
        self.program = program
        self._functions = functions
        signature = program.graph_signature
        self._parameters = dict(signature.inputs_to_parameters)
        mutated: set[str] = set(signature.buffers_to_mutate.values())
        self._buffers = {name: target for name, target in signature.inputs_to_buffers.items() if target not in mutated}
        # Buffers that the program writes.
        self._states: dict[str, str] = {
            name: target for name, target in signature.inputs_to_buffers.items() if target in mutated
        }
        self._lifted = dict(signature.inputs_to_lifted_tensor_constants)
        # Whether constants have values; ExecuTorch gives partitioners programs that have only their shapes.
        held = (*program.state_dict.values(), *program.constants.values())
        self.has_data = not any(isinstance(value, FakeTensor) for value in held)
        # Whether the program went through a quantizer.
        self._prepared = prepared
        self.quantized = prepared or any(target_name(node) == QUANTIZE for node in program.graph.nodes)

    def described(self, node: Node) -> str:
        """Returns a node as the user knows it: the function that it was decomposed from, and where that is."""
        function = None if self._functions is None else self._functions.of(node)
        if function is None or function.target == target_name(node):
            return described(node)
        where = f" in {function.module}" if function.module else ""
        return f"{function.name} ({function.target}){where}"

    @property
    def requantize(self) -> str:
        """What to do about tensors that are not quantized as kernels take them. It ends with the quantizer's name."""
        if self._prepared:
            return "remove the override or range that you have set for it, and leave it to CmsisNnQuantizer"
        return "quantize with CmsisNnQuantizer"

    # Arguments --------------------------------------------------------------

    def arguments(self, node: Node) -> list[Any]:
        """Returns the arguments of an operator by position, including defaults."""
        overload: Any = node.target
        schema = overload._schema
        values = []
        for i, declared in enumerate(schema.arguments):
            if i < len(node.args):
                values.append(node.args[i])
            elif declared.name in node.kwargs:
                values.append(node.kwargs[declared.name])
            else:
                values.append(declared.default_value)
        return values

    def moved_elements(self, node: Node) -> np.ndarray:
        """Returns, for an operator that moves the values of its first argument, which of them each element of the
        result is, both counted in row-major order. The operator itself says so, of numbered elements."""
        shape = shape_of(operand(node))
        numbered = torch.arange(math.prod(shape), dtype=torch.float64).reshape(shape)
        overload: Any = getattr(node.target, "_op", node.target)  # ATen's, of an edge program's operator
        moved: np.ndarray = overload(numbered, *node.args[1:], **node.kwargs).numpy().astype(np.int64)
        return moved.reshape(-1)

    def chosen_pixels(self, node: Node) -> list[np.ndarray]:
        """Returns, for an operator that resamples its first argument, [N, C, ...], by choosing rows, columns and so on,
        which ones of each of these dimensions it chooses. The operator itself says so, of numbered ones."""
        _, _, *sizes = shape_of(operand(node))
        overload: Any = getattr(node.target, "_op", node.target)  # ATen's, of an edge program's operator
        found = []
        for dim, size in enumerate(sizes):
            shape = [size if other == dim else 1 for other in range(len(sizes))]
            numbered = torch.arange(size, dtype=torch.float32).view(1, 1, *shape).expand(1, 1, *sizes).contiguous()
            moved = overload(numbered, *node.args[1:], **node.kwargs)[0, 0].movedim(dim, 0)
            found.append(moved.reshape(moved.shape[0], -1)[:, 0].numpy().astype(np.int64))
        return found

    # Indices ----------------------------------------------------------------

    def moved_indices(self, node: Node) -> tuple[Node, np.ndarray]:
        """Returns where the indices `node` come from, behind what only moves them or gives them more bits, and which
        element of that tensor, counted in row-major order, each of them is."""
        elements = np.arange(math.prod(shape_of(node)))
        while self.moves_indices(node):
            elements = self.moved_elements(node)[elements]
            node = operand(node)
        return node, elements

    def moves_indices(self, node: Node) -> bool:
        """Returns whether `node` only moves indices or gives them more bits."""
        if target_name(node) not in MOVES or not is_index(node) or not is_index(operand(node)):
            return False
        sizes: list[int] = [tensor(x).dtype.itemsize for x in (operand(node), node)]
        return sizes[0] <= sizes[1]

    def indices_in_order(self, node: Node) -> Node:
        """Returns where the indices `node` come from, behind what gives all of them another shape or more bits; `node`
        itself behind what leaves some out or changes their order."""
        source, elements = self.moved_indices(node)
        whole = len(elements) == math.prod(shape_of(source)) and bool((elements == np.arange(len(elements))).all())
        return source if whole and layout_of(source) is Layout.ROW_MAJOR else node

    def index_type(self, node: Node) -> TensorType:
        """Returns the type of indices that come into the delegate, once `refuse_indices` has found nothing."""
        layout = layout_of(node)
        if layout is None:
            raise ValueError(f"{node.name} is not contiguous")
        return TensorType(Element(element_type(tensor(node).dtype)), shape_of(node), layout)

    def refuse_indices(self, node: Node) -> Optional[Refusal]:
        """Refuses what is no int64 or int32 tensor that comes into the delegate."""
        if not is_index(node):
            return Refusal(
                Reason.UNSUPPORTED_DTYPE,
                f"its indices {node.name} are no int64 or int32 tensor of a fixed shape: convert them with .long(), "
                "and export with static shapes",
            )
        source, _ = self.moved_indices(node)
        if self.is_constant(source) or layout_of(source) is None or len(shape_of(source)) > MAX_RANK:
            return Refusal(
                Reason.UNSUPPORTED_PARAMETER,
                f"its indices come from {source.name}, which is constant, not contiguous or of rank more than "
                f"{MAX_RANK}: look constant indices up where the model is made, and call .contiguous() on others",
            )
        return None

    # Constants --------------------------------------------------------------

    def is_constant(self, node: Node) -> bool:
        return node.name in self._parameters or node.name in self._buffers or node.name in self._lifted

    def constant(self, node: Any) -> Optional[torch.Tensor]:
        """Returns the data of a parameter, an unchanging buffer or a lifted constant, and None for other nodes."""
        if not isinstance(node, Node):
            return None
        name = self._parameters.get(node.name) or self._buffers.get(node.name)
        if name is not None:
            found: Optional[torch.Tensor] = self.program.state_dict.get(name)
            return found if found is not None else self.program.constants.get(name)
        name = self._lifted.get(node.name)
        return None if name is None else self.program.constants.get(name)

    def constant_float(self, node: Any) -> Optional[Constant]:
        """Returns the constant that an operator reads as `node`, dequantized or float, transposed or not. None if
        `node` is not a constant."""
        if not isinstance(node, Node):
            return None
        name = target_name(node)
        if name in _TRANSPOSES:
            inner = self.constant_float(node.args[0])
            return None if inner is None else inner.transposed(_order(node, len(inner.shape)))
        if name in (DEQUANTIZE, DEQUANTIZE_CHANNEL):
            data = self.constant(node.args[0])
            if data is None:
                return None
            if name == DEQUANTIZE:
                scale, zero_point = np.array([node.args[1]], np.float64), np.array([node.args[2]])
                return Constant(
                    *(element_type(data.dtype), tuple(data.shape), True, None, _numpy(data), scale, zero_point),
                    limits=(argument(node, 3), argument(node, 4)),
                )
            scales, zero_points = (_numpy(self.constant(arg)) for arg in node.args[1:3])
            if scales is not None:
                scales = scales.astype(np.float64).reshape(-1)
                zero_points = np.zeros(1, np.int64) if zero_points is None else zero_points.reshape(-1)
            axis = argument(node, 3) % data.dim()
            limits = argument(node, 4), argument(node, 5)
            return Constant(
                *(element_type(data.dtype), tuple(data.shape), True, axis, _numpy(data), scales, zero_points), limits
            )
        if name in (DEQUANTIZE_BLOCKS, DEQUANTIZE_GROUPS):
            return self._in_groups(node)
        if name in _COPIES:
            inner = self.constant_float(node.args[0])
            return None if inner is None or inner.quantized else inner.as_type(element_type(tensor(node).dtype))
        if name in RESHAPES:
            inner = self.constant_float(node.args[0])
            return None if inner is None else inner.reshaped(shape_of(node))
        data = self.constant(node)
        return (
            None if data is None else Constant(element_type(data.dtype), tuple(data.shape), False, None, _numpy(data))
        )

    def _in_groups(self, node: Node) -> Optional[Constant]:
        """Returns a constant matrix with a scale for each group along one dimension and each index of the other, which
        becomes float32; None if `node` is none."""
        arguments = self.arguments(node)
        data = self.constant(arguments[0])
        if data is None or data.dim() != 2 or element_type(tensor(node).dtype) != Element.FLOAT32.value:
            return None
        if target_name(node) == DEQUANTIZE_BLOCKS:
            _, block, scales, zero_points, _, low, high, *_ = arguments
            if len(block) != 2 or 1 not in block:
                return None
            axis = 1 if block[0] == 1 else 0
            group = block[axis]
        else:
            axis = 1
            _, scales, zero_points, low, high, _, group, *_ = arguments
        scales, zeros = self.constant(scales), None if zero_points is None else self.constant(zero_points)
        if scales is None or (zero_points is not None and zeros is None) or group < 1 or data.shape[axis] % group:
            return None
        element = Element(element_type(data.dtype))
        limits = element.low if low is None else int(low), element.high if high is None else int(high)
        groups = [data.shape[0], data.shape[1]]
        groups[axis] //= group

        def by_group(found: Optional[np.ndarray], dtype: Any) -> Optional[np.ndarray]:
            # The groups last.
            return None if found is None else np.moveaxis(found.reshape(groups).astype(dtype), axis, 1)

        steps = np.zeros(groups) if zeros is None else _numpy(zeros)
        constant = Constant(
            *(element.value, tuple(data.shape), True, axis, _numpy(data)),
            by_group(_numpy(scales), np.float64),
            by_group(steps, np.int64),
            limits,
            group,
        )
        return constant.without_groups()

    def is_number(self, argument: Any) -> bool:
        """Returns whether an argument is a plain number, or a constant with one element, which edge programs make of
        numbers."""
        if isinstance(argument, Node):
            constant = self.constant_float(argument)
            return constant is not None and not constant.quantized and math.prod(constant.shape) == 1
        return isinstance(argument, (int, float)) and not isinstance(argument, bool)

    def number(self, argument: Any) -> Optional[float]:
        """Returns the value of what `is_number` calls a number; None if the program has no data."""
        if not isinstance(argument, Node):
            return float(argument)
        constant = self.constant_float(argument)
        return None if constant is None or constant.data is None else float(constant.data.reshape(-1)[0])

    def activations(self, node: Node) -> list[Node]:
        """Returns the arguments of `node` that are tensors and no numbers; one that is given twice is there twice."""
        return [a for a in self.arguments(node) if isinstance(a, Node) and not self.is_number(a)]

    def is_unary(self, node: Node) -> bool:
        """Returns whether `node` computes each element from the same element of one activation, and numbers."""
        found = self.activations(node)
        return len(found) == 1 and self.constant_float(found[0]) is None and shape_of(found[0]) == shape_of(node)

    # Quantization -----------------------------------------------------------

    def source(self, node: Node) -> Node:
        """Returns the tensor that `node` reshapes, through a chain of reshapes, or `node` itself."""
        while target_name(node) in RESHAPES:
            node = operand(node)
        return node

    def input_quant(self, node: Node) -> Optional[Quant]:
        """Returns how the float tensor `node`, which an operator reads, is quantized; None if it is not."""
        return _quant(self._input_type(node))

    def output_quant(self, node: Node) -> Optional[Quant]:
        """Returns how all readers of operator `node` quantize its result; None if they do not."""
        return _quant(self._output_type(node))

    def _input_type(self, node: Node) -> Optional[_Quantized]:
        node = self.source(node)
        if target_name(node) != DEQUANTIZE or self.constant(node.args[0]) is not None:
            return None
        return _quantized(node)

    def _output_type(self, node: Node) -> Optional[_Quantized]:
        types = {self._reader_type(user) for user in node.users}
        return types.pop() if len(types) == 1 else None

    def operand_quant(self, node: Node) -> Optional[Quant]:
        """Returns how an operand is quantized that may also be a constant; None if it is not."""
        constant = self.constant_float(node)
        return self.input_quant(node) if constant is None else constant.quant

    def operand_element(self, node: Node) -> Optional[Element]:
        """Returns the type of an operand that may also be a constant; None if it is not quantized."""
        constant, found = self.constant_float(node), self._input_type(node)
        if constant is None:
            return None if found is None else found.element
        return Element(constant.dtype) if constant.quant is not None else None

    def operand_scale(self, node: Node) -> float:
        """Returns the scale of `operand_quant`, once a check has found that there is one."""
        return _scale(node, self.operand_quant(node))

    def input_scale(self, node: Node) -> float:
        """Returns the scale of `input_quant`, once `refuse_quant` has found that there is one."""
        return _scale(node, self.input_quant(node))

    def output_scale(self, node: Node) -> float:
        """Returns the scale of `output_quant`, once `refuse_quant` has found that there is one."""
        return _scale(node, self.output_quant(node))

    def _reader_type(self, user: Node) -> Optional[_Quantized]:
        name = target_name(user)
        if name == QUANTIZE:
            return _quantized(user)
        if name == GETITEM and user.args[1] == 0:
            return self._output_type(user)
        # Only a sole reader may be looked through: see `chain_to_quantize`.
        alone = len(operand(user).users) == 1 if name in RESHAPES | ACTIVATIONS else False
        return self._output_type(user) if alone else None

    def chain_to_quantize(self, node: Node) -> Iterator[Node]:
        """Yields the nodes that `output_quant` looked at: reshapes, an activation, quantizes."""
        for user in node.users:
            yield user
            if target_name(user) != QUANTIZE:
                yield from self.chain_to_quantize(user)

    # Refusals shared by many operators --------------------------------------

    def refuse_tensors(self, *nodes: Node) -> Optional[Refusal]:
        """Refuses anything but static float32 tensors of a size that a payload can describe."""
        for node in nodes:
            value = tensor(node)
            if not isinstance(value, torch.Tensor):
                return Refusal(Reason.UNSUPPORTED_DTYPE, f"{node.name} is not a tensor")
            if is_dynamic(node):
                return Refusal(
                    Reason.DYNAMIC_SHAPE,
                    f"{node.name} has the dynamic shape {list(value.shape)}; export with static "
                    "shapes (no dynamic_shapes, a fixed batch size)",
                )
            if value.dtype != torch.float32 and self.is_constant(self.source(node)):
                return Refusal(
                    Reason.UNSUPPORTED_PARAMETER,
                    f"its operand {node.name} is a constant, such as a number in forward; only activations "
                    "are supported here: fold the constant into the layer before",
                )
            if _leads_to_lengths(node):
                return Refusal(
                    Reason.UNSUPPORTED_DTYPE,
                    f"{node.name} is {element_type(value.dtype)} and leads to the lengths of a recurrent layer, which "
                    "takes them from outside of its call: leave it as it is, since lengths computed from floats are "
                    "quantized, and then not exact; or compute them in the application, and make them an input",
                )
            counter = self._counter(node)
            if counter is not None:
                return Refusal(
                    Reason.UNSUPPORTED_DTYPE,
                    f"{node.name} is {element_type(value.dtype)}, computed of the state {counter!r}; the delegate "
                    "holds no integers: let the application count, and give the model the number as an input, or keep "
                    "it as a row of zeros and a 1, which torch.roll moves on",
                )
            if value.dtype != torch.float32:
                return Refusal(
                    Reason.UNSUPPORTED_DTYPE,
                    f"{node.name} is {element_type(value.dtype)}; the delegate takes float32 and {_TAKEN}, and "
                    "integers only as indices of constant tables, so convert the model and its inputs with .float()",
                )
            shape = shape_of(node)
            if len(shape) > MAX_RANK:
                return Refusal(
                    Reason.UNSUPPORTED_SHAPE,
                    f"{node.name} has rank {len(shape)}; at most {MAX_RANK} is supported",
                )
            if math.prod(shape) == 0:
                return Refusal(Reason.UNSUPPORTED_SHAPE, f"{node.name} is empty: shape {list(shape)}")
            size = math.prod(shape) * value.element_size()
            if size > MAX_DIM:
                return Refusal(
                    Reason.TOO_LARGE,
                    f"{node.name} has shape {list(shape)}, {size} bytes of float32; a payload describes tensors of at "
                    f"most {MAX_DIM}: compute it in parts, such as a layer for each half of its channels",
                )
        return None

    def refuse_floats(self, *nodes: Node) -> Optional[Refusal]:
        """Refuses what `refuse_tensors` does and tensors that are not row-major, for kernels of float32. Constants may
        have any type."""
        for node in nodes:
            refusal = None if self.constant_float(node) is not None else self.refuse_tensors(node)
            if refusal is not None:
                return refusal
            if layout_of(node) is not Layout.ROW_MAJOR and self.constant_float(node) is None:
                return Refusal(
                    Reason.UNSUPPORTED_SHAPE,
                    f"{node.name} does not lie in row-major order, which kernels of float32 take: call .contiguous() "
                    "on it",
                )
        return None

    def float_state(self, node: Node) -> str:
        """Returns what to say about a state that is not quantized; "" for other nodes."""
        if node.name not in self._states:
            return ""
        return (
            f"the state {self._states[node.name]!r}, which stays in float: its next value is computed of the old one "
            "by more than moves and recurrent layers, and quantized it may lose its small steps. To quantize it all "
            "the same, let forward take it as an input and return the next one"
        )

    def _counter(self, node: Node) -> Optional[str]:
        """Returns the buffer of integers, written by the program, that integers or booleans are computed of; None if
        they are not."""
        pending = [node]
        for found in pending:
            value = tensor(found)
            if not isinstance(value, torch.Tensor) or value.is_floating_point():
                continue
            if found.name in self._states:
                return self._states[found.name]
            pending += [source for source in found.all_input_nodes if source not in pending]
        return None

    def refuse_image(self, node: Node, what: str) -> Optional[Refusal]:
        """Refuses tensors that are not of rank 4."""
        if len(shape_of(node)) == 4:
            return None
        if len(shape_of(node)) == 5:
            return Refusal(
                Reason.UNSUPPORTED_SHAPE,
                f"{what} has rank 5, {list(shape_of(node))}; CmsisNnQuantizer makes images of volumes for Conv3d and "
                "ConvTranspose3d with constant weights and for pools, unless the model is trained with quantization: "
                "train with weights of two dimensions, or quantize afterwards",
            )
        return Refusal(
            Reason.UNSUPPORTED_SHAPE,
            f"{what} has rank {len(shape_of(node))}, {list(shape_of(node))}; only batches of images [N, C, H, W] are "
            "supported, and of sequences [N, C, L] if CmsisNnQuantizer made images of them: add the missing dimensions "
            "with unsqueeze",
        )

    def refuse_quant(self, node: Node, inputs: Sequence[Node], same: bool = False) -> Optional[Refusal]:
        """Refuses inputs and outputs that are not quantized or, if `same`, do not share one scale and zero point.
        `refuse_elements` asks for their types. What is computed in float32 needs no scale."""
        if computed_in_float(node):
            return None
        for value in inputs:
            refusal = self.refuse_input_quant(node, value)
            if refusal is not None:
                return refusal
        output = self.output_quant(node)
        if output is None:
            quantizes = [user for user in node.users if target_name(user) == QUANTIZE]
            return self._not_quantized(node, "its output is", quantizes[0] if quantizes else node)
        if same and any(self.input_quant(value) != output for value in inputs):
            return Refusal(
                Reason.UNSUPPORTED_QUANTIZATION,
                f"input {_show(self.input_quant(inputs[0]))} and output {_show(output)} differ, but"
                f" the kernel does not rescale; {self.requantize}, which shares them",
            )
        return None

    def refuse_input_quant(self, node: Node, value: Node) -> Optional[Refusal]:
        """Refuses `value`, which `node` reads, if it is not quantized."""
        if self.input_quant(value) is not None:
            return None
        return self._not_quantized(value, f"its input {value.name} is", self.source(value))

    def refuse_elements(
        self, node: Node, taken: Collection[Element], operands: Optional[Sequence[Node]] = None
    ) -> Optional[Refusal]:
        """Refuses quantized inputs and outputs of other types than `taken`, or of several types. Weights are not
        looked at, and neither is what is in float. `operands`: of all operands, only these."""
        if computed_in_float(node):
            return None
        read = node.all_input_nodes if operands is None else operands
        inputs = [(value, self._input_type(value)) for value in read]
        found = [(f"its input {value.name} is", kind.element) for value, kind in inputs if kind is not None]
        output = self._output_type(node)
        if output is not None:
            found.append(("its output is", output.element))
        for what, element in found:
            if element not in taken:
                return Refusal(
                    Reason.UNSUPPORTED_QUANTIZATION,
                    f"{what} {element.value}, and the kernel takes {named(*taken)}: {self.requantize}, which converts "
                    "between the formats of operators",
                )
            if element is not found[0][1]:
                return Refusal(
                    Reason.UNSUPPORTED_QUANTIZATION,
                    f"{found[0][0]} {found[0][1].value} and {what} {element.value}; the kernels compute in one type: "
                    f"{self.requantize}, which converts between the formats of operators",
                )
        return None

    def refuse_parameters(self, node: Node) -> Optional[Refusal]:
        """Refuses a quantize or dequantize that is not per tensor, or not to what kernels take."""
        if quant_of(node) is not None:
            return None
        return Refusal(
            Reason.UNSUPPORTED_QUANTIZATION,
            f"it is {node.args[5]} in [{node.args[3]}, {node.args[4]}] with scale {node.args[1]}"
            f" and zero point {node.args[2]}; the kernels take {_RANGES} with constant"
            " parameters",
        )

    def _not_quantized(self, node: Node, what: str, at: Node) -> Refusal:
        if target_name(at) in (QUANTIZE, DEQUANTIZE) and self.constant(at.args[0]) is None:
            return Refusal(
                Reason.UNSUPPORTED_QUANTIZATION,
                f"{what} quantized as {at.args[5]} in [{at.args[3]}, {at.args[4]}] with scale "
                f"{at.args[1]} and zero point {at.args[2]}; the kernels take {_RANGES}",
            )
        if target_name(at) == DEQUANTIZE_DYNAMIC:
            return Refusal(Reason.UNSUPPORTED_QUANTIZATION, f"{what} quantized dynamically: {DYNAMICALLY}")
        if (
            target_name(at) in (DEQUANTIZE, DEQUANTIZE_CHANNEL, DEQUANTIZE_BLOCKS, DEQUANTIZE_GROUPS)
            or self.constant(at) is not None
        ):
            return Refusal(
                Reason.UNSUPPORTED_PARAMETER,
                f"{what} a constant; only activations are supported here: fold the constant into "
                "the layer before, or pass it as an input",
            )
        if not self.quantized:
            return Refusal(
                Reason.NOT_QUANTIZED,
                f"{what} not quantized, as nothing in the program: prepare the model with CmsisNnQuantizer, "
                "calibrate and convert it",
            )
        neighbour, does = at, "computes"
        if what.startswith("its output"):
            readers = [user for user in node.users if target_name(user) != QUANTIZE]
            neighbour, does = readers[0] if readers else node, "reads"
        state = self.float_state(neighbour)
        if state:
            cause = f"it is {state}"
        elif neighbour.op == "call_function" and neighbour is not node:
            cause = f"{self.described(neighbour)}, which {does} it, stays in float; see the reason there"
        else:
            cause = "it is an input, a constant or an output of the program that was left in float"
        return Refusal(Reason.NOT_QUANTIZED, f"{what} not quantized: {cause}")


def _quantized(node: Node) -> Optional[_Quantized]:
    """Returns what a quantize writes or a dequantize reads, if kernels take it."""
    element, quant = quantized_element(node), quant_of(node)
    return None if element is None or quant is None else _Quantized(element, quant)


def _quant(found: Optional[_Quantized]) -> Optional[Quant]:
    return None if found is None else found.quant


def _scale(node: Node, quant: Optional[Quant]) -> float:
    if quant is None:
        raise ValueError(f"{node.name} is not quantized")
    return quant.scale[0]


def _show(quant: Optional[Quant]) -> str:
    return "none" if quant is None else f"(scale {quant.scale[0]:g}, zero point {quant.zero_point})"
