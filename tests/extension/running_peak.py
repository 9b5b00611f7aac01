"""An operator with several outputs and a state, which no network uses: shows how to declare such an operator.

It uses the number of mul, which an image with its kernel must not link: only operators of the format have their own
numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cmsis_nn_delegate.format import blocks
from cmsis_nn_delegate.format.opcodes import Opcode
from cmsis_nn_delegate.format.record import I8, I32, Field, Struct
from cmsis_nn_delegate.graph.ir import Node
from cmsis_nn_delegate.ops.kernel import KernelSpec
from cmsis_nn_delegate.ops.op import Op


class _Kernel(KernelSpec):
    @property
    def opcode(self) -> Opcode:
        return Opcode.MUL


KERNEL = _Kernel(
    "running_peak",
    Struct(
        "RunningPeakArgs",
        "The greatest element at each place since the first execution, or 0, and whether it is a new one.",
        (
            blocks.input("input", I8, "count", doc="int8 [count]"),
            blocks.output(I8, "count", name="peak", doc="int8 [count]"),
            blocks.output(I8, "count", name="is_new", doc="int8 [count], 0 or 1"),
            blocks.state("greatest", I8, "count", doc="int8 [count], the peak so far"),
            Field("count", I32, "at least 1"),
        ),
    ),
)


class RunningPeak(Op):
    """peak = greatest = max(greatest, x), is_new = x > greatest before."""

    name = "running_peak"
    kernels = (KERNEL,)

    def compute(self, node: Node, inputs: Sequence[np.ndarray], states: Sequence[np.ndarray]) -> list[np.ndarray]:
        (x,), (greatest,) = inputs, states
        is_new = (x > greatest).astype(np.int8)
        np.maximum(greatest, x, out=greatest)
        return [greatest.copy(), is_new]

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        return {**refs, "count": node.inputs[0].numel}
