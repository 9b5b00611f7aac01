"""What recurrent layers have in common: sequences of int8 or int16, gates of 16 bits, and states that they start from.

A gate has a sum over the inputs of a step and one over the outputs of the step before, each requantized to 16 bits with
ARGUMENT_BITS after the point, and added:

    gate = sat16(sat16(requantize(bias + W (x - zero point))) + requantize(recurrent_bias + U (h - zero point)))

as TensorFlow Lite and CMSIS-NN have it for the LSTM. As for a linear layer, the biases contain what zero points add;
those of int16 are 0. Sums have 32 bits, which `require_sums` proves to suffice.

A layer may be given how many steps each sequence has. It has two kernels, since most are not.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Optional

import numpy as np

from ..edge.constant import Constant
from ..edge.nodes import first, operand, quantized_element, shape_of
from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Reason, Refusal
from ..format import blocks
from ..format.cpp import camel
from ..format.element import COMMON_ELEMENT, KERNEL_ELEMENTS
from ..format.record import I4, I8, I16, I32, Field, Role, Scalar, Struct
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element, Quant, TensorType
from . import gate_functions
from .case import Case
from .features import Features, sums
from .kernel import KernelSpec, named_for
from .layouts import Layouts
from .op import Draw, Op
from .per_channel_requantize import effective_bias
from .quantized_math import quantize_multiplier, requantize, wrap32

INT16 = Element.INT16

GATE = Struct(
    "Gate",
    "How a gate's two sums become 16 bits.",
    (
        blocks.multiplier("input_multiplier"),
        blocks.shift("input_shift"),
        blocks.multiplier("recurrent_multiplier"),
        blocks.shift("recurrent_shift"),
    ),
    values="gate",
)


# How many products of int16 and int8 always fit 32 bits, and leave room for a bias.
MAX_INT16_SIZE = 512

LENGTHS = "lengths"  # the variant of a layer that is given them


class Format(NamedTuple):
    """What a kernel computes in: the type of inputs, outputs and the hidden state, and that of the weights."""

    activations: Scalar = I8
    weights: Scalar = I8

    def named(self, name: str) -> str:
        """Returns how the kernel `name` is called for this format: "gru", "gru_int16", "gru_int4"."""
        return named_for(named_for(name, self.weights), self.activations)

    @property
    def offsets(self) -> bool:
        """Whether activations have zero points."""
        return not Element(self.activations.element).is_symmetric


FORMATS = (Format(), Format(I16), Format(I8, I4), Format(I16, I4))
# The fields that are a layer's own, for a format.
Own = Callable[[Format], Sequence[Field]]


def _none(kind: Format) -> Sequence[Field]:
    return ()


def specs(
    name: str,
    layer: str,
    gates: Sequence[str],
    *,
    own: Own = _none,
    initial: Own = _none,
    last: Sequence[Field] = (),
    projection: Own = _none,
    priced_as: str = "",
) -> tuple[KernelSpec, ...]:
    """Returns the kernels of a layer with these gates, and fields of its own, for each of `FORMATS` two: of sequences
    of one length, and of different ones. `initial` are the states that it starts from, and `last` those that it leaves
    besides its output. `projection` are the constants of which a layer with a projection computes its outputs,
    [outputs] of each step. The kernels are `priced_as` another one, or all as the first one."""
    found = []
    for kind in FORMATS:
        plain, lengths = kind.named(name), kind.named(f"{name}_{LENGTHS}")
        about = f"{kind.activations.element} {layer} layer in one direction"
        if kind.weights is I4:
            about += ", with weights of 4 bits, two in a byte, the first in the lower half; rows follow without gaps"
        block = _block(
            f"{camel(plain)}Args",
            f"{about}: see docs/reference/recurrent_layers.md.",
            gates,
            kind,
            own(kind),
            (*initial(kind), *projection(kind)),
            last,
            (),
        )
        with_lengths = _block(
            f"{camel(lengths)}Args",
            f"The same for sequences of different lengths: those of {camel(plain)}Args, as if each had the steps that "
            "its length says; what follows of its output is the zero point. Lengths are data, so that run() checks "
            "them: one that is not in [1, steps] ends the execution with InvalidArgument, and output and states are "
            "then undefined.",
            gates,
            kind,
            own(kind),
            (*initial(kind), blocks.lengths(), *projection(kind)),
            last,
            (blocks.length_bytes(),),
        )
        found += [
            KernelSpec(plain, block, priced_as=priced_as or ("" if plain == name else name)),
            KernelSpec(lengths, with_lengths, variant=LENGTHS, priced_as=priced_as or name),
        ]
    return tuple(found)


def _block(
    name: str,
    doc: str,
    gates: Sequence[str],
    kind: Format,
    own: Sequence[Field],
    initial: Sequence[Field],
    last: Sequence[Field],
    sizes: Sequence[Field],
) -> Struct:
    element, weights = kind.activations.element, kind.weights.element
    # The size of the output of a step.
    width = "outputs" if any(field.name == "projection" for field in initial) else "hidden"
    fields = (
        blocks.input("input", kind.activations, "steps", "batch", "inputs", doc=f"{element} [steps, batch, inputs]"),
        *initial,
        blocks.filter("rows", "inputs", doc=f"{weights} [gates, hidden, inputs]", element=kind.weights),
        blocks.operand(Role.FILTER, "recurrent", kind.weights, ("rows", width), f"{weights} [gates, hidden, {width}]"),
        blocks.bias("rows", doc="int32 [gates, hidden], effective bias"),
        blocks.operand(Role.BIAS, "recurrent_bias", I32, ("rows",), "int32 [gates, hidden], effective bias"),
        blocks.output(kind.activations, "steps", "batch", width, doc=f"{element} [steps, batch, {width}]"),
        *last,
        blocks.scratch(),
        Field("scratch_bytes", I32),
        Field("steps", I32, "at least 1"),
        Field("batch", I32, "at least 1"),
        Field("inputs", I32, "at least 1"),
        Field("hidden", I32, "at least 1"),
        *([Field("outputs", I32, "at least 1")] if width == "outputs" else []),
        Field("rows", I32, f"{len(gates)} * hidden"),
        *sizes,
        Field("batch_first", I32, "1: input and output are [batch, steps, ...]", low=0, high=1),
        Field("reverse", I32, "1: it begins with the last step", low=0, high=1),
        *(Field(f"{gate}_gate", GATE) for gate in gates),
        *own,
        blocks.multiplier("output_multiplier"),
        blocks.shift("output_shift"),
        *([blocks.output_offset()] if kind.offsets else []),
    )
    return Struct(name, doc, fields, geometry="recurrent_layer")


def initial(name: str, element: Scalar, width: str = "hidden") -> Field:
    """Returns the reference to a state [batch, width] that a layer starts from."""
    return blocks.input(name, element, "batch", width, doc=f"{element.element} [batch, {width}]")


def last(name: str, element: Scalar) -> Field:
    """Returns the reference to the state after the last step."""
    return blocks.output(element, "batch", "hidden", doc=f"{element.element} [batch, hidden]", name=name)


@dataclass(frozen=True)
class RecurrentAttrs:
    """A recurrent layer in one direction. Inputs: x, the initial states [batch, hidden], perhaps the lengths of the
    sequences (integers [batch], from 1 to steps), perhaps the weight of a projection ([outputs, hidden], with one
    scale), weight, recurrent weight (gates along dimension 0, with one scale each), bias, recurrent bias (int32,
    in steps of input scale * weight scale and output scale * recurrent weight scale). Outputs: the hidden state after
    each step and, of layers that keep 16 bits, the state after the last step. With a projection, the hidden state and
    the initial one have `outputs` in the place of `hidden`. x and the hidden state are both int8, or both int16; all
    weights are int8, or all int4."""

    batch_first: bool = False
    reverse: bool = False


class Sizes(NamedTuple):
    steps: int
    batch: int
    inputs: int
    hidden: int


class Step(NamedTuple):
    """What a step of all batches adds up: gates [gates, batch, hidden] in 16 bits, as int64."""

    inputs: np.ndarray
    recurrent: np.ndarray

    @property
    def gates(self) -> np.ndarray:
        return sat16(self.inputs + self.recurrent)


class Numbers(NamedTuple):
    """What a random layer computes in."""

    activations: Element = Element.INT8
    weights: Element = Element.INT8

    def typical_sum(self, size: int) -> float:
        """Returns the deviation of a sum of `size` products of random numbers."""
        deviations = round((self.activations.high + 1) / 3**0.5) * round(self.weights.high / 3**0.5)
        return deviations * math.sqrt(size)

    def weight(self, d: Case, shape: tuple[int, int], quant: Quant) -> Value:
        return d.constant(shape, self.weights, self.weights.symmetric_low, self.weights.high, quant)

    def quant(self, d: Case, low: float, high: float) -> Quant:
        """Returns that of a random output, in steps of 2^-`high` to 2^-`low` if it has 8 bits, and of as many more bits
        as it has."""
        bits = self.activations.bits - Element.INT8.bits
        return d.quant(float(2.0 ** -d.random.uniform(low + bits, high + bits)), element=self.activations)


# One for each of `FORMATS`.
NUMBERS = tuple(Numbers(Element(kind.activations.element), Element(kind.weights.element)) for kind in FORMATS)


def draws(draw: Callable[..., Value]) -> tuple[Draw, ...]:
    """Returns a draw for each of the kernels of `specs`, in their order, by draw(case, lengths, numbers)."""
    return tuple(
        functools.partial(draw, lengths=lengths, numbers=numbers) for numbers in NUMBERS for lengths in (False, True)
    )


class Recurrent(Op):
    """Base class. `gates` are named in the order of PyTorch's weights."""

    gates: ClassVar[tuple[str, ...]]
    # The initial states, as the edge operator calls them; those in `wide` have 16 bits, of which one of `wide_bits` are
    # after the point.
    initial: ClassVar[tuple[str, ...]] = ("h0",)
    wide: ClassVar[tuple[str, ...]] = ()
    wide_bits: ClassVar[range] = range(gate_functions.RESULT_BITS + 1)
    # The edge operator that gives the state of 16 bits after the last step.
    last: ClassVar[str] = ""
    # Further constants of a layer, which are quantized, as the edge operator calls them after the biases.
    further: ClassVar[tuple[str, ...]] = ()
    # Those of them that only state how activations inside of the layer are quantized.
    stating: ClassVar[tuple[str, ...]] = ()
    # Of what is requantized to the output after the point.
    real_bits: ClassVar[int] = gate_functions.RESULT_BITS
    elements = KERNEL_ELEMENTS
    layouts = Layouts.ROW_MAJOR

    def takes(self, node: EdgeNode, element: Element) -> bool:
        """Sums of int16 have 32 bits whatever the weights are."""
        sources = (operand(node), node, operand(node, len(self.initial)))  # inputs, outputs and, of a projection, cells
        return element is COMMON_ELEMENT or max(shape_of(source)[-1] for source in sources) <= MAX_INT16_SIZE

    # Edge program -----------------------------------------------------------

    def refuse(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        return self.check(node, context)  # some states have another type than the input and the output

    def check(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        source, parameters = operand(node), self._parameters(node)
        return first(
            lambda: context.refuse_tensors(node, source),
            lambda: refuse_lengths(context.arguments(node)[-1], shape_of(operand(node, 1))[0], context),
            lambda: self._refuse_variable(parameters, context),
            lambda: context.refuse_quant(node, [source]),
            lambda: context.refuse_elements(node, KERNEL_ELEMENTS, [source]),
            lambda: self._refuse_weights(node, parameters, context),
            lambda: self._refuse_states(node, parameters, context),
        )

    def check_data(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        try:
            scales = self._gate_scales(node, context)
            x, h = context.input_scale(operand(node)), context.output_scale(node)
            element = self._element(node, context)
            self._multipliers(x, h, scales, self.layer(node, context), element)
            self._require_sums(node, context, (x, h), scales)
        except ValueError as error:
            return Refusal(Reason.UNSUPPORTED_QUANTIZATION, f"{error}; calibrate with representative data")
        return None

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        parameters, attrs = self._parameters(node), self.layer(node, context)
        weight, recurrent = (self._weight(node, parameters[name], context) for name in ("w_ih", "w_hh"))
        bias, recurrent_bias = self._apart(*(floats(parameters[name], context) for name in ("b_ih", "b_hh")))
        x, output = context.input_scale(operand(node)), context.output_scale(node)
        values = [
            context.value(operand(node)),
            *(state_value(f"{node.name}_{name}", self._parameters(node)[name], context) for name in self.initial),
            *lengths_of(node, context.arguments(node)[-1], context),
            *self._projection(node, context),
            weight,
            recurrent,
            _bias(f"{weight.name}_bias", bias, x, weight),
            _bias(f"{recurrent.name}_bias", recurrent_bias, output, recurrent),
        ]
        layer = context.node(node, self.name, values, attrs)
        if self.last:
            sizes = self.sizes(layer)
            state = TensorType(INT16, (sizes.batch, sizes.hidden), quant=self.wide_quant(attrs))
            layer.outputs.append(Value(f"{node.name}_last", state))
            context.last_states[node] = layer.outputs[1]
        return [layer]

    def _projection(self, node: EdgeNode, context: ImportContext) -> list[Value]:
        """Returns the weight of the projection, of a layer that has one."""
        return []

    def _refuse_states(
        self, node: EdgeNode, parameters: Mapping[str, EdgeNode], context: EdgeContext
    ) -> Optional[Refusal]:
        for name in self.initial:
            wanted = INT16 if name in self.wide else self._element(node, context)
            found = state_type(parameters[name], context)
            if found is None or found[0] is not wanted:
                return Refusal(
                    Reason.NOT_QUANTIZED,
                    f"its initial state {name} is not quantized as {wanted.value}; {context.requantize}",
                )
            _, quant = found
            if name in self.wide and bits_of(quant.scale[0]) not in self.wide_bits:
                return Refusal(
                    Reason.UNSUPPORTED_QUANTIZATION,
                    f"the scale of its state {name} is {quant.scale[0]:g}; kernels take a power of two from "
                    f"{2.0 ** -self.wide_bits[-1]:g} to {2.0 ** -self.wide_bits[0]:g}: {context.requantize}",
                )
            if name not in self.wide and quant != context.output_quant(node):
                return Refusal(
                    Reason.UNSUPPORTED_QUANTIZATION,
                    f"its initial state {name} has another scale than its output; {context.requantize}",
                )
        return None

    def _apart(self, bias: np.ndarray, recurrent_bias: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns which biases are added to the sums over the inputs, and which to the others: by default all to the
        first."""
        return bias + recurrent_bias, np.zeros_like(recurrent_bias)

    def layer(self, node: EdgeNode, context: EdgeContext) -> RecurrentAttrs:
        """Returns the attributes of a node with data."""
        batch_first, reverse, _ = context.arguments(node)[-3:]
        return RecurrentAttrs(batch_first, reverse)

    def state_bits(self, name: str, node: EdgeNode, context: EdgeContext) -> int:
        """Returns how many bits of a state of 16 bits are after the point."""
        found = state_type(self._parameters(node)[name], context)
        bits = None if found is None else bits_of(found[1].scale[0])
        assert bits is not None  # says check
        return bits

    @staticmethod
    def _element(node: EdgeNode, context: EdgeContext) -> Element:
        """Returns the type of the activations of a node, which `check` has found to be quantized."""
        return context.operand_element(operand(node)) or COMMON_ELEMENT

    def _parameters(self, node: EdgeNode) -> Mapping[str, EdgeNode]:
        names = (*self.initial, "w_ih", "w_hh", "b_ih", "b_hh", *self.further)
        return {name: operand(node, index) for index, name in enumerate(names, start=1)}

    def _refuse_variable(self, parameters: Mapping[str, EdgeNode], context: EdgeContext) -> Optional[Refusal]:
        weights = {name: node for name, node in parameters.items() if name not in self.initial}
        variable = next((name for name, node in weights.items() if context.constant_float(node) is None), None)
        if variable is None:
            return None
        return Refusal(
            Reason.NOT_CONSTANT,
            f"its {variable} is not a constant; only layers with fixed weights are supported",
        )

    def _refuse_weights(
        self, node: EdgeNode, parameters: Mapping[str, EdgeNode], context: EdgeContext
    ) -> Optional[Refusal]:
        for name in ("w_ih", "w_hh", *self.further):
            found = context.constant_float(parameters[name])
            if found is None or not found.quantized:
                return Refusal(Reason.NOT_QUANTIZED, f"its {name} is not quantized; {context.requantize}")
            wanted = self._element(node, context) if name in self.stating else Element.INT8
            if found.dtype != wanted.value or found.axis not in (None, 0):
                return Refusal(
                    Reason.UNSUPPORTED_QUANTIZATION,
                    f"its {name} is {found.dtype} with scales along dimension {found.axis}; the kernels take "
                    f"{wanted.value} with one scale for each gate: {context.requantize}",
                )
        return None

    def _gate_scales(self, node: EdgeNode, context: EdgeContext) -> list[np.ndarray]:
        """Returns the scale of each gate, of the weight and of the recurrent weight. ValueError if the rows of a gate
        differ."""
        return [self._scales(name, len(self.gates), node, context) for name in ("w_ih", "w_hh")]

    def _scales(self, name: str, gates: int, node: EdgeNode, context: EdgeContext) -> np.ndarray:
        """Returns the scale of each of `gates` equal parts of the weight `name`. ValueError if the rows of one
        differ."""
        constant = constant_of(self._parameters(node)[name], context)
        assert constant.scales is not None
        rows = np.broadcast_to(constant.scales, (constant.shape[0],)).reshape(gates, -1)
        if np.any(rows != rows[:, :1]) or not np.all(np.isfinite(rows) & (rows > 0)):
            where = "within a gate" if gates > 1 else "between its rows"
            raise ValueError(f"the scales of {name} differ {where}: {context.requantize}")
        if constant.zero_points is not None and np.any(constant.zero_points != 0):
            raise ValueError(f"{name} has zero points other than 0: {context.requantize}")
        return rows[:, 0]

    def _require_sums(
        self, node: EdgeNode, context: EdgeContext, sources: Sequence[float], scales: Sequence[np.ndarray]
    ) -> None:
        """ValueError if a sum with its bias may exceed 32 bits."""
        parameters = self._parameters(node)
        biases = self._apart(*(floats(parameters[name], context) for name in ("b_ih", "b_hh")))
        for name, source, weight, bias in zip(("w_ih", "w_hh"), sources, scales, biases):
            data = constant_of(parameters[name], context).data
            assert data is not None
            steps = bias / np.repeat(source * weight, len(data) // len(weight))
            require_sums(name, data, steps, self._element(node, context))

    def _multipliers(
        self, x: float, h: float, scales: Sequence[np.ndarray], attrs: RecurrentAttrs, element: Element
    ) -> list[Mapping[str, int]]:
        """Returns the values of a GATE for each gate of a layer of `element`. ValueError if one does not fit."""
        found: list[Mapping[str, int]] = []
        for index in range(len(self.gates)):
            gate = self.gate_steps(index, h, attrs, element)
            fields: dict[str, int] = {}
            for name, source, weight, step in zip(("input", "recurrent"), (x, h), scales, gate):
                fields[f"{name}_multiplier"], fields[f"{name}_shift"] = quantize_multiplier(
                    source * weight[index] / step
                )
            found.append(fields)
        return found

    def gate_steps(self, gate: int, h: float, attrs: Any, element: Element) -> tuple[float, float]:
        """Returns the steps of the two sums of gate number `gate`, for outputs of `element` in steps of `h`."""
        return 2.0**-gate_functions.ARGUMENT_BITS, 2.0**-gate_functions.ARGUMENT_BITS

    def _weight(self, node: EdgeNode, source: EdgeNode, context: ImportContext) -> Value:
        found = constant_of(source, context)
        assert found.data is not None and found.scales is not None
        scales = np.broadcast_to(found.scales, (found.shape[0],))
        quant = Quant(tuple(float(scale) for scale in scales), 0, 0)
        return Value(source.name, TensorType(found.element, found.shape, quant=quant), np.ascontiguousarray(found.data))

    # Graph ------------------------------------------------------------------

    def output_shape(self, inputs: Sequence[Value], attrs: Any) -> tuple[int, ...]:
        return (*inputs[0].shape[:2], inputs[-3].shape[1])

    @classmethod
    def sizes(cls, node: Node) -> Sizes:
        x, hidden = node.inputs[0].shape, node.inputs[-3].shape[0] // len(cls.gates)
        steps, batch = (x[1], x[0]) if node.attrs.batch_first else (x[0], x[1])
        return Sizes(steps, batch, x[2], hidden)

    @staticmethod
    def width(node: Node) -> int:
        """Returns how many numbers the output has after each step: one of each unit, or those of a projection."""
        return node.inputs[-3].shape[1]

    def node_multipliers(self, node: Node) -> list[Mapping[str, int]]:
        """Returns the values of a GATE for each gate of a graph node."""
        x, weight, recurrent = node.inputs[0], *node.inputs[-4:-2]
        hidden = self.sizes(node).hidden
        assert weight.quant is not None and recurrent.quant is not None
        scales = [np.array(value.scale[::hidden]) for value in (weight.quant, recurrent.quant)]
        return self._multipliers(x.scale, node.outputs[0].scale, scales, node.attrs, x.element)

    def biases(self, node: Node) -> tuple[np.ndarray, np.ndarray]:
        """Returns the effective biases, int32 [rows] each."""
        x, (weight, recurrent, bias, recurrent_bias) = node.inputs[0], node.inputs[-4:]
        return (
            effective_bias(weight, bias, x.zero_point),
            effective_bias(recurrent, recurrent_bias, node.outputs[0].zero_point),
        )

    def compute(self, node: Node, inputs: Sequence[np.ndarray], states: Sequence[np.ndarray]) -> list[np.ndarray]:
        sizes, count = self.sizes(node), len(self.gates)
        time = int(node.attrs.batch_first)
        x = np.moveaxis(inputs[0].reshape(node.inputs[0].shape), time, 0)
        weights = [value.constant.astype(np.float64).T for value in node.inputs[-4:-2]]
        biases, fields = self.biases(node), self.node_multipliers(node)
        scalings = [
            [np.array([gate[f"{name}_{what}"] for gate in fields])[:, None, None] for what in ("multiplier", "shift")]
            for name in ("input", "recurrent")
        ]

        def gates(values: np.ndarray, which: int) -> np.ndarray:
            # float64 is exact below 2^53.
            total = wrap32((values.astype(np.float64) @ weights[which]).astype(np.int64) + biases[which])
            by_gate = np.moveaxis(total.reshape(-1, count, sizes.hidden), 1, 0)
            return requantize(by_gate, *scalings[which])

        output = np.zeros((sizes.steps, sizes.batch, self.width(node)), node.outputs[0].element.numpy)
        hidden, state = map(np.array, self.start(node, inputs[1:]))
        lengths = self._lengths(node, inputs[1 + len(self.initial) :])
        output[:] = node.outputs[0].zero_point
        for index in range(lengths.max()):
            on = np.flatnonzero(index < lengths)  # the batches that go on
            t = lengths[on] - 1 - index if node.attrs.reverse else index
            step = Step(sat16(gates(x[t, on], 0)), gates(hidden[on], 1))
            next_state, real = self.update(node, step, state[on])
            hidden[on] = output[t, on] = node.outputs[0].type.clamp(wrap32(real + node.outputs[0].zero_point))
            state[on] = next_state
        results = [np.moveaxis(output, 0, time)]
        return [*results, state.astype(np.int16)] if self.last else results

    def _lengths(self, node: Node, given: Sequence[np.ndarray]) -> np.ndarray:
        """Returns the steps of each sequence of the batch. ValueError as of `checked_lengths`."""
        steps, batch, *_ = self.sizes(node)
        return checked_lengths(node, given[0], steps, batch) if given else np.full(batch, steps)

    @staticmethod
    def wide_quant(attrs: Any) -> Quant:
        """Returns how a state of 16 bits is quantized, of a layer that has one."""
        return Quant((2.0**-gate_functions.RESULT_BITS,), 0)

    def start(self, node: Node, given: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Returns the output before the first step, and the state, both [batch, hidden]."""
        raise NotImplementedError(self.name)

    def output_multiplier(self, node: Node) -> tuple[int, int]:
        """Returns what requantizes to the output."""
        return quantize_multiplier(2.0**-self.real_bits / node.outputs[0].scale)

    def update(self, node: Node, step: Step, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns the state [batch, hidden] after `step`, and the outputs without their zero point."""
        raise NotImplementedError(self.name)

    def macs(self, node: Node) -> int:
        steps, batch, inputs, hidden = self.sizes(node)
        return steps * batch * len(self.gates) * hidden * (inputs + self.width(node))

    def features(self, node: Node) -> Features:
        steps, batch, inputs, hidden = self.sizes(node)
        rows = steps * batch * len(self.gates) * hidden
        both = [sums(rows, size) for size in (inputs, self.width(node))]
        products = {name: both[0][name] + both[1][name] for name in both[0]}
        around = {"starts": batch * hidden, "steps": steps * batch, "units": steps * batch * hidden}
        return Features({**around, **products})

    @classmethod
    def draw(cls, d: Case, attrs: Any, quant: Quant, lengths: bool = False, numbers: Numbers = NUMBERS[0]) -> Value:
        """A layer of random size; see `draw_layer`."""
        hidden = d.pick(d.integer(1, 12), d.integer(1, 40), 4 * d.integer(1, 8))
        steps, batch, inputs = d.integer(1, 9), d.pick(1, 1, 2, 3), d.pick(d.integer(1, 12), d.integer(1, 70))
        if lengths:
            batch = d.integer(1, 5)
        output = cls.draw_layer(d, attrs, quant, Sizes(steps, batch, inputs, hidden), lengths, numbers)
        last = d.nodes[-1].outputs[1:]
        return d.dequantize(last[0]) if bool(last) and d.pick(False, True) else output

    @classmethod
    def draw_layer(
        cls, d: Case, attrs: Any, quant: Quant, sizes: Sizes, lengths: bool = False, numbers: Numbers = NUMBERS[0]
    ) -> Value:
        """A layer with random weights, whose gates use their whole range; it starts from zeros or anything."""
        steps, batch, inputs, hidden = sizes
        sequence = (batch, steps, inputs) if attrs.batch_first else (steps, batch, inputs)
        x = d.input(*sequence, element=numbers.activations)
        rows, values = len(cls.gates) * hidden, [x]
        from_zeros = d.pick(False, True)
        projection = cls._draw_projection(d, attrs, quant, hidden, numbers)
        width = projection[0].shape[0] if projection else hidden
        for name in cls.initial:
            shape = (batch, hidden if name in cls.wide else width)
            values.append(cls._draw_state(d, name, attrs, quant, shape, from_zeros, numbers))
        if lengths:
            values.append(d.input(batch, element=d.pick(Element.INT64, Element.INT32)))
        values += projection
        for size, scale in ((inputs, x.scale), (width, quant.scale[0])):
            # A typical sum is 1 to 4 in real numbers.
            typical = float(d.random.uniform(1, 4)) / (numbers.typical_sum(size) * scale)
            scales = np.repeat(typical * 2.0 ** d.random.uniform(-1, 1, len(cls.gates)), hidden)
            values.append(numbers.weight(d, (rows, size), Quant(tuple(map(float, scales)), 0, 0)))
        for size in (inputs, width):
            spread = int(numbers.typical_sum(size))
            values.append(d.constant((rows,), Element.INT32, -spread, spread))
        output = d.node(cls.name, values, attrs, quant)
        if cls.last:
            state = TensorType(INT16, (batch, hidden), quant=cls.wide_quant(attrs))
            d.nodes[-1].outputs.append(Value("last", state))
        return output

    @classmethod
    def _draw_projection(cls, d: Case, attrs: Any, quant: Quant, hidden: int, numbers: Numbers) -> list[Value]:
        """Returns a random weight of the projection, of a layer that has one."""
        return []

    @classmethod
    def _draw_state(
        cls,
        d: Case,
        name: str,
        attrs: Any,
        quant: Quant,
        shape: tuple[int, int],
        from_zeros: bool,
        numbers: Numbers,
    ) -> Value:
        if name in cls.wide:
            low, high = (0, 0) if from_zeros else (INT16.low, INT16.high)
            return d.constant(shape, INT16, low, high, cls.wide_quant(attrs))
        zero = quant.zero_point
        if from_zeros:
            return d.constant(shape, numbers.activations, zero, zero, quant)
        return d.input(*shape, element=numbers.activations, quant=quant)

    # Payload ----------------------------------------------------------------

    def variant(self, node: Node) -> str:
        return LENGTHS if self._has_lengths(node) else ""

    def _has_lengths(self, node: Node) -> bool:
        return node.inputs[1 + len(self.initial)].type.element.is_index

    def index_range(self, node: Node, value: Value) -> Optional[tuple[int, int]]:
        is_length = self._has_lengths(node) and value is node.inputs[1 + len(self.initial)]
        return (1, self.sizes(node).steps) if is_length else None

    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        bias, recurrent_bias = self.biases(node)
        return {
            "filter": packed(node.inputs[-4]),
            "recurrent": packed(node.inputs[-3]),
            "bias": bias,
            "recurrent_bias": recurrent_bias,
        }

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        sizes = self.sizes(node)
        multiplier, shift = self.output_multiplier(node)
        return {
            **refs,
            "scratch_bytes": scratch_bytes,
            **sizes._asdict(),
            "rows": len(self.gates) * sizes.hidden,
            **({"length_bytes": node.inputs[1 + len(self.initial)].nbytes} if self._has_lengths(node) else {}),
            "batch_first": int(node.attrs.batch_first),
            "reverse": int(node.attrs.reverse),
            **{f"{name}_gate": fields for name, fields in zip(self.gates, self.node_multipliers(node))},
            "output_multiplier": multiplier,
            "output_shift": shift,
            **({} if node.outputs[0].element.is_symmetric else {"output_offset": node.outputs[0].zero_point}),
        }


def packed(weight: Value) -> np.ndarray:
    """Returns a constant weight as it lies in the payload."""
    return weight.type.packed(weight.constant)


def refuse_lengths(lengths: Optional[EdgeNode], batch: int, context: EdgeContext) -> Optional[Refusal]:
    """Refuses what is no int64 or int32 tensor [batch], a constant or one that comes into the delegate. The kernels
    tell the two types apart by how many bytes there are for each of `batch`."""
    if lengths is None:
        return None
    constant = context.constant_float(lengths)
    refusal = context.refuse_indices(lengths) if constant is None else None
    if refusal is not None:
        return refusal
    if constant is not None and constant.dtype not in (Element.INT64.value, Element.INT32.value):
        return Refusal(
            Reason.UNSUPPORTED_DTYPE,
            f"its lengths {lengths.name} are {constant.dtype}, not int64 or int32: convert them with .long()",
        )
    if shape_of(lengths) != (batch,):
        return Refusal(
            Reason.UNSUPPORTED_SHAPE,
            f"its lengths {lengths.name} have the shape {list(shape_of(lengths))}, and the batch has {batch} "
            f"sequences: give a tensor [{batch}] with one length for each of them",
        )
    return None


def lengths_of(node: EdgeNode, lengths: Optional[EdgeNode], context: ImportContext) -> list[Value]:
    """Returns the lengths that `node` is given, which `refuse_lengths` has accepted: none, or one value."""
    if lengths is None:
        return []
    constant = context.constant_float(lengths)
    if constant is None:
        return [context.value(context.indices_in_order(lengths))]
    assert constant.data is not None
    element = Element(constant.dtype)
    return [Value(f"{node.name}_lengths", TensorType(element, constant.shape), np.ascontiguousarray(constant.data))]


def checked_lengths(node: Node, lengths: np.ndarray, steps: int, batch: int) -> np.ndarray:
    """Returns lengths as int64 [batch]. ValueError if there is not one for each of `batch`, or one is not from 1 to
    `steps`."""
    found = lengths.reshape(-1).astype(np.int64)
    if len(found) != batch:
        raise ValueError(f"{node.name}: {len(found)} lengths for a batch of {batch} sequences")
    outside = (found < 1) | (found > steps)
    if outside.any():
        raise ValueError(f"{node.name}: a sequence has {found[outside][0]} steps, which is not from 1 to {steps}")
    return found


def sat16(x: np.ndarray) -> np.ndarray:
    """Limits int64 numbers to 16 bits."""
    limited: np.ndarray = np.clip(wrap32(x), INT16.low, INT16.high)
    return limited


def half_up(x: np.ndarray, bits: int) -> np.ndarray:
    """x / 2^bits, halves up, for at least 0 bits."""
    rounded: np.ndarray = (x + (1 << bits >> 1)) >> bits
    return rounded


def bits_of(scale: float) -> Optional[int]:
    """Returns n for a scale of 2^-n with n in [0, 15]; None for others."""
    mantissa, exponent = math.frexp(scale)
    return 1 - exponent if mantissa == 0.5 and 0 <= 1 - exponent <= 15 else None


def state_type(source: EdgeNode, context: EdgeContext) -> Optional[tuple[Element, Quant]]:
    """Returns how the state `source` is quantized; None if it is not, or not with one scale."""
    constant = context.constant_float(source)
    if constant is None:
        quant = context.input_quant(source)
        element = None if quant is None else quantized_element(context.source(source))
        return None if quant is None or element is None else (element, quant)
    if not constant.quantized or constant.axis is not None or constant.dtype not in (INT16.value, Element.INT8.value):
        return None
    assert constant.scales is not None and constant.zero_points is not None
    return Element(constant.dtype), Quant((float(constant.scales[0]),), int(constant.zero_points[0]))


def state_value(name: str, source: EdgeNode, context: ImportContext) -> Value:
    """Returns the value of the state `source` that a layer starts from; a constant gets the name `name`."""
    constant, found = context.constant_float(source), state_type(source, context)
    if constant is None:
        return context.value(source)
    assert constant.data is not None and found is not None  # says check
    element, quant = found
    return Value(name, TensorType(element, constant.shape, quant=quant), np.ascontiguousarray(constant.data))


def floats(source: EdgeNode, context: EdgeContext) -> np.ndarray:
    """Returns a constant that is not quantized, as float64."""
    data = constant_of(source, context).data
    assert data is not None
    return data.astype(np.float64)


def require_sums(name: str, weight: np.ndarray, bias: np.ndarray, element: Element) -> None:
    """ValueError if a sum of `weight`, int8 [rows, size], times activations of type `element`, with its bias [rows] in
    steps of it may exceed 32 bits."""
    wide = element is INT16
    # Activations less their zero points.
    most = -INT16.low if wide else COMMON_ELEMENT.high - COMMON_ELEMENT.low
    largest = np.abs(bias) + float(most) * np.abs(weight.astype(np.int64)).sum(axis=1)
    if largest.max() >= 2**31:
        raise ValueError(
            f"sums of {name} may exceed 32 bits, as its weights are tiny next to the bias"
            + f", or too many for activations of 16 bits; give its module the format {COMMON_ELEMENT.value}" * wide
        )


def constant_of(source: EdgeNode, context: EdgeContext) -> Constant:
    """Returns a constant with its data. ValueError if `source` is none."""
    found = context.constant_float(source)
    if found is None or found.data is None:
        raise ValueError(f"{source.name} is no constant with data")
    return found


def _bias(name: str, bias: np.ndarray, scale: float, weight: Value) -> Value:
    """Returns a bias in steps of scale * weight scale, which `check_data` has found to fit."""
    assert weight.quant is not None
    steps = scale * np.array(weight.quant.scale)
    data = np.rint(bias / steps).astype(np.int32)
    return Value(name, TensorType(Element.INT32, bias.shape, quant=Quant(tuple(map(float, steps)), 0, 0)), data)
