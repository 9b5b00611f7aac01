"""Compares the quantized model with the float model on calibration samples: did conversion keep the function?

Quantization changes numbers, and errors add up from layer to layer, so that no bound on the outputs alone
tells a wrong conversion from a model that is hard to quantize. Three steps each have a sharp bound:

1. The float module that observers were put into computes what the exported module does. All rewrites before
   quantization are exact; the bound of 2 % of a tensor's range is for the rounding of floats.
2. The scale of each tensor fits what the tensor holds. An observer clips outliers where that lowers the
   squared error, and its search ends at most at 8 times the squared error of the full range: it begins by
   clipping 1e-5 of the values, each by the range R at most, next to R^2 / (12 * 255^2) by rounding. The bound
   is 16 times.
3. Each operator of the quantized module, given the numbers that it reads there, computes what the float
   operator does; it reads the outputs of the same operators as the float one does; and weights, biases and
   activations are those of the float module, rounded: within half a step of the observer's scale.

By induction over the operators the quantized model is then the float model with the roundings and the
clipping that its scales stand for, and nothing else.

A model that keeps a state runs several steps, each from what the step before left, and from the initial state where a
sequence begins. If the last sequence is short, samples are repeated as more steps of it: whatever takes the initial
state for a constant shows in the second step at the latest.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch.export import ExportedProgram
from torch.fx import GraphModule
from torch.utils import _pytree as pytree

from ..in_place import compute_late, lost_writers, names_of_state
from ..private_copy import runnable_copy
from .layers import Layers
from .noise import Error, Noise
from .rewrites import Rewrites
from .running import FLOAT_TOLERANCE, Frugal, InitialStates, Sample, call, close, fail, outputs
from .scales import Fits, Scales

# Of an output: below this, its noise is a third of its signal. Working networks have 20 dB and more.
LOWEST_SQNR = 10.0
_STEPS = 4  # of a model with a state


@dataclass(frozen=True)
class Comparison:
    """How far the quantized model is from the float model: `part` is the largest difference of an output, as a fraction
    of that output's range in all samples; `sqnr` is the least signal-to-noise ratio of an output in dB."""

    part: float
    sqnr: float


class Samples:
    """Keeps at most `limit` of the samples it is given: spread evenly, or the first ones if they are the `steps` of a
    model that keeps a state. `starts` are the places in `kept` at which a sequence of steps begins. `count` is the
    number given."""

    def __init__(self, limit: int = 8, steps: bool = False) -> None:
        self.kept: list[Sample] = []
        self.starts: set[int] = set()
        self.count = 0
        self._limit, self._stride, self._steps = limit, 1, steps

    def add(self, sample: Sample, starts: bool = False) -> None:
        """`starts`: whether it is the first step of a sequence."""
        full = len(self.kept) == self._limit
        if self.count % self._stride == 0 and not (full and self._steps):
            if full:
                self.kept = self.kept[::2]
                self._stride *= 2
            if self.count % self._stride == 0:
                if starts and self._steps:
                    self.starts.add(len(self.kept))
                self.kept.append(sample)
        self.count += 1


def compare(
    exported: GraphModule,
    prepared: GraphModule,
    converted: GraphModule,
    program: ExportedProgram,
    samples: Samples,
) -> Comparison:
    """Compares the outputs, after all that leads to them.

    exported: the float module as torch.export made it, with flat inputs and outputs.
    prepared: the calibrated module, with observers. converted: the quantized module. program: the same,
        exported again.

    UserError names the first layer that differs by more than its scales explain.
    """
    modules = (exported, prepared, converted, program.module(check_guards=False))
    exported, prepared, converted, final = map(runnable_copy, modules)
    for node in lost_writers(prepared.graph):
        fail(node, "it writes into a tensor that quantization separates from its other names")
    scales = Scales(prepared)
    before = Rewrites(exported, prepared)
    fits = Fits(prepared, scales)
    states = runnable_copy(prepared)
    compute_late(states.graph)
    count = len(pytree.tree_leaves(exported.graph.output_node().args[0]))
    noises, errors = [Noise() for _ in range(count)], [Error() for _ in range(count)]
    kept = samples.kept
    stateful = bool(names_of_state(prepared.graph))
    initial = InitialStates(exported, prepared, states, converted, final)
    more = max(0, _STEPS - (len(kept) - max(samples.starts, default=0))) if stateful else 0
    with torch.no_grad():
        for step in range(len(kept) + more):
            sample, repeated = kept[step % len(kept)], step >= len(kept)
            if step in samples.starts:
                initial.restore()
            where = f"sample {step % len(kept)}{f', step {step} of a model with a state' if stateful else ''}"
            # Observers have not seen what a state becomes once samples are repeated.
            wanted = before.compare(sample, where, None if repeated else fits.see)
            layers = Layers(states, converted, sample, scales)
            call(layers.run, sample)
            quantized = layers.quantized_outputs()
            if not repeated:
                for noise, error, a, b in zip(noises, errors, outputs(wanted), quantized):
                    noise.add(a, b)
                    error.add(a, b)
            for output, (a, b) in enumerate(zip(quantized, call(Frugal(final).run, sample))):
                if not close(a, b, FLOAT_TOLERANCE):
                    fail(f"output {output}", "the exported program returns other numbers")
    fits.check(samples.count / max(1, len(kept)))
    worst = max((error.part for error in errors), default=0.0)
    return Comparison(worst, min((noise.sqnr for noise in noises if noise.signal), default=math.inf))


def differing_part(value: float) -> str:
    """Returns the value as readable text, such as "1.3 %"."""
    percent = 100 * value
    return f"{percent:.0f} %" if percent >= 10 else f"{percent:.2g} %"
