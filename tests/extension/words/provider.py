"""A provider of kernels that is defined outside of the compiler: one kernel, for cores with DSP."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Optional

from cmsis_nn_delegate.format.schema import Isa
from cmsis_nn_delegate.graph.ir import Node
from cmsis_nn_delegate.ops import extremum
from cmsis_nn_delegate.ops.kernel import KernelSpec
from cmsis_nn_delegate.providers.implementation import Implementation, Symbol
from cmsis_nn_delegate.providers.provider import Provider


class MaximumByWords(Implementation):
    """The greater of four pairs of int8 in two instructions, SSUB8 and SEL."""

    isas = frozenset({Isa.DSP})

    def __init__(self) -> None:
        super().__init__("extremum", Symbol(extremum.MAXIMUM))

    def why_not(self, node: Node) -> str:
        if node.attrs.shapes is not None:
            return "it takes two tensors of one shape"
        return "" if node.output.numel % 4 == 0 else f"it takes words of 4 elements, not {node.output.numel} elements"


_MAXIMUM = MaximumByWords()


class Words(Provider):
    id = 3
    name = "words"
    namespace = "words"
    root = "WORDS_DIR"
    folder = "tests/extension/words"
    header = "tests/extension/words/words.h"
    revision = 7
    revision_constant = "words::kRevision"
    isa_dependent = False

    def implementations(self, op: str) -> Sequence[Implementation]:
        return (_MAXIMUM,) if op == _MAXIMUM.op else ()

    def symbol(self, kernel: KernelSpec) -> Optional[Symbol]:
        return _MAXIMUM.symbol if kernel is _MAXIMUM.kernel else None

    def why_lacking(self, kernel: KernelSpec) -> str:
        return ""
