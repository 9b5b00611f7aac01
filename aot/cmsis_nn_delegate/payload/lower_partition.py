"""The way from a partition's graph to its payload: all steps, in order.

`pipeline.STAGES` does the same steps one by one, for several partitions and targets.
"""

from __future__ import annotations

from ..graph.ir import Graph
from ..passes.run_passes import run_passes
from ..selection.alternatives import choose_graph
from ..selection.bands import compute_in_bands
from ..selection.choose_kernels import legalize
from ..selection.options import DEFAULT_OPTIONS, PayloadOptions
from ..selection.planned import plan
from ..targets.target import Target
from .encode import Encoded, encode_planned


def lower_partition(graph: Graph, target: Target, options: PayloadOptions = DEFAULT_OPTIONS) -> Encoded:
    """Returns the payload of a partition as it was imported. Rewrites `graph`.

    ValueError for a graph that the kernels or the format cannot express; UserError if it does not fit its memories.
    """
    return encode(run_passes(graph, options.skip_passes), target, options)


def encode(graph: Graph, target: Target, options: PayloadOptions = DEFAULT_OPTIONS) -> Encoded:
    """Does what `lower_partition` does with a graph that all passes have rewritten, and leaves it as it is."""
    chosen = choose_graph(legalize(graph, options), target)
    return encode_planned(plan(compute_in_bands(chosen)))
