"""From a quantized, exported program to an edge program with delegate calls.

    exported = torch.export.export(converted, inputs)      # converted by convert_pt2e
    edge = lower(exported, "cortex-m55", io="int8")
    edge.to_executorch().write_to_file(file)

With `io="int8"` it has int8 inputs and outputs; see `int8_io`.
"""

from __future__ import annotations

from typing import Optional, Union

import executorch.kernels.quantized  # noqa: F401  quantize and dequantize that stay outside
from executorch.exir import EdgeCompileConfig, EdgeProgramManager, to_edge_transform_and_lower
from torch.export import ExportedProgram

from ..errors import library_call
from ..target import Target
from .int8_io import with_io
from .partitioner import CmsisNnPartitioner


class NotDelegatedError(ValueError):
    """`strict` was asked for, and something stays outside of the delegate; the message says what
    and why."""


def lower(
    program: ExportedProgram,
    target: Union[str, Target],
    io: str = "float",
    io_placement: str = "arena",
    strict: bool = False,
    partitioner: Optional[CmsisNnPartitioner] = None,
    etrecord: bool = False,
) -> EdgeProgramManager:
    """Delegates what can be delegated of `program`, which is left as it is.

    `io` is the type of inputs and outputs, "float" or "int8". A `partitioner` of the
    caller's own (then the arguments for one are ignored) has the reports afterwards. With
    `etrecord` the executable program has an ETRecord, for ExecuTorch's Inspector.

    NotDelegatedError: `strict`, and an operator is refused. ValueError: an unknown name, or
    `io="int8"` for a program whose inputs or outputs are not quantized, or one that ExecuTorch cannot lower.
    """
    partitioner = partitioner or CmsisNnPartitioner(target, io_placement)
    return partition(with_io(program, io), partitioner, strict, etrecord)


def partition(
    program: ExportedProgram, partitioner: CmsisNnPartitioner, strict: bool = False, etrecord: bool = False
) -> EdgeProgramManager:
    """`lower` for a program that has the inputs and outputs that it is to have."""
    with library_call("ExecuTorch cannot lower the quantized model"), partitioner.asking_once():
        edge = to_edge_transform_and_lower(
            program,
            partitioner=[partitioner],
            # int8 inputs are not in the verifier's idea of edge operators' types.
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
