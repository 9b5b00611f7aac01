"""Layer norm, group norm, instance norm and RMS norm."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Optional

import numpy as np

from ..edge.nodes import GETITEM, argument, first, operand, shape_of, target_name
from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Reason, Refusal
from ..format import blocks
from ..format.cpp import camel
from ..format.element import COMMON_ELEMENT, KERNEL_ELEMENTS
from ..format.record import I8, I16, I32, Field, Role, Scalar, Struct
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element, Layout, TensorType
from . import block_values, storage
from .annotation import Elementwise
from .attrs import Clamp
from .case import Case
from .features import Features
from .kernel import KernelSpec, named_for
from .layouts import Layouts
from .op import Op
from .quantized_math import to_output, wrap32

# Normalized values have this many bits after the point. With the largest group they still fit 32 bits.
FRACTION_BITS = 20
MAX_GROUP = 1 << 20
MAX_GROUPS = {Element.INT8: MAX_GROUP, Element.INT16: 1 << 15}
# Of the squared step of the epsilon: what is added to the variance has at most 61 bits.
_EPSILON_LIMIT = 1 << 61
_MOST_SHIFT = 30
_LEAST_SHIFT = -16


def _kernel(element: Scalar, offsets: tuple[Field, ...], activation: Struct) -> KernelSpec:
    name, kind = named_for("normalize", element), element.element
    return KernelSpec(
        name,
        Struct(
            f"{camel(name)}Args",
            f"{kind} normalization of groups of outer * inner elements, each with its own mean and variance. The "
            "output may be the input.",
            (
                blocks.input("input", element, "rows", "outer", "inner", doc=f"{kind} [rows, outer, inner]"),
                blocks.operand(
                    Role.BIAS, "weight", I32, ("parameters",), "int32 [parameters], the factors with the output's scale"
                ),
                blocks.bias("parameters", doc="int32 [parameters], in the steps of the weight"),
                blocks.output(element, "rows", "outer", "inner", doc=f"{kind} [rows, outer, inner]"),
                Field("rows", I32, "number of all groups, a multiple of `groups`"),
                Field("groups", I32, "that have parameters of their own"),
                Field("outer", I32, "outer * inner is the size of a group, at most 2^20"),
                Field("inner", I32, "elements of a group that lie together"),
                Field(
                    "interleaved",
                    I32,
                    "1: [rows / groups, outer, groups, inner] in memory; 0: [rows / groups, groups, outer, inner]",
                    low=0,
                    high=1,
                ),
                Field("parameters", I32, "elements of weight and bias"),
                Field("group_step", I32, "from a group's parameters to those of the next"),
                Field("outer_step", I32, "from the parameters of an outer step to those of the next"),
                Field("inner_step", I32, "from the parameter of an element to that of the next"),
                Field("centered", I32, "1: the mean is subtracted; 0: root mean square", low=0, high=1),
                *offsets,
                Field(
                    "epsilon_high",
                    I32,
                    "epsilon = epsilon_high * 2^31 + epsilon_low is added ...",
                    low=0,
                    high=2**30 - 1,
                ),
                Field("epsilon_low", I32, low=0, high=2**31 - 1),
                Field(
                    "half_shift",
                    I32,
                    "... to size * size * variance * 4^half_shift, in steps",
                    low=_LEAST_SHIFT // 2,
                    high=_MOST_SHIFT // 2,
                ),
                Field("parameter_shift", I32, "parameters have this many bits after the point", low=0, high=30),
                Field("activation", activation),
            ),
            geometry="normalize",
        ),
        priced_as="" if element is I8 else "normalize",
    )


KERNEL = _kernel(I8, (blocks.input_offset(), blocks.output_offset()), blocks.ACTIVATION)
INT16 = _kernel(I16, (), blocks.ACTIVATION_INT16)


@dataclass(frozen=True)
class NormalizeAttrs:
    """normalize. Inputs: x and, if they are there, float32 weight and bias.

    `groups` is None if the last dimensions, `size` elements, are normalized together, with a parameter for each.
    Otherwise dimension 1, the channels, is divided into that many groups, and a parameter belongs to a channel.
    """

    groups: Optional[int]
    size: int
    epsilon: float
    centered: bool = True
    has_weight: bool = True
    has_bias: bool = True
    clamp: Clamp = Clamp()


class _Sizes(NamedTuple):
    """The sizes of the argument block, by the names of its fields."""

    rows: int
    groups: int
    outer: int
    inner: int
    interleaved: int
    parameters: int
    group_step: int
    outer_step: int
    inner_step: int

    @property
    def group(self) -> int:
        """Elements of a group."""
        return self.outer * self.inner


def _parameters(d: Case, count: int) -> list[Value]:
    drawn = d.random.uniform(-1.5, 1.5, (2, count)).astype(np.float32)
    kind = TensorType(Element.FLOAT32, (count,))
    return [Value("weight", kind, drawn[0]), Value("bias", kind, drawn[1])]


def _draw_node(d: Case, x: Value, groups: Optional[int], size: int, count: int) -> Value:
    weight, bias = _parameters(d, count)
    has_weight, has_bias = d.pick((True, True), (True, True), (True, False), (False, True), (False, False))
    inputs = [x, *([weight] if has_weight else []), *([bias] if has_bias else [])]
    epsilon = d.pick(1e-5, 1e-5, 1e-12, 1e-2, 0.0)
    attrs = NormalizeAttrs(groups, size, epsilon, d.pick(True, True, False), has_weight, has_bias, d.clamp())
    scale = 2.0 ** (d.random.uniform(-6, -4) + 8 - x.element.bits)
    return d.node("normalize", inputs, attrs, d.quant(float(scale), element=x.element))


def _draw_layer(d: Case, element: Element = COMMON_ELEMENT) -> Value:
    """Over the last dimension; sometimes of a single element."""
    size = d.pick(d.integer(1, 9), d.integer(1, 70), d.integer(70, 300))
    return _draw_node(d, d.input(d.batch(), d.integer(1, 5), size, element=element), None, size, size)


def _draw_groups(d: Case, element: Element = COMMON_ELEMENT) -> Value:
    """Groups of the channels of images, in both layouts."""
    groups = d.integer(1, 4)
    channels = groups * d.integer(1, 5)
    layout = d.pick(Layout.ROW_MAJOR, Layout.CHANNELS_LAST)
    x = d.input(d.batch(), channels, *d.pair(1, 5), element=element, layout=layout)
    result = _draw_node(d, x, groups, x.numel // x.shape[0] // groups, channels)
    result.retype(layout=layout)
    return result


def _draw_int16(d: Case) -> Value:
    return d.pick(_draw_layer, _draw_groups)(d, Element.INT16)


class Normalize(Op):
    """(x - mean) / sqrt(variance + epsilon) * weight + bias, over groups of elements.

    With n elements x of a group in steps from the zero point, s = sum(x) (0 for RMS norm) and v = n * sum(x^2) - s^2:

        z = (n * x - s) / sqrt(v + n^2 * epsilon / scale^2)     with 20 bits after the point
        y = round(z * weight / output scale + bias / output scale) + zero point

    v is exact; the root has 32 bits, its reciprocal 31, and the parameters up to 30 bits after the point, so that y is
    the real result rounded once, but for values within 2^-10 steps of a half, of int16 2^-6.
    """

    name = "normalize"
    targets = (
        "aten.layer_norm.default",
        "aten.native_layer_norm.default",
        "aten.group_norm.default",
        "aten.native_group_norm.default",
        "aten.instance_norm.default",
        "aten.rms_norm.default",
    )
    whole = (
        "aten.layer_norm.default",
        "aten.group_norm.default",
        "aten.instance_norm.default",
        "aten.rms_norm.default",
    )
    annotation = Elementwise(
        ("aten.layer_norm.default", "aten.group_norm.default", "aten.instance_norm.default", "aten.rms_norm.default"),
        operands=1,
    )
    attrs = NormalizeAttrs
    kernels = (KERNEL, INT16)
    draws = (_draw_layer, _draw_groups, _draw_int16)
    elements = KERNEL_ELEMENTS
    limits = (
        "layer, group, instance and RMS norm, with or without constant weight and bias",
        "vectors divided by their length, as by F.normalize with p=2, along one dimension, with an eps of at most 1e-6",
        f"at most {MAX_GROUP} elements that are normalized together, of int16 {MAX_GROUPS[Element.INT16]}",
        "an instance norm with running statistics is a batch norm",
    )
    in_place = True

    # Edge program -----------------------------------------------------------

    def takes(self, node: EdgeNode, element: Element) -> bool:
        shape, kind = shape_of(operand(node)), target_name(node)
        if kind in ("aten.layer_norm.default", "aten.rms_norm.default"):
            sizes: Sequence[int] = argument(node, 1)
            return math.prod(sizes) <= MAX_GROUPS[element]
        groups: int = argument(node, 1) if kind == "aten.group_norm.default" else shape[1]
        return math.prod(shape[1:]) // groups <= MAX_GROUPS[element]

    def check(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        source = operand(node)
        return first(
            lambda: self._refuse_results(node),
            lambda: context.refuse_tensors(source, self._result(node)),
            lambda: self._refuse_parameters(node, context),
            lambda: context.refuse_quant(node, [source]),
            lambda: self._refuse_epsilon(node, context),
        )

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        attrs, weight, bias = self._described(node, context)
        inputs = [context.value(operand(node))]
        for name, parameter in (("weight", weight), ("bias", bias)):
            constant = context.constant_float(parameter)
            if constant is not None:
                if constant.data is None:
                    raise ValueError(f"{node.name} has a {name} without data")
                data = constant.data.astype(np.float32).reshape(-1)
                inputs.append(Value(f"{node.name}_{name}", TensorType(Element.FLOAT32, data.shape), data))
        return [context.node(self._result(node), self.name, inputs, attrs)]

    def _described(self, node: EdgeNode, context: EdgeContext) -> tuple[NormalizeAttrs, Any, Any]:
        """Returns (attributes, weight, bias) of a node."""
        arguments = context.arguments(node)
        shape = shape_of(operand(node))
        kind = target_name(node).split(".")[1].removeprefix("native_")
        groups: Optional[int] = None
        centered, bias = True, None
        if kind == "layer_norm":
            _, normalized, weight, bias, epsilon, *_ = arguments
        elif kind == "rms_norm":
            _, normalized, weight, epsilon = arguments
            centered = False
            # The default of PyTorch.
            epsilon = float(np.finfo(np.float32).eps) if epsilon is None else epsilon
        elif target_name(node) == "aten.native_group_norm.default":
            _, weight, bias, *_, groups, epsilon = arguments
        elif kind == "group_norm":
            _, groups, weight, bias, epsilon, *_ = arguments
        else:
            weight, bias, epsilon, groups = arguments[1], arguments[2], arguments[7], shape[1]
        size = math.prod(normalized) if groups is None else math.prod(shape[1:]) // groups
        attrs = NormalizeAttrs(groups, size, float(epsilon), centered, weight is not None, bias is not None)
        return attrs, weight, bias

    def _result(self, node: EdgeNode) -> EdgeNode:
        """Returns the node whose value is the normalized tensor: the native forms also give mean and deviation."""
        return next(iter(node.users)) if "native" in target_name(node) else node

    def _refuse_results(self, node: EdgeNode) -> Optional[Refusal]:
        if "native" not in target_name(node):
            return None
        if [user.args[1] for user in node.users if target_name(user) == GETITEM] == [0]:
            return None
        return Refusal(
            Reason.UNSUPPORTED_PARAMETER,
            "its mean or deviation is read; only the normalized tensor is supported: compute the others with mean",
        )

    def _refuse_parameters(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        if target_name(node) == "aten.instance_norm.default" and not context.arguments(node)[5]:
            return Refusal(
                Reason.UNSUPPORTED_PARAMETER,
                "it uses running statistics, as a batch norm; write it as one",
            )
        if len(shape_of(operand(node))) < 2 and "layer" not in target_name(node) and "rms" not in target_name(node):
            return Refusal(Reason.UNSUPPORTED_SHAPE, "its input has no channels; give it rank 2 with unsqueeze")
        attrs, *parameters = self._described(node, context)
        if any(parameter is not None and context.constant_float(parameter) is None for parameter in parameters):
            return Refusal(
                Reason.UNSUPPORTED_PARAMETER,
                "its weight or bias is not constant; multiply or add it after a normalization without weight and bias",
            )
        if attrs.epsilon < 0:
            return Refusal(Reason.UNSUPPORTED_PARAMETER, f"eps {attrs.epsilon:g} is negative; give it a positive one")
        element = context.operand_element(operand(node)) or COMMON_ELEMENT
        if attrs.size > MAX_GROUPS[element]:
            return Refusal(
                Reason.TOO_LARGE,
                f"{attrs.size} elements of {element.value} are normalized together; at most {MAX_GROUPS[element]} are "
                "supported: use more groups",
            )
        return None

    def _refuse_epsilon(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        attrs, *_ = self._described(node, context)
        scale = context.input_scale(operand(node))
        try:
            epsilon_of(attrs, scale, context.operand_element(operand(node)) or COMMON_ELEMENT)
        except ValueError:
            return Refusal(
                Reason.UNSUPPORTED_QUANTIZATION,
                f"eps {attrs.epsilon:g} is too large for an input of scale {scale:g}; calibrate with data as in use",
            )
        return None

    # Graph ------------------------------------------------------------------

    def layouts_of(self, node: Node) -> Layouts:
        return Layouts.ROW_MAJOR if node.attrs.groups is None else Layouts.SAME

    def carried(self, node: Node) -> Collection[int]:
        shape = node.output.shape
        return range(len(shape) - 1) if node.attrs.groups is None and node.attrs.size == shape[-1] else ()

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        sizes = self._sizes(node)
        n = sizes.group
        batch = sizes.rows // sizes.groups
        x: np.ndarray = inputs[0].reshape(-1).astype(np.int64) - node.inputs[0].zero_point
        if sizes.interleaved:
            x = x.reshape(batch, sizes.outer, sizes.groups, sizes.inner).transpose(0, 2, 1, 3).reshape(-1)
        x = x.reshape(sizes.rows, n)
        epsilon, half_shift = epsilon_of(node.attrs, node.inputs[0].scale, node.inputs[0].element)
        total = x.sum(axis=1) if node.attrs.centered else np.zeros(sizes.rows, np.int64)
        variance = n * (x * x).sum(axis=1) - total * total
        z = np.empty_like(x)
        for row in range(sizes.rows):
            inverse, shift = inverse_root(int(variance[row]), epsilon, half_shift)
            z[row] = wrap32(((n * x[row] - total[row]) * inverse + (1 << (shift - 1))) >> shift)
        weight, bias, parameter_shift = self._parameters(node)
        # The parameters of each element of a row of groups.
        steps = (
            np.arange(size) * step
            for size, step in (
                (sizes.groups, sizes.group_step),
                (sizes.outer, sizes.outer_step),
                (sizes.inner, sizes.inner_step),
            )
        )
        group, outer, inner = steps
        index = (group[:, None, None] + outer[:, None] + inner).reshape(sizes.groups, n)
        bits = FRACTION_BITS + parameter_shift
        acc = z.reshape(batch, sizes.groups, n) * weight[index] + (bias[index] << FRACTION_BITS)
        y = (acc + (1 << (bits - 1))) >> bits
        if sizes.interleaved:
            y = y.reshape(batch, sizes.groups, sizes.outer, sizes.inner).transpose(0, 2, 1, 3)
        lo, hi = node.attrs.clamp.quantized(node.output.type)
        # Before the sum, because a value far out of range would wrap.
        y = np.clip(y, -(1 << 30), 1 << 30)
        return to_output(y, node.output.zero_point, lo, hi, node.output.element).reshape(node.output.storage_shape)

    # Payload ----------------------------------------------------------------

    def features(self, node: Node) -> Features:
        sizes = self._sizes(node)
        path = "groups" if node.attrs.groups is not None else ""
        return Features({"rows": sizes.rows, "runs": sizes.rows * sizes.outer, "outputs": node.output.numel}, path)

    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        weight, bias, _ = self._parameters(node)
        return {"weight": weight.astype(np.int32), "bias": bias.astype(np.int32)}

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        epsilon, half_shift = epsilon_of(node.attrs, node.inputs[0].scale, node.inputs[0].element)
        *_, parameter_shift = self._parameters(node)
        offsets = {"input_offset": -node.inputs[0].zero_point, "output_offset": node.output.zero_point}
        return {
            **refs,
            **self._sizes(node)._asdict(),
            "centered": int(node.attrs.centered),
            **({} if node.output.element.is_symmetric else offsets),
            "epsilon_high": epsilon >> 31,
            "epsilon_low": epsilon & 0x7FFFFFFF,
            "half_shift": half_shift,
            "parameter_shift": parameter_shift,
            "activation": block_values.activation(node.attrs.clamp, node.output.type),
        }

    def _sizes(self, node: Node) -> _Sizes:
        value, attrs = node.inputs[0], node.attrs
        varies = attrs.has_weight or attrs.has_bias
        if attrs.groups is None:
            return _Sizes(
                value.numel // attrs.size, 1, 1, attrs.size, 0, attrs.size if varies else 1, 0, 0, int(varies)
            )
        n, channels = value.shape[:2]
        groups = attrs.groups
        inside, pixels = channels // groups, math.prod(value.shape[2:])
        count, step = (channels, inside) if varies else (1, 0)
        if storage.effective_layout(value) is Layout.CHANNELS_LAST:
            return _Sizes(n * groups, groups, pixels, inside, 1, count, step, 0, int(varies))
        return _Sizes(n * groups, groups, inside, pixels, 0, count, step, int(varies), 0)

    def _parameters(self, node: Node) -> tuple[np.ndarray, np.ndarray, int]:
        """(weight, bias, bits after the point): int64 with numbers of 31 bits, in steps of the output."""
        constants = [value.constant.astype(np.float64) for value in node.inputs[1:]]
        count = self._sizes(node).parameters
        weight = constants.pop(0) if node.attrs.has_weight else np.ones(count)
        bias = constants.pop(0) if node.attrs.has_bias else np.zeros(count)
        real = np.stack([weight, bias]) / node.output.scale
        largest = float(np.abs(real).max())
        # So that the largest has 30 bits.
        shift = min(max(30 - math.frexp(largest)[1], 0), 30)
        limit = (1 << 31) - 1
        fixed = np.clip(np.rint(real * (1 << shift)), -limit, limit).astype(np.int64)
        return fixed[0], fixed[1], shift


def epsilon_of(attrs: NormalizeAttrs, scale: float, element: Element = COMMON_ELEMENT) -> tuple[int, int]:
    """(epsilon, half shift): what is added to n^2 * variance * 4^half_shift, where the variance counts steps of the
    input. ValueError if it has more than 61 bits."""
    size = attrs.size
    epsilon = size * size * (attrs.epsilon / scale / scale)
    # The largest variance is that of steps of 255, or of 2^15; the sum must have at most 62 bits.
    most = -element.low if element.is_symmetric else element.high - element.low
    bits = max(math.frexp(size * size * float(most * most))[1], math.frexp(epsilon)[1])
    half_shift = min(max(60 - bits, _LEAST_SHIFT), _MOST_SHIFT) // 2
    fixed = round(epsilon * 4.0**half_shift)
    if fixed >= _EPSILON_LIMIT:
        raise ValueError(f"an epsilon of {epsilon:g} squared steps has too many bits")
    return fixed, half_shift


def inverse_root(variance: int, epsilon: int, half_shift: int) -> tuple[int, int]:
    """(inverse, shift): inverse * 2^-shift is 2^FRACTION_BITS / sqrt(variance + epsilon / 4^half_shift)."""
    scaled = variance << 2 * half_shift if half_shift >= 0 else variance >> -2 * half_shift
    total = ((scaled + epsilon) & 0xFFFFFFFFFFFFFFFF) or 1
    pairs = (64 - total.bit_length()) // 2  # of leading zeros
    root = math.isqrt(total << 2 * pairs)  # 32 bits
    return (1 << 62) // root, max(62 - FRACTION_BITS - pairs - half_shift, 1)
