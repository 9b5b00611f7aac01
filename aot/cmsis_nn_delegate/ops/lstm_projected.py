"""LSTM layer with a projection (`proj_size`) in one direction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..format import blocks
from ..format.record import I16, I32, Field, Role
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element, Quant
from .annotation import RecurrentLayer
from .case import Case
from .features import Features, sums
from .lstm import CELL_BITS, GATES, Lstm, LstmAttrs
from .quantized_math import quantize_multiplier, requantize, wrap32
from .recurrent import Format, Numbers, Step, constant_of, draws, initial, last, packed, require_sums, specs

_LAST = "cmsis_nn_delegate.lstm_projected_last.default"


def _own(kind: Format) -> tuple[Field, ...]:
    scale = CELL_BITS, blocks.multiplier("unit_multiplier"), blocks.shift("unit_shift")
    return (*scale, blocks.number("unit_offset", "zero_point of the units")) if kind.offsets else scale


def _projection(kind: Format) -> tuple[Field, ...]:
    matrix = "outputs", "hidden"
    return (
        blocks.operand(Role.FILTER, "projection", kind.weights, matrix, f"{kind.weights.element} [outputs, hidden]"),
        blocks.operand(Role.BIAS, "projection_bias", I32, ("outputs",), "int32 [outputs], effective bias"),
    )


KERNELS = specs(
    "lstm_projected",
    "LSTM",
    GATES,
    own=_own,
    initial=lambda kind: (initial("initial_hidden", kind.activations, "outputs"), initial("initial_cells", I16)),
    last=(last("last_cells", I16),),
    projection=_projection,
    priced_as="lstm",  # whose loops it has, and one more of the same products
)
KERNEL, LENGTHS_KERNEL = KERNELS[:2]


@dataclass(frozen=True)
class LstmProjectedAttrs(LstmAttrs):
    """`unit_scale`, `unit_zero_point`: how the units are quantized, of which the projection computes the output."""

    unit_scale: float = 2.0**-7
    unit_zero_point: int = 0


def _draw(d: Case, lengths: bool, numbers: Numbers) -> Value:
    units = numbers.quant(d, 6.5, 8)
    attrs = LstmProjectedAttrs(
        d.pick(False, True), d.pick(False, True), d.integer(8, 15), units.scale[0], units.zero_point
    )
    return LstmProjected.draw(d, attrs, numbers.quant(d, 4, 8), lengths, numbers)


class LstmProjected(Lstm):
    """The integer LSTM of TensorFlow Lite with a projection: the units m are what an LSTM without one gives, with a
    scale of their own.

        m = sat(requantize(o * tanh(c)) + zero point of m)
        h = sat(requantize(P (m - zero point of m)) + zero point)

    Beside the range of the cells the quantizer finds that of the units, which the scale of `m0` states.
    """

    name = "lstm_projected"
    targets = ("cmsis_nn_delegate.lstm_projected.default",)
    whole = targets
    annotation = RecurrentLayer(
        targets,
        len(GATES),
        cells="cmsis_nn_delegate.lstm_projected_cells.default",
        units="cmsis_nn_delegate.lstm_projected_units.default",
        last=_LAST,
    )
    attrs = LstmProjectedAttrs
    kernels = KERNELS
    draws = draws(_draw)
    last = _LAST
    further = ("w_hr", "m0")
    stating = ("m0",)
    limits = ("LSTM layers with proj_size, of any number of steps; of different lengths with VariableLength",)

    # Edge program -----------------------------------------------------------

    def layer(self, node: EdgeNode, context: EdgeContext) -> LstmProjectedAttrs:
        attrs = super().layer(node, context)
        units = constant_of(self._parameters(node)["m0"], context).quant
        if units is None:
            raise ValueError(f"its units have more than one scale: {context.requantize}")
        return LstmProjectedAttrs(**vars(attrs), unit_scale=units.scale[0], unit_zero_point=units.zero_point)

    def _require_sums(
        self, node: EdgeNode, context: EdgeContext, sources: Sequence[float], scales: Sequence[np.ndarray]
    ) -> None:
        super()._require_sums(node, context, sources, scales)
        weight, units = (constant_of(self._parameters(node)[name], context) for name in self.further)
        assert weight.data is not None and units.quant is not None
        (scale,), (unit_scale,) = self._scales("w_hr", 1, node, context), units.quant.scale
        require_sums("w_hr", weight.data, np.zeros(len(weight.data)), self._element(node, context))
        _, h = sources
        for real in (2.0**-self.real_bits / unit_scale, unit_scale * scale / h):
            quantize_multiplier(real)  # ValueError if it does not fit

    def _projection(self, node: EdgeNode, context: ImportContext) -> list[Value]:
        source = self._parameters(node)["w_hr"]
        weight, (scale,) = self._weight(node, source, context), self._scales("w_hr", 1, node, context)
        return [Value(weight.name, weight.type.of(quant=Quant((float(scale),), 0)), weight.constant)]

    # Graph ------------------------------------------------------------------

    @staticmethod
    def projection(node: Node) -> Value:
        """Returns its weight."""
        return node.inputs[-5]

    def output_multiplier(self, node: Node) -> tuple[int, int]:
        """Returns what requantizes the sums of the projection."""
        weight = self.projection(node)
        return quantize_multiplier(node.attrs.unit_scale * weight.scale / node.outputs[0].scale)

    def unit_multiplier(self, node: Node) -> tuple[int, int]:
        """Returns what requantizes o * tanh(c) to the units."""
        return quantize_multiplier(2.0**-self.real_bits / node.attrs.unit_scale)

    def projection_bias(self, node: Node) -> np.ndarray:
        """Returns what the zero point of the units adds to the sums, int32 [outputs]."""
        row_sums = self.projection(node).constant.astype(np.int64).sum(axis=1)
        return wrap32(-node.attrs.unit_zero_point * row_sums).astype(np.int32)

    def update(self, node: Node, step: Step, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        cells, product = self.product(node, step, state)
        real = wrap32(requantize(product, *self.unit_multiplier(node)) + node.attrs.unit_zero_point)
        units = node.outputs[0].type.clamp(real)
        weight = self.projection(node).constant.astype(np.float64)
        # float64 is exact below 2^53.
        sums = wrap32((units.astype(np.float64) @ weight.T).astype(np.int64) + self.projection_bias(node))
        return cells, requantize(sums, *self.output_multiplier(node))

    def scratch_bytes(self, node: Node) -> int:
        """The units of one step of one batch."""
        return node.outputs[0].element.nbytes(self.sizes(node).hidden)

    def macs(self, node: Node) -> int:
        steps, batch, _, hidden = self.sizes(node)
        return super().macs(node) + steps * batch * self.width(node) * hidden

    def features(self, node: Node) -> Features:
        steps, batch, _, hidden = self.sizes(node)
        counts = dict(super().features(node).counts)
        for name, count in sums(steps * batch * self.width(node), hidden).items():
            counts[name] += count
        return Features(counts)

    @classmethod
    def _draw_projection(
        cls, d: Case, attrs: LstmProjectedAttrs, quant: Quant, hidden: int, numbers: Numbers
    ) -> list[Value]:
        outputs = d.pick(d.integer(1, 12), d.integer(1, 40), 4 * d.integer(1, 8))
        # A typical sum is a fifth to all of the range of the output.
        wider = 2.0 ** (numbers.activations.bits - Element.INT8.bits)
        typical = float(d.random.uniform(25, 128)) * wider * quant.scale[0]
        typical /= numbers.typical_sum(hidden) * attrs.unit_scale
        return [numbers.weight(d, (outputs, hidden), Quant((typical,), 0))]

    # Payload ----------------------------------------------------------------

    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        return {
            **super().constants(node),
            "projection": packed(self.projection(node)),
            "projection_bias": self.projection_bias(node),
        }

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        multiplier, shift = self.unit_multiplier(node)
        return {
            **super().encode(node, refs, scratch_bytes),
            "outputs": self.width(node),
            "unit_multiplier": multiplier,
            "unit_shift": shift,
            **({} if node.outputs[0].element.is_symmetric else {"unit_offset": node.attrs.unit_zero_point}),
        }
