"""The state of a selective state space layer (Mamba) after one step."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..edge.function_chain import compute
from ..edge.nodes import shape_of
from ..edge.program_types import EdgeContext, EdgeNode
from ..format import blocks
from ..format.record import I8, I16, I32, Field, Role, Struct
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element, TensorType
from .annotation import KeptSum
from .case import Case
from .features import Features
from .function_table import ENTRIES
from .kept_sums import FRACTION, OUTPUT_PARAMETERS, KeptSumOp, draw_node, draw_state, initial, last
from .kernel import KernelSpec
from .powers import ARGUMENT_BITS, negative_power
from .quantized_math import INT32_MAX, quantize_multiplier, requantize
from .recurrent import floats, half_up

_SHAPE = ("batch", "rows", "columns")
# Products of a step and a rate have up to 30 bits.
_MOST_SHIFT = 30

KERNEL = KernelSpec(
    "selective_state",
    Struct(
        "SelectiveStateArgs",
        "The state of a selective state space layer after one step: see docs/reference/recurrent_layers.md.",
        (
            initial(*_SHAPE),
            blocks.input("step", I8, "batch", "rows", doc="int8 [batch, rows]"),
            blocks.input("input", I8, "batch", "rows", doc="int8 [batch, rows]"),
            blocks.input("written", I8, "batch", "columns", doc="int8 [batch, columns]"),
            blocks.operand(
                Role.FILTER, "steps", I16, ("table_entries",), "int16 [256], not negative: the steps for -128 to 127"
            ),
            blocks.operand(
                Role.FILTER, "rates", I16, ("rows", "columns"), "int16 [rows, columns], not negative: of decay"
            ),
            blocks.output(I8, *_SHAPE, doc="int8 [batch, rows, columns]"),
            last(*_SHAPE),
            Field("table_entries", I32, low=ENTRIES, high=ENTRIES),
            Field(
                "argument_shift",
                I32,
                "to the right, of step * rate, to 16 bits after the point",
                low=0,
                high=_MOST_SHIFT,
            ),
            blocks.input_offset(),
            blocks.input_offset("written_offset"),
            blocks.multiplier("added_multiplier"),
            blocks.shift("added_shift"),
            *OUTPUT_PARAMETERS,
            *(Field(size, I32, "at least 1") for size in _SHAPE),
        ),
    ),
)


class Sizes(NamedTuple):
    batch: int
    rows: int
    columns: int


@dataclass(frozen=True)
class SelectiveStateAttrs:
    """Inputs: state (int16 [..., rows, columns]), what steps are looked up by, x (int8 [..., rows, 1]), written (int8
    [..., 1, columns]), steps (int16 [256], in 2^-step_bits), rates (int16 [rows, columns], in 2^-rate_bits, of powers
    of two)."""

    step_bits: int
    rate_bits: int


def _draw(d: Case) -> Value:
    batch, rows, columns = d.pick(1, 1, 2), d.integer(1, 20), d.pick(1, d.integer(1, 9), d.integer(1, 20))
    state = draw_state(d, (batch, rows, columns))
    inputs = [d.input(batch, rows, 1), d.input(batch, rows, 1), d.input(batch, 1, columns)]
    steps = d.constant((ENTRIES,), Element.INT16, 0, d.pick(400, Element.INT16.high))
    rates = d.constant((rows, columns), Element.INT16, 0, d.pick(400, Element.INT16.high))
    # From additions that no state holds to tiny ones.
    factor = float(2.0 ** d.random.uniform(-14, 6))
    bits = math.floor(math.log2(inputs[1].scale * inputs[2].scale / state.scale * (1 << FRACTION) / factor))
    attrs = SelectiveStateAttrs(bits, ARGUMENT_BITS + d.integer(0, _MOST_SHIFT) - bits)
    return draw_node(d, "selective_state", [state, *inputs, steps, rates], attrs)


class SelectiveState(KeptSumOp):
    """exp(t * rate) * state + t * x * written, with steps t >= 0 that are a function of an activation. The decay is a
    power of two whose exponent is a product of 16-bit numbers, and keeps its bits next to 1."""

    name = "selective_state"
    targets = ("cmsis_nn_delegate.selective_state.default",)
    whole = targets
    annotation = KeptSum(targets, operands=3, last="cmsis_nn_delegate.selective_state_last.default")
    attrs = SelectiveStateAttrs
    kernels = (KERNEL,)
    draws = (_draw,)
    activations = ("step", "input", "written")
    constant_names = ("rates", "chain")
    limits = (
        "the state of a selective state space layer, exp(t * rates) * state + t * x * written, with steps t >= 0 and "
        "rates <= 0",
    )

    def constants_of(self, node: EdgeNode, context: EdgeContext) -> Sequence[str]:
        return ("rates",)

    def numbers(self, node: EdgeNode, context: EdgeContext) -> tuple[SelectiveStateAttrs, list[Value]]:
        named = self.named(node, context)
        quant = context.input_quant(named["step"])
        assert quant is not None  # says check
        reals = quant.scale[0] * (np.arange(Element.INT8.low, Element.INT8.high + 1) - quant.zero_point)
        steps = compute(named["chain"], reals)
        rates = -np.broadcast_to(floats(named["rates"], context), shape_of(node)[-2:]) / math.log(2)
        if steps.min() < 0 or rates.min() < 0:
            raise ValueError("its state may grow without end: steps have to be at least 0, and rates at most 0")
        step_bits, rate_bits = _bits(steps), _bits(rates)
        if step_bits + rate_bits < ARGUMENT_BITS:
            raise ValueError(f"steps go up to {steps.max():g} and rates up to {rates.max():g}: nothing would be kept")
        rate_bits = min(rate_bits, ARGUMENT_BITS + _MOST_SHIFT - step_bits)
        attrs = SelectiveStateAttrs(step_bits, rate_bits)
        x, written = (context.input_scale(named[name]) for name in ("input", "written"))
        _added(attrs, x, written, self.state_quant(node, context).scale[0])
        return attrs, [
            _constant(f"{node.name}_steps", steps, step_bits),
            _constant(f"{node.name}_rates", rates, rate_bits),
        ]

    def features(self, node: Node) -> Features:
        batch, rows, _ = self.sizes(node)
        return Features({"rows": batch * rows, "elements": node.outputs[0].numel})

    @staticmethod
    def sizes(node: Node) -> Sizes:
        *batch, rows, columns = node.inputs[0].shape
        return Sizes(math.prod(batch), rows, columns)

    def compute(self, node: Node, inputs: Sequence[np.ndarray], states: Sequence[np.ndarray]) -> list[np.ndarray]:
        batch, rows, columns = self.sizes(node)
        table, rates = (value.constant.astype(np.int64) for value in node.inputs[-2:])
        state = inputs[0].reshape(batch, rows, columns)
        by, x = (data.reshape(batch, rows, 1).astype(np.int64) for data in inputs[1:3])
        written = inputs[3].reshape(batch, 1, columns).astype(np.int64) - node.inputs[3].zero_point
        steps = table[by - Element.INT8.low]
        decays = negative_power(half_up(steps * rates.reshape(1, rows, columns), _argument_shift(node.attrs)))
        multiplier, shift = self._added(node)
        most = INT32_MAX >> max(shift, 0)
        products = np.clip(steps * (x - node.inputs[2].zero_point) * written, -most, most)
        return self.results(node, decays, state, requantize(products, multiplier, shift))

    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        steps, rates = node.inputs[-2:]
        return {"steps": steps.constant, "rates": rates.constant}

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        multiplier, shift = self._added(node)
        return {
            **refs,
            "table_entries": ENTRIES,
            "argument_shift": _argument_shift(node.attrs),
            "input_offset": -node.inputs[2].zero_point,
            "written_offset": -node.inputs[3].zero_point,
            "added_multiplier": multiplier,
            "added_shift": shift,
            **self.output_fields(node),
            **self.sizes(node)._asdict(),
        }

    @staticmethod
    def _added(node: Node) -> tuple[int, int]:
        state, _, x, written, *_ = node.inputs
        return _added(node.attrs, x.scale, written.scale, state.scale)


def _added(attrs: SelectiveStateAttrs, x: float, written: float, state: float) -> tuple[int, int]:
    """Returns what requantizes step * x * written to 2^-15 of a step of the state."""
    return quantize_multiplier(2.0**-attrs.step_bits * x * written / state * (1 << FRACTION))


def _argument_shift(attrs: SelectiveStateAttrs) -> int:
    return attrs.step_bits + attrs.rate_bits - ARGUMENT_BITS


def _bits(reals: np.ndarray) -> int:
    """Returns how many bits after the point leave all numbers in 16 bits with a sign."""
    return math.floor(math.log2(Element.INT16.high / max(float(reals.max()), 2.0**-14)))


def _constant(name: str, reals: np.ndarray, bits: int) -> Value:
    data = np.rint(np.ascontiguousarray(reals) * 2.0**bits).astype(np.int16)
    return Value(name, TensorType(Element.INT16, data.shape), data)
