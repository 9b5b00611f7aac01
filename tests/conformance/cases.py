"""Random calls of every operator, as suites.

A case is one node with random shape, parameters, weights and input, compiled for an instruction set like
any network; the integer reference computes its expected outputs. Cases of an operator are drawn in turn in the
ways that its class declares, so that they often use each special kernel of CMSIS-NN, and each geometry that the
compiler rewrites because a special kernel is wrong for it (ops/cmsis_nn_geometry.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.format.record import Role
from cmsis_nn_delegate.graph.ir import Graph
from cmsis_nn_delegate.graph.tensor_type import Quant
from cmsis_nn_delegate.ops.registry import OPS, calls
from cmsis_nn_delegate.passes.row_bands import chains, split_into_bands
from cmsis_nn_delegate.payload.decode import decode
from cmsis_nn_delegate.payload.encode import encode_planned
from cmsis_nn_delegate.payload.tensor_data import to_bytes
from cmsis_nn_delegate.planner.memory import IoPlacement
from cmsis_nn_delegate.providers.implementation import Workspace
from cmsis_nn_delegate.providers.provider import Provider
from cmsis_nn_delegate.providers.registry import CMSIS_NN, DEFAULT, PORTABLE, own_implementations, owner_of
from cmsis_nn_delegate.selection.choose_kernels import choice_of, choose_kernels, legalize
from cmsis_nn_delegate.selection.options import PayloadOptions
from cmsis_nn_delegate.selection.planned import plan
from cmsis_nn_delegate.targets.memory import Memory
from cmsis_nn_delegate.targets.target import Target
from cmsis_nn_delegate.testing.networks import random_inputs, random_network
from cmsis_nn_delegate.testing.random_case import RandomCase
from tests.conformance.suite import Case

# Random networks of several nodes, which exchange values in the arena.
NETWORK = "network"
# Those that reach the payload, and networks.
OPERATORS = (*(name for name, op in OPS.items() if op.kernels), NETWORK)
# Cases of these are nodes of their operators that they compute.
TUNED = {own.name: own for own in own_implementations()}


def _spread_multipliers(d: RandomCase, graph: Graph) -> None:
    """Weight scales far from those that suit the output: positive shifts, and sums that become zero."""
    for node in graph.nodes:
        if not OPS[node.op].kernels[0].args.names_of(Role.MULTIPLIER) or not node.inputs[-1].is_constant:
            return
        weight = node.inputs[1]
        factors = 2.0 ** d.random.uniform(-16, 10, len(weight.quant.scale))
        scales = tuple(float(s * f) for s, f in zip(weight.quant.scale, factors))
        weight.retype(quant=replace(weight.quant, scale=scales))


def graph_of(operator: str, seed: int) -> Graph:
    """Returns case `seed` of `operator`."""
    if operator == NETWORK:
        return random_network(seed)
    if operator in TUNED:
        return _graph_of_tuned(operator, seed)
    draws = OPS[operator].draws
    d = RandomCase(seed)
    graph = d.graph(draws[seed % len(draws)](d))
    if seed // len(draws) % 5 == 4:
        _spread_multipliers(d, graph)
    return graph


def _graph_of_tuned(name: str, seed: int) -> Graph:
    kernel = TUNED[name]
    for attempt in range(100):
        d = RandomCase(seed + 1_000_000 * attempt)
        graph = d.graph(kernel.draws[seed % len(kernel.draws)](d))
        node = graph.nodes[0]
        if not kernel.why_not(node):
            overlaps = any(
                w.distance is not None
                for w in (
                    Workspace(kernel.scratch_bytes(node), kernel.distance(node)),
                    *kernel.smaller_workspaces(node),
                )
            )
            return _between_copies(graph) if overlaps and seed // len(kernel.draws) % 2 else graph
    raise ValueError(f"{name} takes none of 100 random cases: {kernel.why_not(graph.nodes[0])}")


def _between_copies(graph: Graph) -> Graph:
    """Returns `graph` with its input and output copied, by poolings of single pixels. So both lie in the arena, where
    the output may be planned to overlap the input."""
    d = RandomCase()
    (x,), (node,) = graph.inputs, graph.nodes
    copied = d.max_pool2d(d.input(*x.shape, element=x.element, quant=x.quant), (1, 1))
    node.inputs[0] = copied
    d.nodes.append(node)
    return d.graph(d.max_pool2d(node.output, (1, 1)))


def _payload(operator: str, graph: Graph, seed: int, target: Target, providers: Sequence[Provider]) -> bytes:
    """Returns the payload with one of the workspaces that each kernel can use. A tuned `operator` computes all
    nodes that it can, also where another kernel is preferred."""
    memories = _memories(seed) if operator == NETWORK and seed % 4 == 2 else ()
    options = PayloadOptions(IoPlacement.CALLER, tuple(providers), memories=tuple(memories))
    legal = legalize(graph, options)
    chosen = choose_kernels(legal, target)
    choices = []
    tuned = TUNED.get(operator)
    for node, choice in zip(calls(legal.graph), chosen.choices, strict=True):
        if tuned is not None and target.isa in tuned.isas and choice.provider is owner_of(tuned):
            choice = choice_of(owner_of(tuned), tuned, node, target) if node.op == tuned.op else choice
        workspaces = (choice.workspace, *choice.smaller)
        choices.append(replace(choice, workspace=workspaces[seed % len(workspaces)], smaller=()))
    return encode_planned(plan(replace(chosen, choices=tuple(choices)))).payload


def _memories(seed: int) -> list[Memory]:
    """Returns one or two small memories, of which one may hold copies of weights, and a large one."""
    d = RandomCase(seed)
    kinds = [("activations", "scratch"), ("activations",), ("scratch",), ("weights",), ("activations", "weights")]
    small = [Memory("first", d.integer(16, 2048), d.pick(*kinds))]
    if d.integer(0, 1):
        small.append(Memory("second", d.integer(16, 2048), d.pick(*kinds[:3])))
    return [*small, Memory("large", 1 << 24)]


def _in_bands(graph: Graph, seed: int) -> Graph:
    """Returns `graph` with one of its chains of convolutions, if it has any, computed in bands of rows."""
    found = list(chains(graph, 3))
    if not found:
        return graph
    chain = found[seed % len(found)]
    try:
        return split_into_bands(graph, chain, 1 + seed % chain[-1].output.shape[2])
    except ValueError:
        return graph  # a band would be computed from padding alone


def describe(operator: str, seed: int, graph: Graph) -> str:
    if operator == NETWORK:
        return f"network of seed {seed}: {' '.join(node.op for node in graph.nodes)}"
    node = graph.nodes[len(graph.nodes) // 2]
    quants = [value.quant for value in (*graph.inputs, *node.outputs) if isinstance(value.quant, Quant)]
    zero_points = [quant.zero_point for quant in quants]
    shapes = [tuple(value.shape) for value in (*node.inputs, *node.outputs)]
    return f"{operator} seed {seed}: shapes {shapes}, {node.attrs}, zero points {zero_points}"


def providers_of(kernels: str) -> tuple[Provider, ...]:
    """For whom to compile what an image with the table `kernels` runs. The portable kernels stand in for all others, so
    their images run what is compiled for these."""
    return (CMSIS_NN, PORTABLE) if kernels == CMSIS_NN.name else DEFAULT


def case(operator: str, seed: int, target: Target, providers: Sequence[Provider] = DEFAULT) -> Case:
    graph = graph_of(operator, seed)
    inputs = random_inputs(graph, seed)
    if operator in TUNED and seed % 5 == 3:
        inputs = [_extreme(array, seed) for array in inputs]
    node = graph.nodes[0]
    if node.op == "quantize" and node.inputs[0] is graph.inputs[0]:
        inputs = [_hard_to_round(inputs[0], node.output.quant.scale[0], seed), *inputs[1:]]
    expected = reference.run(graph, inputs)
    computed = _in_bands(graph, seed) if operator == NETWORK and seed % 2 else graph
    payload = _payload(operator, computed, seed, target, providers)
    view = decode(payload)
    return Case(
        describe(operator, seed, graph),
        payload,
        tuple(to_bytes(np.asarray(a), t) for a, t in zip(inputs, view.inputs)),
        tuple(to_bytes(np.asarray(a), t) for a, t in zip(expected, view.outputs)),
    )


def _hard_to_round(array: np.ndarray, scale: float, seed: int) -> np.ndarray:
    """Replaces half of the numbers: most of these by halves of steps, as exactly as floats can be, and some by numbers
    that are very large or nearly 0."""
    draw = np.random.default_rng(seed)
    halves = (draw.integers(-300, 300, array.shape) + 0.5) * scale
    far = draw.choice([3e38, -3e38, 1e10, -1e10, 2.0**31, -(2.0**31), 1e-40, -0.0], array.shape)
    kind = draw.integers(0, 8, array.shape)
    return np.where(kind < 4, array, np.where(kind < 7, halves, far)).astype(np.float32)


def _extreme(array: np.ndarray, seed: int) -> np.ndarray:
    """Returns `array` with its least or its largest number everywhere: the sums of random numbers stay far from the
    bounds that kernels rely on."""
    if not np.issubdtype(array.dtype, np.integer):
        return array
    found: np.ndarray = np.full_like(array, array.max() if seed % 2 else array.min())
    return found


def cases(operator: str, seeds: range, target: Target, providers: Sequence[Provider] = DEFAULT) -> Iterator[Case]:
    return (case(operator, seed, target, providers) for seed in seeds)
