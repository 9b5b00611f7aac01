"""The ahead-of-time part of the delegate, which turns a partition into a payload."""

from __future__ import annotations

from collections.abc import Collection
from typing import final

from torch.export import ExportedProgram

from ..graph.failure import shown_in_errors
from ..graph.ir import Graph
from ..ops.providers.registry import PROVIDERS, get_providers
from ..ops.registry import calls
from ..passes.run_passes import check_optional, run_passes
from ..payload.encode import encode
from ..payload.planner.memories import Memory
from ..payload.preference import Preference
from ..target import get_target
from .exir import BackendDetails, CompileSpec, PreprocessResult
from .importer import import_program

# The compile spec of a partition that this package's pipeline lowers itself, in its own stages.
LATER = "later"


def kernel_graph(program: ExportedProgram, skip_passes: Collection[str] = ()) -> Graph:
    """Returns the graph of a partition after all passes but those skipped, which `preprocess` encodes."""
    graph = import_program(program)
    with shown_in_errors(graph):
        return run_passes(graph, skip_passes)


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

        Compile specs: "target", a core's name; "io_placement", "arena" or "caller"; "providers", the names of the
        providers of the firmware's kernels, separated by commas; "prefer", a value of `Preference`, and
        "max_flash_growth", a number of bytes; "memories", the text of `list_text`; "skip_passes",
        names of optional passes, separated by commas; and "later" if the payload is made after the whole program is
        partitioned: then this returns none.
        The debug handle map has one entry for each call of the payload, in order.
        """
        specs = {spec.key: bytes(spec.value).decode() for spec in compile_specs}
        if "target" not in specs:
            raise ValueError("compile spec 'target' is missing; use CmsisNnPartitioner")
        if LATER in specs:
            return PreprocessResult(processed_bytes=b"", debug_handle_map={})
        skipped = specs.get("skip_passes", "")
        graph = kernel_graph(edge_program, check_optional(skipped.split(",") if skipped else ()))
        providers = get_providers(specs.get("providers", ",".join(PROVIDERS)).split(","))
        preference = Preference.of(specs.get("prefer", Preference.SPEED.value))
        growth = int(specs.get("max_flash_growth", 0))
        placement = specs.get("io_placement", "arena")
        memories = Memory.list_of(specs.get("memories", ""))
        encoded = encode(graph, get_target(specs["target"]), placement, providers, preference, growth, memories)
        return PreprocessResult(processed_bytes=encoded.payload, debug_handle_map=debug_handles(encoded.graph))
