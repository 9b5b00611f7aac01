"""Functions of one number for each element in float32."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from ..edge.nodes import target_name
from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Reason, Refusal
from ..format import blocks
from ..format.record import F32, I32, Field, Struct
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element
from . import float_math as fm
from .case import Case
from .features import Features
from .float_op import FloatOp, drawn
from .kernel import KernelSpec

_F = np.float32


def _gelu_tanh(x: Any) -> Any:
    inner = _F(0.7978845608028654) * (x + _F(0.044715) * x * x * x)
    return x * fm.sigmoid(inner + inner)  # (1 + tanh(y)) / 2 is the sigmoid of 2 y


def _clamp(x: Any, low: Any, high: Any) -> Any:
    """The least first and the greatest last, as PyTorch: where low is above high, all become high."""
    raised = np.where(x < low, low, x)
    return np.where(raised > high, high, raised)


# In the order of Function in runtime/kernels/function_float32/function_float32_portable.cc.
FUNCTIONS: Mapping[str, Callable[[Any, Any, Any], Any]] = {
    "clamp": _clamp,
    "leaky_relu": lambda x, a, b: np.where(x > 0, x, a * x),
    "abs": lambda x, a, b: np.abs(x),
    "neg": lambda x, a, b: -x,
    "reciprocal": lambda x, a, b: _F(1) / x,
    "square": lambda x, a, b: x * x,
    "cube": lambda x, a, b: x * x * x,
    "sqrt": lambda x, a, b: fm.sqrt(x),
    "rsqrt": lambda x, a, b: fm.rsqrt(x),
    "exp": lambda x, a, b: fm.exp(x),
    "log": lambda x, a, b: fm.log(x),
    "sigmoid": lambda x, a, b: fm.sigmoid(x),
    "tanh": lambda x, a, b: fm.tanh(x),
    "erf": lambda x, a, b: fm.erf(x),
    "gelu": lambda x, a, b: _F(0.5) * x * fm.erfc(x * _F(-0.7071067811865476)),
    "gelu_tanh": lambda x, a, b: _gelu_tanh(x),
    "silu": lambda x, a, b: x * fm.sigmoid(x),
    "hardsigmoid": lambda x, a, b: _clamp(x + _F(3), _F(0), _F(6)) / _F(6),
    "hardswish": lambda x, a, b: x * _clamp(x + _F(3), _F(0), _F(6)) / _F(6),
    "elu": lambda x, a, b: np.where(x > 0, x, a * fm.expm1(x)),
    "softplus": lambda x, a, b: fm.softplus(x),
    "expm1": lambda x, a, b: fm.expm1(x),
    "log1p": lambda x, a, b: fm.log1p(x),
    "log2": lambda x, a, b: fm.log(x) * _F(1.4426950408889634),
    "log10": lambda x, a, b: fm.log(x) * _F(0.4342944819032518),
}

KERNEL = KernelSpec(
    "function_float32",
    Struct(
        "FunctionFloat32Args",
        "A function of each float32 number, as ops/function_float32.py defines it. The output may be the input.",
        (
            blocks.input("input", F32, "count", doc="float32 [count]"),
            blocks.output(F32, "count", doc="float32 [count]"),
            Field("count", I32),
            Field(
                "function", I32, f"0 to {len(FUNCTIONS) - 1}: {', '.join(FUNCTIONS)}", low=0, high=len(FUNCTIONS) - 1
            ),
            Field("a", F32, "clamp: the least result; leaky_relu, elu: the factor below 0"),
            Field("b", F32, "clamp: the greatest result"),
        ),
    ),
)


@dataclass(frozen=True)
class FunctionFloat32Attrs:
    """function_float32: a name of `FUNCTIONS`, and its numbers."""

    function: str
    a: float = 0.0
    b: float = 0.0


_RELU = FunctionFloat32Attrs("clamp", 0.0, math.inf)
_PLAIN = (
    *("abs", "neg", "reciprocal", "sqrt", "rsqrt", "exp", "log", "sigmoid", "tanh", "erf", "silu"),
    *("hardsigmoid", "hardswish", "expm1", "log1p", "log2", "log10"),
)
_POWERS = {2.0: "square", 3.0: "cube", 0.5: "sqrt", -0.5: "rsqrt", -1.0: "reciprocal"}


def _draw(d: Case) -> Value:
    x = d.input(d.batch(), d.pick(d.integer(1, 9), d.integer(1, 90)), element=Element.FLOAT32)
    name = d.pick(*FUNCTIONS)
    low = float(_F(d.random.uniform(-9, 1)))
    attrs = FunctionFloat32Attrs(name, low, float(_F(low + d.random.uniform(-1, 12))))
    return drawn(d, "function_float32", [x], attrs)


class FunctionFloat32(FloatOp):
    """f(x), made of operations of IEEE 754 alone (`float_math`)."""

    name = "function_float32"
    targets = (
        *(f"aten.{name}.default" for name in _PLAIN),
        *(f"aten.{name}.default" for name in ("relu", "relu6", "hardtanh", "clamp", "clamp_min", "clamp_max")),
        *(f"aten.{name}.default" for name in ("leaky_relu", "elu", "gelu", "softplus", "square")),
        "aten.pow.Tensor_Scalar",
    )
    attrs = FunctionFloat32Attrs
    kernels = (KERNEL,)
    draws = (_draw,)
    limits = (
        "largest errors of exp and log 1 ulp, of log2 and log10 2, of tanh and sigmoid 2.5, of erf, log1p, elu and "
        "softplus 3, of expm1 3.5; the square root is "
        "correctly rounded",
        "powers only of 2, 3, 0.5, -0.5 and -1; softplus only with beta 1 and threshold 20, elu only with alpha",
    )
    in_place = True

    def refuse_arguments(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        if _attrs(node, context) is not None:
            return None
        return Refusal(
            Reason.UNSUPPORTED_PARAMETER,
            f"its arguments {context.arguments(node)[1:]} are not supported in float32; see docs/operators.md",
        )

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        (source,) = context.activations(node)
        return [context.node(node, self.name, [context.value(source)], _attrs(node, context))]

    def carried(self, node: Node) -> Sequence[int]:
        return range(len(node.output.shape)) if node.inputs[0].shape == node.output.shape else ()

    def features(self, node: Node) -> Features:
        return Features({"outputs": node.output.numel}, node.attrs.function)

    def real_reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        a: FunctionFloat32Attrs = node.attrs
        result: np.ndarray = FUNCTIONS[a.function](inputs[0], _F(a.a), _F(a.b))
        return result.astype(np.float32)

    def fields(self, node: Node) -> Mapping[str, Any]:
        a: FunctionFloat32Attrs = node.attrs
        return {"count": node.output.numel, "function": list(FUNCTIONS).index(a.function), "a": a.a, "b": a.b}


def _attrs(node: EdgeNode, context: EdgeContext) -> Optional[FunctionFloat32Attrs]:
    """Returns what an edge node computes; None if the kernel does not."""
    name = target_name(node).split(".")[1]
    _, *given = context.arguments(node)
    numbers = [float(x) if isinstance(x, (int, float)) else x for x in given]
    if name in _PLAIN:
        return FunctionFloat32Attrs(name)
    if name == "relu":
        return _RELU
    if name == "relu6":
        return FunctionFloat32Attrs("clamp", 0.0, 6.0)
    if name in ("hardtanh", "clamp", "clamp_min", "clamp_max"):
        low, high = (
            (numbers[0], None) if name == "clamp_min" else (None, numbers[0]) if name == "clamp_max" else numbers
        )
        return FunctionFloat32Attrs("clamp", -math.inf if low is None else low, math.inf if high is None else high)
    if name == "leaky_relu":
        return FunctionFloat32Attrs(name, numbers[0])
    if name == "elu" and numbers[1:] == [1.0, 1.0]:
        return FunctionFloat32Attrs(name, numbers[0])
    if name == "gelu":
        return FunctionFloat32Attrs("gelu" if numbers == ["none"] else "gelu_tanh")
    if name == "softplus" and numbers == [1.0, 20.0]:
        return FunctionFloat32Attrs(name)
    if name == "square":
        return FunctionFloat32Attrs(name)
    if name == "pow" and numbers[0] in _POWERS:
        return FunctionFloat32Attrs(_POWERS[numbers[0]])
    return None
