"""Chooses the provider and kernel for each node of a lowered graph, after making the graph legal for the providers."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from ..graph.ir import Graph, Node
from ..ops.kernel import KernelSpec
from ..ops.providers.provider import Provider
from ..ops.registry import OPS
from ..target import Target


@dataclass(frozen=True)
class Choice:
    """The kernel for a node, and the scratch memory that it needs. `why` says why no preferred provider was chosen."""

    node: Node
    kernel: KernelSpec
    provider: Provider
    scratch_bytes: int
    why: str


@dataclass(frozen=True)
class Chosen:
    """A graph with a kernel for each of its nodes, in order."""

    graph: Graph
    target: Target
    providers: tuple[Provider, ...]
    choices: tuple[Choice, ...]


def legalize(graph: Graph, providers: Sequence[Provider]) -> Graph:
    """Returns a graph of the same values whose nodes the kernels of `providers`, in order of preference, compute.

    ValueError for a node that none of them can compute.
    """
    nodes = []
    for node in graph.nodes:
        copy = dataclasses.replace(node, inputs=list(node.inputs), outputs=list(node.outputs), states=list(node.states))
        provider_of(copy, _kernel_of(copy), providers).legalize(OPS[node.op], copy)
        nodes.append(copy)
    return Graph(list(graph.inputs), list(graph.outputs), nodes)


def choose_kernels(graph: Graph, target: Target, providers: Sequence[Provider]) -> Chosen:
    """Chooses for every node the kernel of the first of `providers` that has one. The graph must be legal for them."""
    choices = []
    for node in graph.nodes:
        kernel = _kernel_of(node)
        provider = provider_of(node, kernel, providers)
        scratch_bytes = provider.scratch_bytes(OPS[node.op], node, target)
        why = provider.why(kernel) if provider is not providers[0] else ""
        choices.append(Choice(node, kernel, provider, scratch_bytes, why))
    return Chosen(graph, target, tuple(providers), tuple(choices))


def provider_of(node: Node, kernel: KernelSpec, providers: Sequence[Provider]) -> Provider:
    """Returns the first of `providers` that has `kernel`. ValueError if none has it."""
    found = next((provider for provider in providers if provider.has(kernel)), None)
    if found is None:
        names = ", ".join(provider.name for provider in providers)
        raise ValueError(
            f"{node.name}: no kernel {kernel} in {names}: compile for a provider that has it, such as portable"
        )
    return found


def _kernel_of(node: Node) -> KernelSpec:
    if node.op not in OPS or not OPS[node.op].kernels:
        raise ValueError(f"{node.name}: {node.op} has no kernel; a pass should have removed it")
    return OPS[node.op].kernel_of(node)
