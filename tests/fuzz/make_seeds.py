"""Compiles small graphs with every kind of call, as seeds for fuzzing.

    make_seeds.py FOLDER

Writes the payloads for CMSIS-NN and each instruction set to FOLDER/seeds_<isa>.bin, those for its tuned kernels to
FOLDER/seeds_tuned_<isa>.bin, and those for the portable kernels, which run all others, to FOLDER/seeds_portable.bin,
one after the other. Each payload has its size in its header, a multiple of 16 bytes.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from cmsis_nn_delegate.format.schema import Isa
from cmsis_nn_delegate.graph.ir import Graph
from cmsis_nn_delegate.ops.attrs import Padding
from cmsis_nn_delegate.ops.depthwise_conv2d import INT4
from cmsis_nn_delegate.ops.registry import OPS, calls
from cmsis_nn_delegate.payload.encode import encode_planned
from cmsis_nn_delegate.payload.lower_partition import encode
from cmsis_nn_delegate.planner.memory import IoPlacement
from cmsis_nn_delegate.providers.provider import Provider
from cmsis_nn_delegate.providers.registry import CMSIS_NN, DEFAULT, PORTABLE, TUNED, owner_of
from cmsis_nn_delegate.selection.choose_kernels import choice_of, choose_kernels, legalize
from cmsis_nn_delegate.selection.options import PayloadOptions
from cmsis_nn_delegate.selection.planned import plan
from cmsis_nn_delegate.targets.memory import Memory
from cmsis_nn_delegate.targets.target import TARGET_OF_ISA, Target
from cmsis_nn_delegate.testing.graph_builder import GraphBuilder
from cmsis_nn_delegate.testing.networks import random_network
from cmsis_nn_delegate.testing.random_case import RandomCase
from tests.conformance import cases

CASES_OF_A_KIND = 4
_ATTEMPTS = 40  # calls of a kind that are drawn
NETWORKS = 40
TWINS = 12
SPREAD = 40
COPYING = 24
# Larger payloads would be mutated and run less often.
MAX_BYTES = 8192


def twins(seed: int) -> Graph:
    """Two parallel convolutions that share bias, multipliers and shifts. These are stored once, and the second filter
    is the last constant."""
    d = RandomCase(seed)
    kernel, padding = d.pair(1, 3), Padding()
    x = d.image(1, 2 + d.channels(), kernel)
    depthwise = seed % 2 == 1
    channels = x.shape[1] if depthwise else d.channels()
    for _ in range(2):
        if depthwise:
            d.depthwise_conv2d(x, 1, kernel=kernel, padding=padding)
        else:
            d.conv2d(x, channels, kernel, padding=padding)
    first, second = d.nodes
    second.inputs[1].retype(quant=first.inputs[1].quant)
    second.inputs[2] = first.inputs[2]
    second.output.retype(quant=first.output.quant)
    return d.graph(first.output, second.output)


def row(stride: int, taps: int) -> Graph:
    """A convolution along a row without padding, whose last window ends where the row ends."""
    builder = GraphBuilder(stride * taps)
    x = builder.input(1, 4, 1, taps + 3 * stride)
    return builder.graph(builder.conv2d(x, 8, kernel=(1, taps), stride=(1, stride)))


def _placement(index: int) -> IoPlacement:
    return IoPlacement.ARENA if index % 3 == 2 else IoPlacement.CALLER


def seeds_of(operator: str) -> Iterator[int]:
    """Yields the numbers of its random calls: some of each kind, and further ones until each of its kernels that calls
    have at all is called often enough to be among those that still run when they are mutated."""
    op = OPS[operator]
    found: Counter[str] = Counter({kernel.name: 0 for kernel in op.kernels})
    for seed in range(_ATTEMPTS * len(op.draws)):
        called = [op.kernel_of(node).name for node in cases.graph_of(operator, seed).nodes if node.op == operator]
        if seed < CASES_OF_A_KIND * len(op.draws) or any(found[name] < 3 * CASES_OF_A_KIND for name in called):
            found.update(called)
            yield seed


def seeds(isa: str) -> Iterator[bytes]:
    """Single calls of every operator, twins, rows, and networks of a few calls; some keep inputs and outputs in the
    arena."""
    target = TARGET_OF_ISA[isa]
    graphs = [
        cases.graph_of(operator, seed)
        for operator in cases.OPERATORS
        if operator != cases.NETWORK
        for seed in seeds_of(operator)
    ]
    graphs += [twins(seed) for seed in range(TWINS)]
    graphs += [row(stride, taps) for stride in (1, 2, 3) for taps in (2, 3, 5)]
    graphs += [random_network(seed, max_nodes=6 + seed % 6) for seed in range(NETWORKS)]
    for index, graph in enumerate(graphs):
        payload = encode(graph, target, PayloadOptions(_placement(index), (CMSIS_NN, PORTABLE))).payload
        if len(payload) <= MAX_BYTES:
            yield payload
    if target.isa is not Isa.SCALAR:
        yield from unchosen_seeds(target)


def unchosen_seeds(target: Target) -> Iterator[bytes]:
    """Calls of CMSIS-NN's depthwise_conv2d_int4, which tables have with DSP and MVE too, although the compiler unpacks
    the weights there for another kernel."""
    kernel = next(found for found in CMSIS_NN.implementations("depthwise_conv2d") if found.kernel is INT4)
    for seed in seeds_of("depthwise_conv2d"):
        graph = cases.graph_of("depthwise_conv2d", seed)
        (node,) = graph.nodes
        if kernel.takes(node) and not kernel.why_not(node):
            options = PayloadOptions(_placement(seed), (CMSIS_NN, PORTABLE))
            choice = choice_of(CMSIS_NN, kernel, node, target)
            chosen = replace(choose_kernels(legalize(graph, options), target), choices=(choice,))
            yield encode_planned(plan(chosen)).payload


def tuned_seeds(isas: Collection[Isa], providers: Sequence[Provider]) -> Iterator[bytes]:
    """Single calls of every tuned kernel for one of `isas`, compiled for the first of these, also where another one is
    preferred."""
    for name, kernel in cases.TUNED.items():
        owner = owner_of(kernel)
        for isa in sorted(kernel.isas & set(isas))[:1]:
            target = TARGET_OF_ISA[isa.name.lower()]
            for seed in range(2 * CASES_OF_A_KIND * len(kernel.draws)):
                graph = cases.graph_of(name, seed)
                legal = legalize(graph, PayloadOptions(_placement(seed), tuple(providers)))
                chosen = choose_kernels(legal, target)
                choices = tuple(
                    choice_of(owner, kernel, node, target)
                    if node.op == kernel.op and choice.provider is owner
                    else choice
                    for node, choice in zip(calls(legal.graph), chosen.choices, strict=True)
                )
                payload = encode_planned(plan(replace(chosen, choices=choices))).payload
                if len(payload) <= MAX_BYTES:
                    yield payload


def spread_seeds() -> Iterator[bytes]:
    """Networks whose activations and scratch memory lie in regions beside the arena too."""
    for seed in range(SPREAD):
        memories = (Memory("small", 64 << seed % 3), Memory("larger", 512), Memory("rest", 1 << 20))
        graph = random_network(seed, max_nodes=6 + seed % 6)
        options = PayloadOptions(_placement(seed), (CMSIS_NN, PORTABLE), memories=memories)
        encoded = encode(graph, TARGET_OF_ISA["scalar"], options)
        if len(encoded.payload) <= MAX_BYTES and any(encoded.plan.region_bytes):
            yield encoded.payload


def copying_seeds(isa: str) -> Iterator[bytes]:
    """Networks of which init() copies constants, all or a few; every third also has regions."""
    for seed in range(COPYING):
        fast = Memory("fast", 64 << seed % 6, ("weights", "activations") if seed % 3 == 2 else ("weights",))
        memories = (fast, Memory("rest", 1 << 20))
        graph = random_network(seed, max_nodes=6 + seed % 6)
        options = PayloadOptions(IoPlacement.CALLER, (CMSIS_NN, PORTABLE), memories=memories)
        encoded = encode(graph, TARGET_OF_ISA[isa], options)
        if len(encoded.payload) <= MAX_BYTES and encoded.copies.nbytes:
            yield encoded.payload


def main(argv: list[str]) -> int:
    if len(argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    for isa, target in TARGET_OF_ISA.items():
        (Path(argv[1]) / f"seeds_{isa}.bin").write_bytes(b"".join((*seeds(isa), *copying_seeds(isa))))
        (Path(argv[1]) / f"seeds_tuned_{isa}.bin").write_bytes(b"".join(tuned_seeds((target.isa,), DEFAULT)))
    tuned = tuned_seeds(tuple(Isa), (TUNED, PORTABLE))
    (Path(argv[1]) / "seeds_portable.bin").write_bytes(
        b"".join((*seeds("scalar"), *spread_seeds(), *copying_seeds("scalar"), *tuned))
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
