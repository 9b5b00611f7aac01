"""The ahead-of-time part of the delegate, which turns a partition into a payload."""

from __future__ import annotations

from typing import final

from torch.export import ExportedProgram

from ..graph.failure import shown_in_errors
from ..graph.ir import Graph
from ..ops.registry import calls
from ..payload.lower_partition import lower_partition
from ..selection.options import PayloadOptions
from ..targets.target import Target, get_target
from .exir import BackendDetails, CompileSpec, PreprocessResult
from .importer import import_program

# The compile spec of a partition that this package's pipeline lowers itself, in its own stages.
LATER = "later"


def compile_specs(target: Target, options: PayloadOptions) -> list[CompileSpec]:
    """Returns what `preprocess` reads: the name of `target`, and `options` as texts."""
    return [CompileSpec(name, text.encode()) for name, text in {"target": target.name, **options.to_texts()}.items()]


def debug_handles(graph: Graph) -> dict[int, tuple[int, ...]]:
    """Returns, for each call of the payload of `graph`, the debug handles of the operators that it stands for. The
    runtime reports calls to the tracer by index."""
    return {index: tuple(sorted(node.debug_handles)) for index, node in enumerate(calls(graph))}


@final
class CmsisNnBackend(BackendDetails):
    """Registered on the device under this class's name."""

    @staticmethod
    def preprocess(edge_program: ExportedProgram, compile_specs: list[CompileSpec]) -> PreprocessResult:
        """Returns the payload of a partition.

        Compile specs: those of `compile_specs`, and "later" if the payload is made after the whole program is
        partitioned: then this returns none.
        The debug handle map has one entry for each call of the payload, in order.
        """
        specs = {spec.key: bytes(spec.value).decode() for spec in compile_specs}
        if "target" not in specs:
            raise ValueError("compile spec 'target' is missing; use CmsisNnPartitioner")
        if LATER in specs:
            return PreprocessResult(processed_bytes=b"", debug_handle_map={})
        graph = import_program(edge_program)
        with shown_in_errors(graph):
            encoded = lower_partition(graph, get_target(specs["target"]), PayloadOptions.from_texts(specs))
        return PreprocessResult(processed_bytes=encoded.payload, debug_handle_map=debug_handles(encoded.graph))
