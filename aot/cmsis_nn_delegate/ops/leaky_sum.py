"""A sum that is kept from one step to the next, of which a part decays: s = a * s + g * x."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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
from .kept_sums import FRACTION, OUTPUT_PARAMETERS, KeptSumOp, Pattern, draw_node, draw_state, initial, last
from .kernel import KernelSpec
from .recurrent import floats

LOOKUP = "lookup"
_SHAPE = ("outer", "entries", "inner")
_INPUT = blocks.input("input", I8, *_SHAPE, doc="int8 [outer, entries, inner]")
_GAINS = blocks.operand(
    Role.BIAS, "gains", I32, ("entries",), "int32 [entries], of the input in 2^-15 of the state's steps"
)
_SIZES = (
    blocks.input_offset(),
    *OUTPUT_PARAMETERS,
    *(Field(size, I32, "at least 1") for size in _SHAPE),
)

KERNEL = KernelSpec(
    "leaky_sum",
    Struct(
        "LeakySumArgs",
        "A sum of 16 bits that decays by constants: see docs/reference/recurrent_layers.md.",
        (
            initial(*_SHAPE),
            _INPUT,
            blocks.operand(Role.FILTER, "decays", I16, ("entries",), "int16 [entries], in steps of 2^-15"),
            _GAINS,
            blocks.output(I8, *_SHAPE, doc="int8 [outer, entries, inner]"),
            last(*_SHAPE),
            *_SIZES,
        ),
    ),
)
LOOKUP_KERNEL = KernelSpec(
    "leaky_sum_lookup",
    Struct(
        "LeakySumLookupArgs",
        "The same with decays that are a function of int8 numbers.",
        (
            initial(*_SHAPE),
            _INPUT,
            blocks.input("decay", I8, *_SHAPE, doc="int8 [outer, entries, inner]"),
            blocks.operand(
                Role.FILTER, "table", I16, ("table_entries",), "int16 [256]: the decays for -128 to 127, in 2^-15"
            ),
            _GAINS,
            blocks.output(I8, *_SHAPE, doc="int8 [outer, entries, inner]"),
            last(*_SHAPE),
            Field("table_entries", I32, low=ENTRIES, high=ENTRIES),
            *_SIZES,
        ),
    ),
    variant=LOOKUP,
)

_MOST_GAIN = Element.INT32.high


@dataclass(frozen=True)
class LeakySumAttrs:
    """Inputs: state (int16), x (int8, of the same shape), for decays that are looked up what they are looked up by
    (int8, of the same shape), decays (int16 [entries] or, looked up, [256]), gains (int32 [entries]). `pattern` says
    which entries belong to which elements; `lookup` whether decays are looked up."""

    pattern: Pattern
    lookup: bool = False


def _draw(d: Case, lookup: bool = False) -> Value:
    pattern = Pattern(d.integer(1, 3), d.pick(1, d.integer(1, 20)), d.pick(1, d.integer(1, 9), d.integer(1, 40)))
    state = draw_state(d, pattern)
    # What is added is anything up to the whole range of the state, sometimes beyond it.
    most = min(int(2.0 ** d.random.uniform(4, 31.1)), _MOST_GAIN)
    entries = ENTRIES if lookup else pattern.entries
    decays = d.constant((entries,), Element.INT16, *d.pick((-(1 << 15), (1 << 15) - 1), (32000, 32767)))
    gains = d.constant((pattern.entries,), Element.INT32, d.pick(-most, 0), most)
    by = [d.input(*pattern)] if lookup else []
    attrs = LeakySumAttrs(pattern, lookup)
    return draw_node(d, "leaky_sum", [state, d.input(*pattern), *by, decays, gains], attrs)


def _draw_lookup(d: Case) -> Value:
    return _draw(d, lookup=True)


class LeakySum(KeptSumOp):
    """Running means, leaky integrators, and the states of gated and linear recurrent units."""

    name = "leaky_sum"
    targets = ("cmsis_nn_delegate.leaky_sum.default",)
    whole = targets
    annotation = KeptSum(targets, operands=2, last="cmsis_nn_delegate.leaky_sum_last.default")
    attrs = LeakySumAttrs
    kernels = (KERNEL, LOOKUP_KERNEL)
    draws = (_draw, _draw_lookup)
    activations = ("input", "decay")
    constant_names = ("gain", "chain")
    limits = (
        "running means, leaky integrators and gated states, state = a * state + g * x, that a model keeps; a is a "
        "constant of at most 1 - 2^-10, or a function of one activation that is never beyond 1, such as a sigmoid",
    )

    def sources(self, node: EdgeNode, context: EdgeContext) -> list[EdgeNode]:
        named = self.named(node, context)
        return [named["input"], *([named["decay"]] if named["chain"] else [])]

    def constants_of(self, node: EdgeNode, context: EdgeContext) -> Sequence[str]:
        return ("gain",) if self.named(node, context)["chain"] else ("decay", "gain")

    def numbers(self, node: EdgeNode, context: EdgeContext) -> tuple[LeakySumAttrs, list[Value]]:
        named, state = self.named(node, context), self.state_quant(node, context)
        lookup = bool(named["chain"])
        scale = context.input_scale(named["input"]) / state.scale[0]
        gains = np.rint(floats(named["gain"], context) * scale * (1 << FRACTION))
        if np.abs(gains).max() > _MOST_GAIN:
            raise ValueError(
                f"its input goes far beyond the range of its state, whose scale is {state.scale[0]:g}, and that of the "
                f"input {context.input_scale(named['input']):g}"
            )
        if lookup:
            quant = context.input_quant(named["decay"])
            assert quant is not None  # says check
            reals = quant.scale[0] * (np.arange(Element.INT8.low, Element.INT8.high + 1) - quant.zero_point)
            pattern, (entries,) = Pattern.of(shape_of(node), gains)
            decays = _decays(compute(named["chain"], reals))
        else:
            constant = _decays(floats(named["decay"], context))
            pattern, (decays, entries) = Pattern.of(shape_of(node), constant, gains)
        return LeakySumAttrs(pattern, lookup), [
            _constant(f"{node.name}_decays", decays, Element.INT16),
            _constant(f"{node.name}_gains", entries, Element.INT32),
        ]

    def variant(self, node: Node) -> str:
        return LOOKUP if node.attrs.lookup else ""

    def features(self, node: Node) -> Features:
        pattern = node.attrs.pattern
        return Features({"entries": pattern.outer * pattern.entries, "elements": node.outputs[0].numel})

    def compute(self, node: Node, inputs: Sequence[np.ndarray], states: Sequence[np.ndarray]) -> list[np.ndarray]:
        pattern = node.attrs.pattern
        state, x, *by = (data.reshape(pattern) for data in inputs[: 3 if node.attrs.lookup else 2])
        table, gains = (value.constant.astype(np.int64) for value in node.inputs[-2:])
        decays = table[by[0].astype(np.int64) - Element.INT8.low] if by else table.reshape(1, -1, 1)
        steps = x.astype(np.int64) - node.inputs[1].zero_point
        return self.results(node, decays, state, steps * gains.reshape(1, -1, 1))

    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        table, gains = node.inputs[-2:]
        return {"table" if node.attrs.lookup else "decays": table.constant, "gains": gains.constant}

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        return {
            **refs,
            **({"table_entries": ENTRIES} if node.attrs.lookup else {}),
            "input_offset": -node.inputs[1].zero_point,
            **self.output_fields(node),
            **node.attrs.pattern._asdict(),
        }


def _decays(reals: np.ndarray) -> np.ndarray:
    """Returns whole numbers in steps of 2^-15. ValueError if any is beyond 1."""
    if np.abs(reals).max() > 1:
        raise ValueError(f"it decays by {np.abs(reals).max():g}, and would grow without end")
    found: np.ndarray = np.clip(np.rint(reals * (1 << FRACTION)), Element.INT16.low, Element.INT16.high)
    return found


def _constant(name: str, data: np.ndarray, element: Element) -> Value:
    return Value(name, TensorType(element, data.shape), np.ascontiguousarray(data.astype(element.numpy)))
