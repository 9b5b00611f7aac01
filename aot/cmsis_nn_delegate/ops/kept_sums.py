"""What operators have in common that keep a sum from one step to the next, in 16 bits, of which a part decays.

    s = sat16(a * s + u >> 15), halves up
    y = sat8(requantize(s) + zero point)

with `a` in steps of 2^-15 and `u`, of 32 bits, in steps of 2^-15 of the state's: there is one rounding to the state.
Where the state changes its sign in a step, `u` is up to twice its range."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Optional

import numpy as np

from ..edge.nodes import first, operand
from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Reason, Refusal
from ..format import blocks
from ..format.record import I16, Field
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element, Quant, TensorType
from .case import Case
from .layouts import Layouts
from .op import Op
from .quantized_math import quantize_multiplier, requantize
from .recurrent import half_up, sat16, state_type, state_value

FRACTION = 15  # bits of decays after the point, and of what is added below the steps of the state


def initial(*shape: str) -> Field:
    """Returns the reference to the state before this step."""
    return blocks.input("initial_state", I16, *shape, doc=f"int16 [{', '.join(shape)}]")


def last(*shape: str) -> Field:
    """Returns the reference to the state after this step."""
    return blocks.output(I16, *shape, doc=f"int16 [{', '.join(shape)}]", name="last_state")


OUTPUT_PARAMETERS = (blocks.multiplier("output_multiplier"), blocks.shift("output_shift"), blocks.output_offset())


class KeptSumOp(Op):
    """Base class. The first input is the state, and then come the activations that the edge operator has. Outputs: the
    state in int8, and in int16."""

    # The edge operator's arguments after the state.
    activations: ClassVar[tuple[str, ...]]
    constant_names: ClassVar[tuple[str, ...]]
    layouts: ClassVar[Layouts] = Layouts.ROW_MAJOR
    elements = None

    def check(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        named = self.named(node, context)
        sources = self.sources(node, context)
        return first(
            lambda: context.refuse_tensors(node, operand(node), *sources),
            lambda: self._refuse_variable(node, named, context),
            lambda: self._refuse_state(node, context),
            lambda: context.refuse_quant(node, sources),
            lambda: context.refuse_elements(node, (Element.INT8,), sources),
        )

    def check_data(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        try:
            self.numbers(node, context)
        except ValueError as error:
            return Refusal(Reason.UNSUPPORTED_QUANTIZATION, f"{error}; calibrate with representative data")
        return None

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        attrs, constants = self.numbers(node, context)
        state = state_value(f"{node.name}_state", operand(node), context)
        sources = [context.value(source) for source in self.sources(node, context)]
        built = context.node(node, self.name, [state, *sources, *constants], attrs)
        quant = self.state_quant(node, context)
        built.outputs.append(Value(f"{node.name}_last", TensorType(Element.INT16, state.shape, quant=quant)))
        context.last_states[node] = built.outputs[1]
        return [built]

    def named(self, node: EdgeNode, context: EdgeContext) -> Mapping[str, Any]:
        """Returns the arguments after the state by name."""
        return dict(zip((*self.activations, *self.constant_names), context.arguments(node)[1:]))

    def sources(self, node: EdgeNode, context: EdgeContext) -> list[EdgeNode]:
        """Returns the activations that are read besides the state."""
        named = self.named(node, context)
        return [named[name] for name in self.activations]

    def constants_of(self, node: EdgeNode, context: EdgeContext) -> Sequence[str]:
        """Returns the names of the arguments that have to be constants."""
        return self.constant_names

    def numbers(self, node: EdgeNode, context: EdgeContext) -> tuple[Any, list[Value]]:
        """Returns the attributes and the constants of a node with data. ValueError if the kernel cannot compute with
        them."""
        raise NotImplementedError(self.name)

    def _refuse_variable(
        self, node: EdgeNode, named: Mapping[str, EdgeNode], context: EdgeContext
    ) -> Optional[Refusal]:
        for name in self.constants_of(node, context):
            constant = context.constant_float(named[name])
            if constant is None or constant.quantized:
                return Refusal(Reason.NOT_CONSTANT, f"its {name} is not a constant in float; {context.requantize}")
        return None

    def _refuse_state(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        found = state_type(operand(node), context)
        if found is not None and found[0] is Element.INT16:
            return None
        return Refusal(Reason.NOT_QUANTIZED, f"its state is not quantized as int16; {context.requantize}")

    @staticmethod
    def state_quant(node: EdgeNode, context: EdgeContext) -> Quant:
        """Returns how the state of a node that `check` accepted is quantized."""
        found = state_type(operand(node), context)
        assert found is not None
        return found[1]

    def output_multiplier(self, node: Node) -> tuple[int, int]:
        return quantize_multiplier(node.inputs[0].scale / node.outputs[0].scale)

    def output_fields(self, node: Node) -> Mapping[str, int]:
        """Returns the values of `OUTPUT_PARAMETERS`."""
        multiplier, shift = self.output_multiplier(node)
        return {
            "output_multiplier": multiplier,
            "output_shift": shift,
            "output_offset": node.outputs[0].zero_point,
        }

    def results(self, node: Node, decays: np.ndarray, state: np.ndarray, added: np.ndarray) -> list[np.ndarray]:
        """Returns both outputs, for int64 arrays that broadcast against each other."""
        new = sat16(half_up(decays * state.astype(np.int64) + added, FRACTION))
        view = requantize(new, *self.output_multiplier(node)) + node.outputs[0].zero_point
        output = node.outputs[0]
        return [
            output.type.clamp(view).reshape(output.storage_shape),
            new.astype(np.int16).reshape(node.outputs[1].storage_shape),
        ]


class Pattern(NamedTuple):
    """How numbers repeat in a tensor: each of `entries` is that of `inner` elements, `outer` times."""

    outer: int
    entries: int
    inner: int

    @staticmethod
    def of(shape: Sequence[int], *arrays: np.ndarray) -> tuple[Pattern, list[np.ndarray]]:
        """Returns the least pattern in which all of `arrays`, which fit `shape`, repeat, and their entries."""
        full = [np.broadcast_to(array, tuple(shape)) for array in arrays]
        kept = list(range(len(shape)))
        while kept and all(_is_constant(array, kept[-1]) for array in full):
            kept.pop()
        while kept and all(_is_constant(array, kept[0]) for array in full):
            kept.pop(0)
        begin, end = (kept[0], kept[-1] + 1) if kept else (0, 0)
        index = tuple(slice(None) if begin <= dim < end else 0 for dim in range(len(shape)))
        sizes = (math.prod(shape[:begin]), math.prod(shape[begin:end]), math.prod(shape[end:]))
        return Pattern(*sizes), [array[index].reshape(-1) for array in full]


def _is_constant(array: np.ndarray, dim: int) -> bool:
    return bool(np.all(array == array.take([0], axis=dim)))


def draw_state(d: Case, shape: Sequence[int]) -> Value:
    """A state from which a case starts: no input of a model has 16 bits."""
    low, high = d.pick((0, 0), (Element.INT16.low, Element.INT16.high))
    return d.constant(shape, Element.INT16, low, high, Quant((2.0 ** -d.integer(9, 20),), 0))


def draw_node(d: Case, op: str, inputs: list[Value], attrs: Any) -> Value:
    """A node with its second output, of which the case has one."""
    state = inputs[0]
    output = d.node(op, inputs, attrs, d.quant(state.scale * float(2.0 ** d.random.uniform(6.5, 8.5))))
    output.retype(element=Element.INT8)  # not that of the state
    last_state = Value("last", TensorType(Element.INT16, state.shape, quant=state.quant))
    d.nodes[-1].outputs.append(last_state)
    return d.dequantize(last_state) if d.pick(False, True) else output
