"""`CmsisNnPartitioner`, which chooses the nodes to delegate."""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Optional, Union

import torch
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.partitioner import DelegationSpec, Partitioner, PartitionResult
from executorch.exir.backend.utils import tag_constant_data
from torch.export import ExportedProgram
from torch.fx import Node

from ..edge.functions import Functions
from ..ops.providers.registry import PROVIDERS, get_providers
from ..ops.registry import OPS
from ..target import Target, get_target
from .backend import LATER, CmsisNnBackend
from .explain import NodeReport, report
from .support import Support
from .work import Work, measure

IO_PLACEMENTS = ("arena", "caller")


def _overload(name: str) -> Any:
    """Returns aten.silu.default for "aten.silu.default"."""
    return operator.attrgetter(name)(torch.ops)


# Operators that are decomposed by default but have one kernel each. (Not listed are operators that ExecuTorch
# never decomposes or turns into something equally good: convolution, avg_pool2d, _softmax.)
_KEEP = (
    torch.ops.aten.linear.default,
    torch.ops.aten.max_pool2d.default,
    torch.ops.aten.adaptive_avg_pool2d.default,
    torch.ops.aten.matmul.default,
    torch.ops.aten.layer_norm.default,
    torch.ops.aten.group_norm.default,
    torch.ops.aten.instance_norm.default,
    torch.ops.aten.rms_norm.default,
    # ExecuTorch does not decompose what belongs to the core of ATen. It cannot keep floor_divide, which is called with
    # numbers that its schema does not have; that becomes a division, which is a function, too.
    *(
        op
        for op in map(_overload, OPS["function"].targets)
        if torch.Tag.core not in op.tags and op is not torch.ops.aten.floor_divide.default
    ),
    torch.ops.aten.pixel_shuffle.default,
    torch.ops.aten.pixel_unshuffle.default,
    torch.ops.aten.channel_shuffle.default,
    torch.ops.aten.repeat_interleave.self_int,
    torch.ops.aten.roll.default,
    torch.ops.aten.pad.default,
    torch.ops.aten.reflection_pad1d.default,
    torch.ops.aten.reflection_pad2d.default,
    torch.ops.aten.reflection_pad3d.default,
    torch.ops.aten.replication_pad1d.default,
    torch.ops.aten.replication_pad2d.default,
    torch.ops.aten.replication_pad3d.default,
    torch.ops.aten.upsample_nearest1d.vec,
    torch.ops.aten.upsample_nearest2d.vec,
    torch.ops.aten._upsample_nearest_exact1d.vec,
    torch.ops.aten._upsample_nearest_exact2d.vec,
)


class CmsisNnPartitioner(Partitioner):
    """Delegates every quantized subgraph that the kernels compute.

    `target` is a core of `target.TARGETS`. `io_placement` says where inputs and outputs
    of the delegate live: in its "arena" where that saves a copy, or with the "caller". `providers` are the
    providers of the firmware's kernels, in order of preference.

    After `partition`, `reports` says for every node of each program seen whether it is delegated, and if not, why not;
    `work` says how much of the last program's work is delegated. For these reports, `prepared` says that programs went
    through CmsisNnQuantizer, even if it left everything in float. `later` leaves the partitions without a payload; the
    caller then encodes them (see `pipeline`).
    """

    def __init__(
        self,
        target: Union[str, Target],
        io_placement: str = "arena",
        prepared: bool = False,
        later: bool = False,
        providers: Sequence[str] = tuple(PROVIDERS),
    ) -> None:
        super().__init__()
        self.target = target if isinstance(target, Target) else get_target(target)
        if io_placement not in IO_PLACEMENTS:
            raise ValueError(f"unknown io_placement {io_placement!r}; choose one of {', '.join(IO_PLACEMENTS)}")
        self.delegation_spec = DelegationSpec(
            CmsisNnBackend.__name__,
            [
                CompileSpec("target", self.target.name.encode()),
                CompileSpec("io_placement", io_placement.encode()),
                CompileSpec("providers", ",".join(provider.name for provider in get_providers(providers)).encode()),
                *([CompileSpec(LATER, b"")] if later else []),
            ],
        )
        self.reports: list[NodeReport] = []
        self.work = Work()
        self._prepared = prepared
        self._functions: Optional[Functions] = None
        self._asks_once = False
        self._before: Optional[Support] = None  # about the program of `ops_to_not_decompose`

    @contextlib.contextmanager
    def asking_once(self) -> Iterator[None]:
        """Inside this context, `partition` does not check again what `ops_to_not_decompose` has accepted. Use it
        only if no passes run in between, because they could change the program."""
        self._asks_once = True
        try:
            yield
        finally:
            self._asks_once, self._before = False, None

    def transform_for_pre_decomposition(self, exported_program: ExportedProgram) -> ExportedProgram:
        """Only records the functions before they are decomposed."""
        self._functions = Functions(exported_program)
        return exported_program

    def partition(self, exported_program: ExportedProgram) -> PartitionResult:
        # A call whose results nothing reads would have no place in the program.
        exported_program.graph.eliminate_dead_code()
        exported_program.graph_module.recompile()
        support = Support(exported_program, self._functions, self._prepared, self._asks_once, self._before)
        tags = {}
        for node, index in support.partitions.items():
            tag = f"cmsis_nn_{index}"
            node.meta["delegation_tag"] = tag
            tags[tag] = self.delegation_spec
        tag_constant_data(exported_program)
        self.reports.extend(report(exported_program, support, self._functions))
        self.work = measure(exported_program, support)
        return PartitionResult(tagged_exported_program=exported_program, partition_tags=tags)

    def ops_to_not_decompose(
        self, ep: ExportedProgram
    ) -> tuple[list[torch._ops.OpOverload], Optional[Callable[[Node], bool]]]:
        """Keeps the operators whole that the delegate will take; the others are decomposed into operators that other
        backends know.

        Both decisions come from the same checks, so that no operator stays whole without a kernel for it.
        """
        support: list[Support] = []

        def keep(node: Node) -> bool:
            # ExecuTorch calls this again for the lowered program, which has no ATen operators: those left were refused.
            if node.target not in _KEEP:
                return False
            if not support:
                support.append(Support(ep, data_later=True))
                self._before = support[0] if self._asks_once else None
            return node in support[0].partitions

        return list(_KEEP), keep
