"""Energies of sound in bands of frequencies, each normalized by what it was lately."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Optional

import numpy as np

from ..edge.nodes import first, shape_of
from ..edge.pcen_ranges import PCEN_RANGES
from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Reason, Refusal
from ..format import blocks
from ..format.cpp import camel
from ..format.element import KERNEL_ELEMENTS
from ..format.record import I8, I16, I32, Field, Role, Scalar, Struct
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element, Quant, TensorType
from .annotation import Energies
from .case import Case
from .features import Features
from .kept_sums import initial, last
from .kernel import KernelSpec, named_for
from .layouts import Layouts
from .log_mel import SAMPLE, refuse_narrow, refuse_variable
from .logarithms import LOG_BITS, log2
from .op import Op
from .powers import ARGUMENT_BITS, LONG_BITS, long_negative_power, whole_power
from .recurrent import floats, half_up, sat16, state_type, state_value

# After the point: of a step of the input in octaves, of an octave in such steps, of `smooth`, of `root`, and of the
# result in steps of the output.
_STEP_BITS, _INVERSE_BITS, _RATE_BITS, _ROOT_BITS, _RESULT_BITS = 32, 12, 30, 20, 8
# So that differences of states have less than 2^13 octaves.
_MOST_STEP = 2**28 - 1
_MOST_UNIT = 64 << ARGUMENT_BITS  # octaves, in steps of their 2^-16


def kernel(element: Scalar) -> KernelSpec:
    name, shape = named_for("pcen", element), ("batch", "frames", "bands")
    return KernelSpec(
        name,
        Struct(
            f"{camel(name)}Args",
            f"{element.element} energies of sound, normalized by their means: see docs/reference/sound.md.",
            (
                blocks.input("input", I16, *shape, doc="int16 [batch, frames, bands]: logarithms of energies"),
                initial("batch", "bands"),
                blocks.operand(
                    Role.FILTER, "rates", I32, ("bands",), "int32 [bands], 1 to 2^30 - 1: of a mean in a frame, Q30"
                ),
                blocks.operand(
                    Role.FILTER, "strengths", I32, ("bands",), "int32 [bands]: octaves of a step of the state, Q32"
                ),
                blocks.operand(Role.FILTER, "biases", I32, ("bands",), "int32 [bands]: log2(delta), Q16"),
                blocks.operand(Role.FILTER, "roots", I32, ("bands",), "int32 [bands], 0 to 2^20: Q20"),
                blocks.output(element, *shape, doc=f"{element.element} [batch, frames, bands]"),
                last("batch", "bands"),
                Field("batch", I32, "at least 1"),
                Field("frames", I32, "at least 1"),
                Field("bands", I32, "at least 1"),
                Field("step", I32, "octaves of a step of the input, Q32", low=0, high=_MOST_STEP),
                blocks.multiplier("inverse", "steps of the input in an octave, Q12"),
                Field("unit", I32, "Q16 of log2(2^8 / output scale)", low=-_MOST_UNIT, high=_MOST_UNIT),
                blocks.output_offset(element=Element(element.element)),
            ),
        ),
    )


class Sizes(NamedTuple):
    batch: int
    frames: int
    bands: int


class Pcen(Op):
    """(E / M^alpha + delta)^root - delta^root of E = exp(input), with a mean M = M + smooth * (E - M) for each band.

    Only logarithms are kept, of which 16 bits hold any range of energies: the state is that of M, in the steps of the
    input, and what a frame adds to it is the logarithm of 1 + smooth * (E / M - 1). All logarithms are binary and have
    16 or 20 bits after the point (`logarithms`), powers 25 that count (`powers`).

    Inputs: logarithms (int16 [..., frames, bands]), state (int16 [..., bands], in the same steps), and the constants of
    the kernel in its order. Outputs: the result, and the state after the last frame. A state of 0 is that before any
    frame: the first one is then the mean. Means of 0 become 1 step.
    """

    name = "pcen"
    targets = ("cmsis_nn_delegate.pcen.default",)
    whole = targets
    annotation = Energies(targets, last="cmsis_nn_delegate.pcen_last.default")
    kernels = (kernel(I8), kernel(I16))
    layouts = Layouts.ROW_MAJOR
    elements = None
    converts = True
    limits = (
        "energies in bands normalized by their means over time (PCEN), of logarithms in int16: "
        "cmsis_nn_delegate.frontend.Pcen; "
        "smooth from 2^-10 to 1 - 2^-10, alpha from 0 to 1, root from 1/64 to 1, all of them constant",
    )

    def check(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        energies, state, *parameters = context.arguments(node)
        return first(
            lambda: context.refuse_tensors(node, energies, state),
            lambda: refuse_variable(dict(zip(PCEN_RANGES, parameters)), context),
            lambda: context.refuse_quant(node, [energies]),
            lambda: refuse_narrow("logarithms", energies, context),
            lambda: self._refuse_state(energies, state, context),
            lambda: context.refuse_elements(node, KERNEL_ELEMENTS, []),
        )

    def check_data(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        try:
            constants = self._constants(node, context)
            require_scale([value.constant for value in constants], context.output_scale(node))
        except ValueError as error:
            return Refusal(Reason.UNSUPPORTED_PARAMETER, str(error))
        return None

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        energies, state, *_ = context.arguments(node)
        given = state_value(f"{node.name}_state", state, context)
        built = context.node(node, self.name, [context.value(energies), given, *self._constants(node, context)])
        quant = context.input_quant(energies)  # also of the state, says check
        built.outputs.append(Value(f"{node.name}_last", TensorType(SAMPLE, given.shape, quant=quant)))
        context.last_states[node] = built.outputs[1]
        return [built]

    @staticmethod
    def _refuse_state(energies: EdgeNode, state: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        found, quant = state_type(state, context), context.input_quant(energies)
        if found == (SAMPLE, quant):
            return None
        return Refusal(Reason.NOT_QUANTIZED, f"its state is not quantized as its logarithms are; {context.requantize}")

    @staticmethod
    def _constants(node: EdgeNode, context: EdgeContext) -> list[Value]:
        energies, _, *parameters = context.arguments(node)
        numbers = [floats(parameter, context) for parameter in parameters]
        return constants_of(node.name, shape_of(node)[-1], context.input_scale(energies), *numbers)

    def features(self, node: Node) -> Features:
        batch, frames, bands = self.sizes(node)
        return Features({"states": batch * bands, "elements": batch * frames * bands})

    @staticmethod
    def sizes(node: Node) -> Sizes:
        *batch, frames, bands = node.inputs[0].shape
        return Sizes(math.prod(batch), frames, bands)

    def compute(self, node: Node, inputs: Sequence[np.ndarray], states: Sequence[np.ndarray]) -> list[np.ndarray]:
        sizes = self.sizes(node)
        rates, strengths, biases, roots = (value.constant.astype(np.int64) for value in node.inputs[2:])
        step, inverse = steps_of(node.inputs[0].scale)
        x = inputs[0].reshape(sizes).astype(np.int64)
        mean = inputs[1].reshape(sizes.batch, sizes.bands).astype(np.int64)
        octaves = np.empty_like(x)  # of energies divided by powers of their means
        for t in range(sizes.frames):
            mean = _next_mean(mean, x[:, t], rates, step, inverse)
            octaves[:, t] = half_up(x[:, t] * step - mean * strengths, _STEP_BITS - ARGUMENT_BITS)
        output, unit = node.outputs[0], unit_of(node.outputs[0].scale)
        ratio = np.abs(octaves - biases)
        one = np.int64(1) << LONG_BITS
        more = log2(one + long_negative_power(ratio), LONG_BITS)  # of the sum with delta than of the greater one
        biased = np.maximum(octaves, biases) + half_up(more, LOG_BITS - ARGUMENT_BITS)
        steps = _root(biased, roots, unit) - _root(biases, roots, unit)
        found = half_up(steps, _RESULT_BITS) + output.zero_point
        return [
            output.type.clamp(found).astype(output.element.numpy).reshape(output.storage_shape),
            mean.astype(np.int16).reshape(node.outputs[1].storage_shape),
        ]

    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        names = self.kernels[0].args.names_of(Role.FILTER)
        return {name: value.constant for name, value in zip(names, node.inputs[2:])}

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        step, inverse = steps_of(node.inputs[0].scale)
        return {
            **refs,
            **self.sizes(node)._asdict(),
            "step": step,
            "inverse": inverse,
            "unit": unit_of(node.outputs[0].scale),
            "output_offset": node.outputs[0].zero_point,
        }


def _next_mean(mean: np.ndarray, x: np.ndarray, rates: np.ndarray, step: int, inverse: int) -> np.ndarray:
    """Returns the logarithms of means after a frame of logarithms `x`."""
    power = long_negative_power(half_up(np.abs(x - mean) * step, _STEP_BITS - ARGUMENT_BITS))
    rests = (1 << _RATE_BITS) - rates
    # Of the greater one of both, to which the other one is 2^-|x - mean|.
    greater, less = np.where(x >= mean, rates, rests), np.where(x >= mean, rests, rates)
    part = log2((greater << LONG_BITS) + less * power, _RATE_BITS + LONG_BITS)
    new = np.where(mean == 0, x, sat16(np.maximum(x, mean) + half_up(part * inverse, LOG_BITS + _INVERSE_BITS)))
    return np.where(new == 0, 1, new)


def _root(octaves: np.ndarray, roots: np.ndarray, unit: int) -> np.ndarray:
    """Returns the powers with exponents `roots` of what has these octaves, in 2^-8 of a step of the output."""
    return whole_power(half_up(octaves * roots, _ROOT_BITS) + unit)


def steps_of(scale: float) -> tuple[int, int]:
    """Returns the octaves of a step of natural logarithms, Q32, and how many steps an octave has, Q12. ValueError if
    one of them exceeds the kernel's range."""
    step, inverse = scale / math.log(2) * 2.0**_STEP_BITS, math.log(2) / scale * 2.0**_INVERSE_BITS
    if round(step) > _MOST_STEP or round(inverse) >= 2**31:
        raise ValueError(
            f"the scale of its logarithms, {scale:g}, is not from 2e-6 to 0.04: it takes natural logarithms, such as "
            "those of a LogMel whose gain is 1"
        )
    return round(step), round(inverse)


def unit_of(scale: float) -> int:
    """Returns the octaves of 1 in 2^-8 steps of `scale`, Q16."""
    return round(math.log2(2.0**_RESULT_BITS / scale) * 2.0**ARGUMENT_BITS)


def constants_of(
    name: str, bands: int, scale: float, smooth: np.ndarray, alpha: np.ndarray, delta: np.ndarray, root: np.ndarray
) -> list[Value]:
    """Returns the constants of the kernel, for parameters in float64 that fit [bands], and logarithms in steps of
    `scale`. ValueError if the kernel cannot compute with them."""
    for (what, (low, high)), numbers in zip(PCEN_RANGES.items(), (smooth, alpha, delta, root)):
        outside = numbers[~((numbers >= low) & (numbers <= high))]
        if outside.size:
            raise ValueError(f"its {what} is {outside[0]:g}, and has to be from {low:g} to {high:g}")
    step, _ = steps_of(scale)
    arrays = {
        "rates": smooth * 2.0**_RATE_BITS,
        "strengths": alpha * step,
        "biases": np.log2(delta) * 2.0**ARGUMENT_BITS,
        "roots": root * 2.0**_ROOT_BITS,
    }
    constants = {key: np.rint(np.broadcast_to(data, bands)).astype(np.int32) for key, data in arrays.items()}
    return [Value(f"{name}_{key}", TensorType(Element.INT32, (bands,)), data) for key, data in constants.items()]


def require_scale(constants: Sequence[np.ndarray], scale: float) -> None:
    """ValueError if the least result, that of `biases` and `roots` among the kernel's constants, is no number of the
    kernel in steps of `scale`."""
    *_, biases, roots = (constant.astype(np.int64) for constant in constants)
    if abs(unit_of(scale)) > _MOST_UNIT or _root(biases, roots, unit_of(scale)).max() >= 2**31:
        raise ValueError(f"the scale of its output, {scale:g}, is too small for its delta: calibrate with sound")


def _draw(d: Case, element: Element) -> Value:
    """Of parameters as people have them, and of any; that jump, rise slowly or stay; from the first frame on, or
    later."""
    batch = d.pick((), (1,), (d.integer(1, 3),))
    frames, bands = d.pick(1, d.integer(1, 6), d.integer(1, 30)), d.pick(1, d.integer(1, 6), d.integer(1, 40))
    quant = Quant((float(2.0 ** d.random.uniform(-15, -9)),), 0)
    x = d.input(*batch, frames, bands, element=SAMPLE, quant=quant)
    low, high = d.pick((0, 0), (-3000, 3000), (SAMPLE.low, SAMPLE.high))
    state = d.constant((*batch, bands), SAMPLE, low, high, quant)
    size = d.pick(1, bands)
    numbers = (
        d.pick(np.full(1, 0.025), 2.0 ** d.random.uniform(-10, -0.01, size)),
        d.pick(np.full(1, 0.98), d.random.uniform(0, 1, size), np.ones(1), np.zeros(1)),
        d.pick(np.full(1, 2.0), 2.0 ** d.random.uniform(-20, 10, size)),
        d.pick(np.full(1, 0.5), d.random.uniform(2.0**-6, 1, size), np.ones(1)),
    )
    constants = constants_of(f"c{len(d.nodes)}", bands, quant.scale[0], *numbers)
    output = d.node(
        "pcen", [x, state, *constants], None, d.quant(float(2.0 ** d.random.uniform(-14, -2)), element=element)
    )
    output.retype(element=element)
    last_state = Value("last", TensorType(SAMPLE, state.shape, quant=quant))
    d.nodes[-1].outputs.append(last_state)
    return d.dequantize(last_state) if d.pick(False, False, True) else output


Pcen.draws = (lambda d: _draw(d, Element.INT8), lambda d: _draw(d, Element.INT16))
