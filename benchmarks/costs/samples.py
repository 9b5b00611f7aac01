"""Counts the instructions of single calls on simulated cores: `of_operators` and `of_network`.

Calls of operators are the random ones that conformance tests compute, with larger images and more channels: the cost of
a call is mostly that of its inner loops in networks, and mostly what is around them in small cases.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Optional

from benchmarks.measure import PROVIDERS, Images
from benchmarks.networks import Network
from cmsis_nn_delegate.format import schema
from cmsis_nn_delegate.graph.ir import Graph, Value
from cmsis_nn_delegate.graph.tensor_type import Element, Layout
from cmsis_nn_delegate.ops.attrs import Padding
from cmsis_nn_delegate.ops.features import Features
from cmsis_nn_delegate.ops.geometry import Pair
from cmsis_nn_delegate.ops.op import Draw
from cmsis_nn_delegate.ops.registry import OPS
from cmsis_nn_delegate.payload.encode import encode_planned
from cmsis_nn_delegate.planner.memory import IoPlacement
from cmsis_nn_delegate.providers.implementation import OwnImplementation
from cmsis_nn_delegate.providers.provider import Provider
from cmsis_nn_delegate.providers.registry import PORTABLE, get_providers, own_implementations, owner_of
from cmsis_nn_delegate.runner import simulate
from cmsis_nn_delegate.runner.profile import random_inputs
from cmsis_nn_delegate.selection.choose_kernels import Choice, Chosen, choice_of, choose_kernels, legalize
from cmsis_nn_delegate.selection.options import PayloadOptions
from cmsis_nn_delegate.selection.planned import plan
from cmsis_nn_delegate.support.errors import UserError
from cmsis_nn_delegate.targets.target import Target
from cmsis_nn_delegate.testing.random_case import RandomCase

_MOST_INPUTS = schema.MAX_IO - 2  # of a payload, beside an output and a state
_MOST_MACS = 3_000_000  # of a call: larger ones take long, and teach nothing new
_SEEDS = 4  # for each call, at least, to meet paths that are seldom drawn
_ATTEMPTS = 16  # for each call, at most: many draws are of other kernels, and some kernels have two dozen paths
# Of a call of a network: there are fewer than random ones, which are smaller, and networks are what is predicted. The
# sums of convolutions are then half as far off as without.
_NETWORK_WEIGHT = 5
_MOST_BYTES = 1 << 20  # of what the calls of one payload read and write, with their constants


@dataclass(frozen=True)
class Sample:
    """A call and its executed instructions. `source` is the network or the operator that it belongs to. In a fit it
    counts as much as `weight` calls."""

    source: str
    provider: str
    kernel: str
    features: Features
    instructions: int
    weight: int = 1


@dataclass(frozen=True)
class _Drawn:
    """A random call, with the inputs and all calls of its case."""

    inputs: list[Value]
    choice: Choice
    calls: tuple[Choice, ...]

    @property
    def nbytes(self) -> int:
        outputs = [value for call in self.calls for value in call.node.outputs]
        return sum(call.flash_bytes() for call in self.calls) + sum(v.nbytes for v in (*self.inputs, *outputs))


def _fit(drawn: Sequence[_Drawn]) -> bool:
    """Returns whether one payload can have these calls."""
    inputs = sum(len(one.inputs) for one in drawn)
    return inputs <= _MOST_INPUTS and sum(one.nbytes for one in drawn) <= _MOST_BYTES


class LargerCase(RandomCase):
    """Draws as in conformance tests, but mostly images of the sizes that networks have."""

    def batch(self) -> int:
        return self.pick(1, 1, 1, 2)

    def channels(self) -> int:
        return self.pick(self.integer(1, 9), 4 * self.integer(1, 8), 8 * self.integer(1, 16), self.integer(10, 140))

    def pair(self, lo: int, hi: int) -> Pair:
        """Pairs of up to 6 and more are sizes of images, the others are windows and their steps."""
        return super().pair(lo, 3 * hi if hi >= 6 else hi)

    def image(
        self,
        batch: int,
        channels: int,
        kernel: Pair,
        dilation: Pair = (1, 1),
        extra: int = 6,
        element: Element = Element.INT8,
    ) -> Value:
        return super().image(batch, channels, kernel, dilation, self.pick(extra, 4 * extra), element)


def _draw_long_row(d: RandomCase) -> Value:
    """A convolution over time, as in networks for sound."""
    taps, channels = d.integer(1, 48), d.pick(1, 4 * d.integer(1, 24))
    x = d.input(1, channels, 1, taps + d.integer(10, 150))
    left = d.pick(0, 0, (taps - 1) // 2)
    padding = Padding(0, left, 0, left)
    return d.maybe_relu(d.conv2d(x, d.channels(), (1, taps), (1, d.pick(1, 1, 2, 4)), padding, clamp=d.clamp()))


def _draw_few_channels(d: RandomCase) -> Value:
    """A first layer: windows of a few channels, of which many reach beyond the image, as in networks for sound."""
    kernel, stride = d.pick((3, 3), (10, 4), d.pair(2, 5), (d.integer(4, 12), d.integer(2, 6))), d.pick(1, 2, 2)
    sizes = tuple(2 * taps + d.integer(4, 40) for taps in kernel)
    x = d.input(1, d.pick(1, 1, 2, 3), *sizes)
    top, left = ((taps - 1) // 2 for taps in kernel)
    padding = Padding(top, left, kernel[0] - 1 - top, kernel[1] - 1 - left)
    return d.maybe_relu(d.conv2d(x, d.channels(), kernel, (stride, stride), padding, clamp=d.clamp()))


def _draw_multiplied(d: RandomCase) -> Value:
    """Four or eight outputs a channel, for which CMSIS-NN has a function."""
    x = d.image(1, d.integer(2, 16), (3, 3))
    kernel = d.pick((3, 3), d.pair(1, 5))
    multiplier, padding = d.pick(4, 4, 8), d.padding((min(kernel[0], 3), min(kernel[1], 3)))
    return d.depthwise_conv2d(x, multiplier, kernel=kernel, padding=padding, stride=d.pair(1, 2), clamp=d.clamp())


def _draw_same_order(d: RandomCase) -> Value:
    """Images of one channel or one pixel, whose two layouts are the same."""
    shape = d.pick((1, *d.pair(1, 6)), (d.channels(), 1, 1))
    return d.transpose(d.input(d.batch(), *shape, layout=Layout.ROW_MAJOR), Layout.CHANNELS_LAST)


# Beside those of the operators: what their ways to draw seldom give.
_FURTHER_DRAWS: Mapping[str, tuple[Draw, ...]] = {
    "conv2d": (_draw_long_row,),
    "conv2d_joint_pairs": (_draw_long_row, _draw_few_channels),
    "conv2d_pairs": (_draw_long_row, _draw_few_channels),
    "conv2d_vectors": (_draw_long_row,),
    "depthwise_conv2d": (_draw_multiplied,),
    "transpose": (_draw_same_order,),
}


class Sampler:
    """Runs calls on `target`, with the images that Bazel has built."""

    def __init__(self, target: Target, images: Images) -> None:
        self._target = target
        self._images = images
        self._markers: dict[Path, int] = {}
        self.simulator = ""  # of the last run

    def providers(self, name: str) -> tuple[Provider, ...]:
        """Returns those that `name`, a key of PROVIDERS, stands for, as far as the images have their kernels."""
        return get_providers([p for p in PROVIDERS[name] if p != "cmsis-nn" or self._images.with_cmsis_nn])

    def of_operators(self, providers: str, count: int, names: Optional[Collection[str]] = None) -> Iterator[Sample]:
        """Yields about `count` random calls of each way to draw nodes of each operator in `names`, and of each path of
        a kernel, computed by `providers`, a key of PROVIDERS; for "tuned" those of the tuned kernels in `names`. None
        are all."""
        if providers == "tuned":
            for kernel in own_implementations():
                if self._target.isa in kernel.isas and (names is None or kernel.kernel.name in names):
                    yield from self._of(kernel.name, kernel.draws, providers, count, kernel)
            return
        for op in OPS.values():
            if op.kernels and (names is None or op.name in names):
                yield from self._of(op.name, op.draws, providers, count)

    def of_network(self, network: Network, providers: str) -> list[Sample]:
        """Returns the calls of `network` in their order. UserError if it does not fit the board."""
        options = PayloadOptions(providers=self.providers(providers))
        chosen = choose_kernels(legalize(network.graph, options), self._target)
        calls = self._run(network.name, chosen, list(network.inputs), providers)
        return [replace(call, weight=_NETWORK_WEIGHT) for call in calls]

    def _of(
        self, name: str, draws: Sequence[Draw], providers: str, count: int, kernel: Optional[OwnImplementation] = None
    ) -> Iterator[Sample]:
        """Yields random calls; several of them make a payload, because starting the simulator takes longest."""
        together: list[_Drawn] = []
        of_path: Counter[tuple[str, str]] = Counter()
        for draw in (*draws, *_FURTHER_DRAWS.get(name, ())):
            found = 0
            for seed in range(_ATTEMPTS * count):
                if seed >= _SEEDS * count and found >= count and min(of_path.values()) >= count // 2:
                    break
                drawn = self._draw(name, draw, seed, providers, kernel)
                if drawn is None:
                    continue
                # After enough of all, only of paths that are seldom drawn.
                path = drawn.choice.kernel.name, drawn.choice.features().path
                if found >= count and of_path[path] >= count // 2:
                    continue
                found, of_path[path] = found + 1, of_path[path] + 1
                if together and not _fit([*together, drawn]):
                    yield from self._run_together(name, together, providers, seed)
                    together = []
                together.append(drawn)
        if together:
            yield from self._run_together(name, together, providers, 0)

    def _draw(
        self, name: str, draw: Draw, seed: int, providers: str, kernel: Optional[OwnImplementation]
    ) -> Optional[_Drawn]:
        """Returns a random call, None if these providers have no kernel of their own for it."""
        case = LargerCase(seed)
        graph = case.graph(draw(case))
        op = kernel.op if kernel is not None else name
        # Others make inputs and outputs.
        node = next(node for node in graph.nodes if node.op == op)
        if OPS[op].macs(node) > _MOST_MACS or (kernel is not None and kernel.why_not(node)):
            return None
        try:
            options = PayloadOptions(providers=self.providers(providers))
            calls = choose_kernels(legalize(graph, options), self._target).choices
        except ValueError:
            return None  # a geometry that this provider does not compute
        index = next(i for i, call in enumerate(calls) if call.node.op == op)
        choice = calls[index]
        if kernel is not None:
            choice = choice_of(owner_of(kernel), kernel, node, self._target)
            workspaces = (choice.workspace, *choice.smaller)
            choice = replace(choice, workspace=workspaces[seed % len(workspaces)], smaller=())
        elif providers != "portable" and choice.provider is PORTABLE:
            return None  # what CMSIS-NN lacks is the same in all images
        return _Drawn(case.inputs, choice, (*calls[:index], choice, *calls[index + 1 :]))

    def _run_together(self, name: str, drawn: Sequence[_Drawn], providers: str, seed: int) -> list[Sample]:
        calls = tuple(call for one in drawn for call in one.calls)
        for index, one in enumerate(drawn):
            tensors = [v for call in one.calls for v in (*call.node.inputs, *call.node.outputs, *call.node.states)]
            for value in {id(value): value for value in (*one.inputs, *tensors)}.values():
                value.name = f"{index}_{value.name}"
        inputs = [value for one in drawn for value in one.inputs]
        graph = Graph(inputs, [calls[-1].node.outputs[0]], [call.node for call in calls])
        options = PayloadOptions(IoPlacement.CALLER, self.providers(providers))
        chosen = Chosen(graph, self._target, options, calls)
        found = self._run(name, chosen, random_inputs(graph, seed), providers)
        asked = {id(one.choice) for one in drawn}
        return [sample for call, sample in zip(calls, found, strict=True) if id(call) in asked]

    def _run(self, source: str, chosen: Chosen, inputs, providers: str) -> list[Sample]:
        encoded = encode_planned(plan(chosen))
        image = self._images.profile(self._target.name, providers)
        markers = self._markers_of(image, encoded.payload, inputs)
        run = simulate.run(encoded.payload, [inputs], image, verify_crc=False)
        self.simulator = run.simulator
        return [
            Sample(source, choice.provider.name, choice.kernel.name, choice.features(), count - markers)
            for choice, count in zip((call.choice for call in encoded.calls), _calls(run), strict=True)
        ]

    def _markers_of(self, image: Path, payload: bytes, inputs) -> int:
        """Returns what the markers around each call take themselves."""
        if image not in self._markers:
            counts = set(_calls(simulate.run(payload, [inputs], image, null_kernels=True, verify_crc=False)))
            if len(counts) != 1:
                raise UserError(f"{image} counts {sorted(counts)} instructions of calls that do nothing")
            (self._markers[image],) = counts
        return self._markers[image]


def _calls(run: simulate.Run) -> Sequence[int]:
    if run.calls is None:
        raise UserError(f"{run.simulator} does not count instructions exactly here: build //sim:qemu")
    return run.calls[0]
