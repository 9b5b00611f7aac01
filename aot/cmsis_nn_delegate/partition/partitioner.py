"""`CmsisNnPartitioner`, which chooses the nodes to delegate."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import Optional, Union, Unpack

import torch
from torch.export import ExportedProgram
from torch.fx import Graph, Node
from torch.fx.traceback import NodeSource

from ..edge.functions import Function, Functions
from ..edge.kept_whole import kept_whole
from ..edge.refusal import Refusal
from ..format.schema import MAX_IO
from ..report.delegated_work import Work
from ..report.node_report import NodeReport
from ..selection.options import PayloadKeywords, PayloadOptions
from ..support.checked import checked
from ..targets.memory import copies_weights, planned_in
from ..targets.target import Target, get_target
from .backend import LATER, CmsisNnBackend, compile_specs
from .decompose import KEPT, decomposed
from .exir import CompileSpec, DelegationSpec, Partitioner, PartitionResult, tag_constant_data
from .explain import report
from .held_states import separate_new_states, tag_held_states
from .smaller_units import nest_concatenations, separate_readers
from .spelled_out import spell_out_layers
from .support import Support
from .work import measure


class CmsisNnPartitioner(Partitioner):
    """Delegates every quantized subgraph that the kernels compute.

    `target` is one that `get_target` knows. `options` are those of `compile_model` for kernels and memory, which
    describes them, such as `providers` and `memories`, and do the same here.

    After `partition`, `reports` says for every node of each program seen whether it is delegated, and if not, why not;
    `work` says how much of the last program's work is delegated. For these reports, `prepared` says that programs went
    through CmsisNnQuantizer, even if it left everything in float. `later` leaves the partitions without a payload; the
    caller then encodes them (see `pipeline`).
    """

    @checked()
    def __init__(
        self,
        target: Union[str, Target],
        *,
        prepared: bool = False,
        later: bool = False,
        **options: Unpack[PayloadKeywords],
    ) -> None:
        super().__init__()
        self.target = target if isinstance(target, Target) else get_target(target)
        self._set(PayloadOptions.of(**options), later)
        self.reports: list[NodeReport] = []
        self.work = Work()
        self._prepared = prepared
        self._functions = Functions()
        self._asks_once = False
        self._asked: Optional[tuple[Graph, Support]] = None  # the last program of `ops_to_not_decompose`
        self._before: Optional[Support] = None  # the same, if `partition` may rely on it
        self._given_back: dict[Function, Refusal] = {}  # layers, before they were decomposed

    @classmethod
    def with_options(
        cls, target: Target, options: PayloadOptions, prepared: bool = False, later: bool = False
    ) -> CmsisNnPartitioner:
        """Returns a partitioner with these options; the others are those of the constructor."""
        partitioner = cls(target, prepared=prepared)
        partitioner._set(options, later)
        return partitioner

    def _set(self, options: PayloadOptions, later: bool) -> None:
        self._providers = options.providers
        # The others are the regions beside the arena, and the copied weights.
        regions = max(len(planned_in(options.memories)) - 1, 0)
        self._max_io = MAX_IO - regions - copies_weights(options.memories)
        specs = compile_specs(self.target, options) + [CompileSpec(LATER, b"")] * later
        self.delegation_spec = DelegationSpec(CmsisNnBackend.__name__, specs)

    @checked()
    @contextlib.contextmanager
    def lowering(self, originals: Iterable[ExportedProgram]) -> Iterator[None]:
        """Inside this context, `partition` does not check again what `ops_to_not_decompose` has accepted, and names the
        functions of `originals`, of which the lowered programs are copies. No passes may change the copies."""
        self._asks_once, self._functions = True, Functions(originals)
        try:
            with kept_whole():
                yield
        finally:
            self._asks_once, self._functions = False, Functions()
            self._asked = self._before = None
            self._given_back = {}

    def transform_for_pre_decomposition(self, exported_program: ExportedProgram) -> ExportedProgram:
        """Records the functions before they are decomposed, and gives recurrent layers that are refused back to
        PyTorch. Inside of `lowering`, also rewrites units with too many inputs and outputs: ExecuTorch does not allow
        `partition` to change a program."""
        separate_new_states(exported_program)
        if spell_out_layers(exported_program, lambda node: self._takes_layer(exported_program, node)):
            self._asked = None
        if not self._asks_once:
            self._functions.add(exported_program)
            return exported_program
        while self._divide(exported_program):
            self._asked = None
        return exported_program

    def _divide(self, program: ExportedProgram) -> bool:
        """Rewrites units of `program` so that partitions have at most `_max_io` inputs and outputs. Returns whether
        there were any to rewrite."""
        support = self._ask(program)
        crowded = [node for unit in support.crowded for node in unit]
        changed = separate_readers(program, [*crowded, *support.circular])
        if nest_concatenations(program, crowded, self._max_io - 1, support.context):
            changed = True
        if changed:
            program.graph.lint()
            program.graph_module.recompile()
        return changed

    def partition(self, exported_program: ExportedProgram) -> PartitionResult:
        # A call whose results nothing reads would have no place in the program.
        exported_program.graph.eliminate_dead_code()
        exported_program.graph_module.recompile()
        support = Support(
            exported_program,
            self._functions,
            self._prepared,
            self._asks_once,
            self._before,
            self._providers,
            self._max_io,
        )
        tags = {}
        for node, index in support.partitions.items():
            tag = f"cmsis_nn_{index}"
            node.meta["delegation_tag"] = tag
            tags[tag] = self.delegation_spec
        tag_constant_data(exported_program)
        tag_held_states(exported_program)
        self.reports.extend(report(exported_program, support, self._functions, self._given_back))
        self.work = measure(exported_program, support)
        return PartitionResult(tagged_exported_program=exported_program, partition_tags=tags)

    def ops_to_not_decompose(
        self, ep: ExportedProgram
    ) -> tuple[list[torch._ops.OpOverload], Optional[Callable[[Node], bool]]]:
        """Keeps the operators whole that the delegate will take; the others are decomposed into operators that other
        backends know.

        Both decisions come from the same checks, so that no operator stays whole without a kernel for it.
        """
        nodes = [node for node in ep.graph.nodes if node.op == "call_function" and node.target in KEPT]
        if decomposed(ep):
            taken = {node.target for node in nodes if self._takes(ep, node)}
            if all(node.target not in taken or self._takes(ep, node) for node in nodes):
                return [op for op in KEPT if op in taken], None  # ExecuTorch decomposes the others
        # ExecuTorch calls this again for the lowered program, which has no ATen operators: those left were refused.
        return list(KEPT), lambda node: node.target in KEPT and self._takes(ep, node)

    def _takes(self, ep: ExportedProgram, node: Node) -> bool:
        """Returns whether the delegate takes `node` of `ep`."""
        return node in self._ask(ep).partitions

    def _takes_layer(self, ep: ExportedProgram, node: Node) -> bool:
        """Returns whether the delegate takes a recurrent layer of `ep`, and keeps the reason if it does not: what the
        layer is decomposed into could not tell it."""
        if self._takes(ep, node):
            return True
        function, refusal = self._functions.of(node), self._ask(ep).refusals.get(node)
        if function is not None and refusal is not None:
            self._given_back[function] = refusal
        return False

    def _ask(self, ep: ExportedProgram) -> Support:
        """Returns the decision about `ep`, which is not an edge program yet."""
        if self._asked is None or self._asked[0] is not ep.graph:
            support = Support(
                ep,
                prepared=self._prepared,
                data_later=True,
                providers=self._providers,
                max_io=self._max_io,
                keep_crowded=True,
            )
            self._asked = (ep.graph, support)
            for asked in ep.graph.nodes:  # decompositions record where nodes come from, but passes do not
                asked.meta["from_node"] = [NodeSource(asked, type(self).__name__)]
            self._before = support if self._asks_once else None
        return self._asked[1]
