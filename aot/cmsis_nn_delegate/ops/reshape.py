"""view, flatten, squeeze, clone and the like: the same elements under another shape."""

from __future__ import annotations

from typing import Any, Optional

from ..edge.nodes import DEQUANTIZE, RESHAPES, first, target_name
from ..edge.refusal import Refusal
from ..graph.ir import Node
from .op import Op


class Reshape(Op):
    """The elements keep their logical row-major order. `absorb_reshapes` removes every one."""

    name = "reshape"
    targets = tuple(sorted(RESHAPES))

    def check(self, node: Any, context: Any) -> Optional[Refusal]:
        source = node.args[0]
        # Next to an operator that it only hands a float tensor to or from there is nothing to
        # compare: that operator's own check looks through it.
        alone = target_name(context.source(source)) == DEQUANTIZE
        return first(
            test()
            for test in (
                lambda: context.refuse_tensors(node, source),
                lambda: (
                    context.refuse_quant(node, [source], same=True)
                    if alone and context.output_quant(node) is not None
                    else None
                ),
            )
        )

    def build(self, node: Any, context: Any) -> list[Node]:
        return [context.node(node, self.name, [context.value(node.args[0])])]
