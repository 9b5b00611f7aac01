"""The decision about one node of an edge program, as data: `partition.explain` makes it. Needs no PyTorch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from ..edge.naming import SourceLine
from ..edge.nodes import DEQUANTIZE, QUANTIZE
from ..edge.refusal import Reason


@dataclass(frozen=True)
class NodeReport:
    """One call of an edge program. Either `partition` is set, or `reason` and `message` are."""

    name: str
    target: str
    partition: Optional[int]
    reason: Optional[Reason] = None
    message: str = ""
    # The module that the node comes from, "" if unknown: "layers.0 (Conv2d)".
    module: str = ""
    # The function that the user wrote, as the exported program calls it: "hardswish_1", "aten.hardswish.default".
    function: str = ""
    function_target: str = ""
    source: Optional[SourceLine] = None
    # Kernels that ExecuTorch needs for it and does not have, such as "aten::cumprod.out".
    missing_kernels: tuple[str, ...] = ()

    @property
    def delegated(self) -> bool:
        return self.partition is not None

    @property
    def is_border(self) -> bool:
        """Returns whether it only converts between float and int8."""
        return self.target in (QUANTIZE, DEQUANTIZE)

    def __str__(self) -> str:
        where = f" in {self.module}" if self.module else ""
        head = f"{self.name} ({self.target}){where}: "
        if self.reason is None:
            return f"{head}delegated to partition {self.partition}"
        return f"{head}not delegated, {self.reason.value}: {self.message}"
