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
    return Graph(list(graph.inputs), list(graph.outputs), [_assign(node, providers)[0] for node in graph.nodes])


def choose_kernels(graph: Graph, target: Target, providers: Sequence[Provider]) -> Chosen:
    """Chooses for every node the kernel of the first of `providers` that can compute it. The graph must be legal for
    them."""
    choices = []
    for node in graph.nodes:
        _, provider, why = _assign(node, providers)
        scratch_bytes = provider.scratch_bytes(OPS[node.op], node, target)
        choices.append(Choice(node, _kernel_of(node), provider, scratch_bytes, why))
    return Chosen(graph, target, tuple(providers), tuple(choices))


def _assign(node: Node, providers: Sequence[Provider]) -> tuple[Node, Provider, str]:
    """Returns an equal node that can be computed, the first provider that can do so, and why the ones before cannot."""
    kernel = _kernel_of(node)
    refusals = []
    for provider in providers:
        if not provider.has(kernel):
            refusals.append(provider.why_not(kernel))
            continue
        legal = dataclasses.replace(
            node, inputs=list(node.inputs), outputs=list(node.outputs), states=list(node.states)
        )
        if getattr(legal.attrs, "called_as", None) is not None:
            legal.attrs = dataclasses.replace(legal.attrs, called_as=None)
        try:
            provider.legalize(OPS[node.op], legal)
        except ValueError as error:
            refusals.append(str(error))
            continue
        return legal, provider, "; ".join(refusals)
    names = ", ".join(provider.name for provider in providers)
    raise ValueError(
        f"{node.name}: no kernel {kernel} in {names}: compile for a provider that has it, such as portable "
        f"({'; '.join(refusals)})"
    )


def _kernel_of(node: Node) -> KernelSpec:
    if node.op not in OPS or not OPS[node.op].kernels:
        raise ValueError(f"{node.name}: {node.op} has no kernel; a pass should have removed it")
    return OPS[node.op].kernel_of(node)
