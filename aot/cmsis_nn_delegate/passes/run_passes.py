"""The passes between `import_program` and `encode`, in order.

Each is a function that changes the graph in place; `run_passes` verifies it after every one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from ..graph.ir import Graph
from ..graph.tensor_type import Element
from ..ops.registry import OPS
from ..support.errors import require_known
from .absorb_reshapes import absorb_reshapes
from .assign_layouts import assign_layouts
from .bands_to_slices import bands_to_slices
from .clamps_to_pooling import clamps_to_pooling
from .copies_to_parts import copies_to_parts
from .delay_lines import delay_lines
from .drop_idle_clamps import drop_idle_clamps
from .eliminate_channels import eliminate_channels
from .fold_pads import fold_pads
from .fold_qdq import fold_qdq
from .functions_to_lookups import functions_to_lookups
from .fuse_activations import fuse_activations
from .join_lookups import join_lookups
from .lay_out_operands import lay_out_operands
from .lower_rearrangements import lower_rearrangements
from .merge_concats import merge_concats
from .merge_identical_nodes import merge_identical_nodes
from .merge_rearrangements import merge_rearrangements
from .narrow_sums import narrow_sums
from .place_parts import place_parts
from .rows_of_neighbours import rows_of_neighbours
from .separate_outputs import separate_outputs
from .skip_unread import skip_unread
from .transposed_to_convolutions import transposed_to_convolutions
from .widen_weights import widen_weights

PASSES: tuple[Callable[[Graph], None], ...] = (
    # On floats, because nothing without its own parameters may be left between an operator and
    # its quantize.
    fuse_activations,
    # From here on int8.
    fold_qdq,
    # Again, for clamps with quantize and dequantize on both sides, after an operator of the same scale.
    fuse_activations,
    # Once no clamp can be fused into a function any more.
    functions_to_lookups,
    # Before the remaining clamps get a kernel of their own.
    join_lookups,
    merge_identical_nodes,
    drop_idle_clamps,
    # Once clamps are where they act. This adds reshapes.
    narrow_sums,
    # The remaining clamps need a kernel. This adds reshapes, so it runs before absorb_reshapes.
    clamps_to_pooling,
    # Padding counts rows and columns, whatever the memory order.
    fold_pads,
    # Before merge_rearrangements and skip_unread, which leave slices of concatenations in other forms.
    delay_lines,
    # This adds rearrangements.
    transposed_to_convolutions,
    # Before merge_rearrangements, which leaves reshapes in other forms.
    bands_to_slices,
    # In logical order, before layouts say where elements lie. This leaves reshapes, too.
    merge_rearrangements,
    # Where rearrangements say what is read of what came before them.
    skip_unread,
    # On logical channels, once every activation is int8.
    eliminate_channels,
    # Once nothing asks any more which taps a convolution reads, and before layouts, which reshapes have as well.
    rows_of_neighbours,
    # Before absorb_reshapes, which asks where elements lie in memory.
    assign_layouts,
    # Once layouts and sizes say which kernel a node has, and before something asks for it.
    widen_weights,
    # The layouts of activations decide. Before absorb_reshapes, after which shapes are only names.
    lay_out_operands,
    # What keeps the memory order vanishes; the rest are copies.
    lower_rearrangements,
    absorb_reshapes,
    # After absorb_reshapes, because reshapes at the end of the graph decide what its outputs are.
    separate_outputs,
    # In memory, where it counts which tensors lie in rows.
    merge_concats,
    # Both ask what has memory of its own. What is a part of another value cannot be placed in a third one.
    copies_to_parts,
    place_parts,
)


# Those that only save work, by the names under which they can be skipped.
OPTIONAL_PASSES = {
    step.__name__.replace("_", "-"): step
    for step in (merge_identical_nodes, drop_idle_clamps, skip_unread, eliminate_channels)
}


def check_optional(names: Iterable[str]) -> tuple[str, ...]:
    """Returns names of optional passes. UserError for one that there is not."""
    names = tuple(names)
    for name in names:
        require_known(name, OPTIONAL_PASSES, "optional pass")
    return names


def run_passes(graph: Graph, skip: Collection[str] = ()) -> Graph:
    """Rewrites `graph` in place until every node has a kernel, and returns it. `skip` has names of `OPTIONAL_PASSES`.
    An alternative that a pass adds to the graph goes through the passes that follow, too, and is dropped if one of them
    refuses it.

    ValueError if that cannot be done.
    """
    skipped = [OPTIONAL_PASSES[name] for name in skip]
    for step in PASSES:
        if step not in skipped:
            _run(step, graph)
    _verify_kernels(graph)
    for what, other in list(graph.alternatives.items()):
        try:
            _verify_kernels(other)
        except ValueError:
            del graph.alternatives[what]
    return graph


def _run(step: Callable[[Graph], None], graph: Graph) -> None:
    for what, other in list(graph.alternatives.items()):
        try:
            step(other)
        except ValueError:
            del graph.alternatives[what]
        else:
            _verify(step, other)
    step(graph)
    _verify(step, graph)


def _verify(step: Callable[[Graph], None], graph: Graph) -> None:
    try:
        graph.verify()
    except ValueError as error:
        raise AssertionError(f"{step.__name__} left an invalid graph: {error}") from error


def _verify_kernels(graph: Graph) -> None:
    """Checks what `encode` relies on: every node has a kernel or needs none, and floats occur only at the border,
    where kernels take them, or between two elements of different sizes (`fold_qdq`)."""
    border = {id(value) for value in (*graph.inputs, *graph.outputs)}
    for node in graph.nodes:
        if not OPS[node.op].kernels and not OPS[node.op].only_places:
            raise ValueError(f"{node.name}: {node.op} still has no kernel")
        inside = [value for value in node.outputs if not value.element.is_integer and id(value) not in border]
        readers = [OPS[reader.op] for value in inside for reader in graph.consumers(value)]
        if any(op.computes and op.elements != (Element.FLOAT32,) for op in readers):
            raise ValueError(f"{node.name} computes floats inside the graph")
