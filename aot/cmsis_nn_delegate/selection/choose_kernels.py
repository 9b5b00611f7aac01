"""Chooses the provider and kernel for each node of a lowered graph, after making the graph legal for the providers."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Optional

from ..format import schema
from ..format.record import Role
from ..graph.ir import Graph, Node
from ..ops.features import Features
from ..ops.kernel import KernelSpec
from ..ops.op import operands
from ..ops.registry import OPS, calls
from ..providers.implementation import Implementation, Workspace
from ..providers.provider import Provider
from ..targets.target import Target
from .costs import predicted_instructions
from .options import DEFAULT_OPTIONS, PayloadOptions
from .preference import Preference


@dataclass(frozen=True)
class Assignment:
    """Who computes a node: `node` is legal for `implementation`, one of `provider`. `why` says why no preferred one was
    chosen."""

    node: Node
    provider: Provider
    implementation: Implementation
    why: str


@dataclass(frozen=True)
class Legal:
    """A lowered graph, and for each of its calls, in order, an equivalent node that a provider computes. `alternatives`
    are those of the graph."""

    graph: Graph
    options: PayloadOptions
    assignments: tuple[Assignment, ...]
    alternatives: Mapping[str, Legal] = dataclasses.field(default_factory=dict)

    def legal_graph(self) -> Graph:
        """Returns the graph that is made of the assigned nodes, and of those that are no calls."""
        assigned = iter(self.assignments)
        nodes = [node if OPS[node.op].only_places else next(assigned).node for node in self.graph.nodes]
        return Graph(list(self.graph.inputs), list(self.graph.outputs), nodes)


@dataclass(frozen=True)
class Price:
    """What a call adds to the payload next to the kernel that it would have otherwise, and about how many instructions
    it saves by that."""

    flash_bytes: int
    saved_instructions: int


@dataclass(frozen=True)
class Choice:
    """An assignment for a target, with the memory that the kernel takes there, and `smaller` ones, with which it takes
    more instructions the smaller they are. `instead` is another kernel that needs less than the last of them.
    `price` is there if it was chosen within a limit of flash."""

    assignment: Assignment
    workspace: Workspace
    smaller: tuple[Workspace, ...] = ()
    instead: Optional[Choice] = None
    price: Optional[Price] = None

    @property
    def node(self) -> Node:
        return self.assignment.node

    @property
    def kernel(self) -> KernelSpec:
        return self.assignment.implementation.kernel

    @property
    def provider(self) -> Provider:
        return self.assignment.provider

    @property
    def scratch_bytes(self) -> int:
        return self.workspace.scratch_bytes

    @property
    def implementation(self) -> Implementation:
        return self.assignment.implementation

    def features(self) -> Features:
        """Returns what the instructions of the call depend on."""
        return self.implementation.features(self.node, self.scratch_bytes)

    def instructions(self, target: Target) -> Optional[int]:
        """Returns about how many instructions the call takes on `target`; None if there is no model for it."""
        names = filter(None, (self.kernel.name, self.kernel.priced_as))
        found = (predicted_instructions(self.features(), name, self.provider.name, target) for name in names)
        return next((count for count in found if count is not None), None)

    def options(self) -> tuple[Choice, ...]:
        """Returns the ways to compute the node, the fastest first, each with one workspace and less scratch memory than
        the one before."""
        own = tuple(
            dataclasses.replace(self, workspace=workspace, smaller=(), instead=None)
            for workspace in (self.workspace, *self.smaller)
        )
        return own if self.instead is None else (*own, *self.instead.options())

    def flash_bytes(self) -> int:
        """Returns what the call adds to a payload: its record and its constants, each rounded up to its alignment. Of
        constants that other calls share, it counts all bytes."""
        constants = [array.nbytes for array in self.implementation.constants(self.node).values()]
        for role in (Role.INPUT, Role.OUTPUT, Role.STATE):
            values = operands(self.kernel, self.node, role).values()
            constants += [value.nbytes for value in values if value.is_constant]
        return (
            schema.CALL_HEADER.size
            + self.kernel.args.size
            + sum(-(-nbytes // schema.ALIGNMENT) * schema.ALIGNMENT for nbytes in constants)
        )


@dataclass(frozen=True)
class Chosen:
    """A lowered graph with a kernel for each of its calls, in order."""

    graph: Graph
    target: Target
    options: PayloadOptions
    choices: tuple[Choice, ...]

    def instructions(self) -> int:
        """Returns about how many instructions one inference takes, without the calls that there is no model for."""
        return sum(choice.instructions(self.target) or 0 for choice in self.choices)


def legalize(graph: Graph, options: PayloadOptions = DEFAULT_OPTIONS) -> Legal:
    """Assigns each call to the first implementation of the options' providers that computes it, or an equivalent node,
    on every instruction set; one that the portable kernel outdoes comes last, if a provider is there for speed.
    `graph` stays as it is.

    ValueError for a node that none of them can compute. An alternative with such a node is left out.
    """
    assignments = tuple(_assign(node, options.providers) for node in calls(graph))
    alternatives = {}
    for what, other in graph.alternatives.items():
        with contextlib.suppress(ValueError):  # no provider has a kernel for one of its nodes
            alternatives[what] = legalize(other, options)
    return Legal(graph, options, assignments, alternatives)


def choose_kernels(legal: Legal, target: Target) -> Chosen:
    """Returns the kernel for every call on `target`: the first one that is for its instruction set, of those that are
    preferred to the assigned one, or else what was assigned. Where several can compute a call, the options'
    `preference` decides. Kernels that trade flash for speed may make the payload larger by `max_flash_growth` bytes;
    those that save the most instructions a byte come first.
    """
    options = legal.options
    choices = []
    for node, assignment in zip(calls(legal.graph), legal.assignments):
        found, why = _preferred_to(assignment, node, options.providers, target)
        assignment = dataclasses.replace(assignment, why="; ".join(filter(None, (why, assignment.why))))
        choices.append(_preferred([*found, _choice(assignment, target)], options.preference))
    if options.max_flash_growth:
        _grow(choices, calls(legal.graph), target, options.max_flash_growth)
    return Chosen(legal.graph, target, options, tuple(choices))


def choice_of(provider: Provider, implementation: Implementation, node: Node, target: Target) -> Choice:
    """Returns `node` as `implementation` of `provider`, which has to be able to, computes it on `target`."""
    return _choice(Assignment(implementation.legal(node), provider, implementation, ""), target)


def _choice(assignment: Assignment, target: Target) -> Choice:
    implementation, node = assignment.implementation, assignment.node
    return Choice(assignment, implementation.workspace(node, target), tuple(implementation.smaller_workspaces(node)))


def _implementations(node: Node, providers: Sequence[Provider]) -> Iterator[tuple[Provider, Implementation]]:
    """Yields the implementations of `providers` for the operator of `node` and its elements, the preferred ones
    first."""
    for provider in providers:
        for found in provider.implementations(node.op):
            if found.takes(node):
                yield provider, found


def _grow(choices: list[Choice], nodes: Sequence[Node], target: Target, limit: int) -> None:
    """Replaces `choices` for `nodes` by kernels of the same provider with larger constants, `limit` bytes together, the
    best ones first."""
    found = []
    for index, (choice, node) in enumerate(zip(choices, nodes)):
        for provider, implementation in _implementations(node, [choice.provider]):
            if not implementation.grows or target.isa not in implementation.isas or implementation.why_not(node):
                continue
            larger = choice_of(provider, implementation, node, target)
            before, after = choice.instructions(target), larger.instructions(target)
            if before is None or after is None or after >= before:
                continue
            price = Price(larger.flash_bytes() - choice.flash_bytes(), before - after)
            found.append((index, dataclasses.replace(larger, price=price), price))
    for index, larger, price in sorted(found, key=lambda f: -f[2].saved_instructions / max(f[2].flash_bytes, 1)):
        if price.flash_bytes <= limit and choices[index].price is None:
            choices[index] = larger
            limit -= price.flash_bytes


def _preferred(candidates: Sequence[Choice], preference: Preference) -> Choice:
    """Returns one of `candidates`, of which the first is the fastest."""
    fastest = candidates[0]
    if preference is Preference.FLASH:
        smallest = min(candidates, key=Choice.flash_bytes)
        if smallest is not fastest:
            saved = fastest.flash_bytes() - smallest.flash_bytes()
            smallest = _because(smallest, f"takes {saved:,} bytes of flash less than {_name(fastest)}")
        return smallest
    if preference is Preference.RAM:
        for candidate in candidates[1:]:
            least = fastest.options()[-1]
            if candidate.scratch_bytes < least.scratch_bytes:
                saved = fastest.scratch_bytes - candidate.scratch_bytes
                candidate = _because(candidate, f"takes {saved:,} bytes of scratch less than {_name(fastest)}")
                return dataclasses.replace(fastest, instead=candidate)
    return fastest


def _because(choice: Choice, why: str) -> Choice:
    """Returns `choice` with the reason that it is not the fastest one."""
    both = "; ".join(filter(None, (why, choice.assignment.why)))
    return dataclasses.replace(choice, assignment=dataclasses.replace(choice.assignment, why=both))


def _name(choice: Choice) -> str:
    return f"{choice.provider.name}'s {choice.kernel.name}"


def _preferred_to(
    assignment: Assignment, node: Node, providers: Sequence[Provider], target: Target
) -> tuple[list[Choice], str]:
    """Returns the ways to compute `node` that are for the instruction set of `target` and preferred to `assignment`,
    the preferred ones first. If there is none, the text says why they do not take it."""
    found, refusals = [], []
    for provider, implementation in _implementations(node, providers):
        if implementation is assignment.implementation:
            break
        if implementation.grows or implementation.everywhere or target.isa not in implementation.isas:
            continue  # chosen within a limit, refused by `_assign`, or for other cores
        why = implementation.why_not(node)
        if why:
            refusals.append(f"{implementation.name}: {why}")
        else:
            found.append(choice_of(provider, implementation, node, target))
    return found, "" if found else "; ".join(refusals)


def _assign(node: Node, providers: Sequence[Provider]) -> Assignment:
    kernel = _kernel_of(node)
    expected: list[str] = []  # of providers that one expects to compute it
    refusals: list[str] = []
    outdone: list[tuple[Provider, Implementation]] = []
    for_speed = any(provider.for_speed for provider in providers)
    for provider in providers:
        everywhere = [found for _, found in _implementations(node, [provider]) if found.everywhere]
        for implementation in everywhere:
            why = implementation.why_not(node)
            if not why and for_speed and implementation.outdone:
                outdone.append((provider, implementation))
                why = f"{provider.name}'s {kernel.name} takes more instructions"
            if not why:
                return Assignment(implementation.legal(node), provider, implementation, "; ".join(expected))
            expected.append(why)
            refusals.append(why)
        if not everywhere:
            why = provider.why_lacking(kernel)
            expected += [why] if why else []
            refusals.append(why or f"{provider.name} has no {kernel.name} for all cores")
    if outdone:
        provider, implementation = outdone[0]
        return Assignment(implementation.legal(node), provider, implementation, "")
    names = ", ".join(provider.name for provider in providers)
    raise ValueError(
        f"{node.name}: no kernel {kernel} in {names}: compile for a provider that has it, such as portable: add it to "
        f"--providers, or to the providers of compile_model ({'; '.join(refusals)})"
    )


def _kernel_of(node: Node) -> KernelSpec:
    if node.op not in OPS or not OPS[node.op].kernels:
        raise ValueError(f"{node.name}: {node.op} has no kernel; a pass should have removed it")
    return OPS[node.op].kernel_of(node)
