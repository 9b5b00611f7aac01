"""Lowers a quantized, exported program to an edge program with delegate calls.

    exported = torch.export.export(converted, inputs)      # converted by convert_pt2e
    edge = lower(exported, "cortex-m55", io="int8")
    edge.to_executorch().write_to_file(file)

With `io="int8"` it has int8 inputs and outputs; see `quantized_io`. A program may have several methods:

    edge = lower({"encode": exported, "decode": another}, "cortex-m55")
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Optional, Union

from torch.export import ExportedProgram

from ..support.checked import checked
from ..support.errors import library_call
from ..support.isolation import isolated
from ..targets.target import Target
from .exir import EdgeCompileConfig, EdgeProgramManager, to_edge_transform_and_lower
from .io_types import IoTypes
from .listed_once import listed_once
from .needed_passes import needed_passes
from .partitioner import CmsisNnPartitioner
from .quantized_io import with_io


class NotDelegatedError(ValueError):
    """With `strict`, some operators stay outside of the delegate; the message says which and why."""


# One for each method; a single program is the method "forward".
Programs = Union[ExportedProgram, Mapping[str, ExportedProgram]]


@checked()
@isolated()
def lower(
    program: Programs,
    target: Union[str, Target],
    io: Union[str, Mapping[str, str]] = "float",
    io_placement: str = "arena",
    strict: bool = False,
    partitioner: Optional[CmsisNnPartitioner] = None,
    etrecord: bool = False,
) -> EdgeProgramManager:
    """Delegates as much of `program` as possible, without changing `program`.

    `io` is the type of inputs and outputs, "float" or "int8" for example, or types by name; see `IoTypes`. If the
    caller passes a `partitioner`, it has the reports afterwards, and the arguments for a new partitioner are ignored.
    With `etrecord` the executable program has an ETRecord, for ExecuTorch's Inspector.

    NotDelegatedError if an operator is refused and `strict` is set. ValueError for an unknown name, for
    `io="int8"` if inputs or outputs are not quantized, and for a program that ExecuTorch cannot lower.
    """
    partitioner = partitioner or CmsisNnPartitioner(target, io_placement=io_placement)
    methods = program if isinstance(program, Mapping) else {"forward": program}
    types = IoTypes.of(io)
    copies = {name: with_io(method, types) for name, method in methods.items()}
    return partition(copies, methods.values(), partitioner, strict, etrecord)


def partition(
    program: Programs,
    originals: Iterable[ExportedProgram],
    partitioner: CmsisNnPartitioner,
    strict: bool = False,
    etrecord: bool = False,
) -> EdgeProgramManager:
    """Like `lower`, for programs that `with_io` has made from `originals`."""
    with (
        library_call("ExecuTorch cannot lower the quantized model"),
        listed_once(),
        needed_passes(),
        partitioner.lowering(originals),
    ):
        edge = to_edge_transform_and_lower(
            dict(program) if isinstance(program, Mapping) else program,
            partitioner=[partitioner],
            # The verifier does not know int8 inputs among the types of edge operators.
            compile_config=EdgeCompileConfig(_check_ir_validity=False),
            generate_etrecord=etrecord,
        )
    if strict:
        refused = [report for report in partitioner.reports if not report.delegated]
        if refused:
            lines = "\n  ".join(map(str, refused))
            count = f"{len(refused)} operator{'s are' if len(refused) > 1 else ' is'}"
            raise NotDelegatedError(f"{count} not delegated:\n  {lines}")
    return edge
