"""Logarithms of the energy of sound in bands of frequencies."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Optional

import numpy as np

from ..edge.nodes import first, operand, shape_of
from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Reason, Refusal
from ..format import blocks
from ..format.cpp import camel
from ..format.element import KERNEL_ELEMENTS
from ..format.record import I8, I16, I32, I64, Field, Role, Scalar, Struct
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element, Quant, TensorType
from . import spectrum
from .annotation import Samples
from .case import Case
from .features import Features
from .kernel import KernelSpec, named_for
from .layouts import Layouts
from .logarithms import LOG_BITS, log2
from .op import Op
from .recurrent import floats

SAMPLE = Element.INT16
# Of an energy, to the right: then sums of energies times weights stay below 2^63, because the energies of a frame are
# together at most the mean of its squares [Parseval].
ENERGY_SHIFT = 12
# So that sums with it stay below 2^64.
_MOST_FLOOR = 2**62
_STEP_BITS = 16  # of the factor to steps of the output, after the point
_POWERS = (1, 2)


def kernel(element: Scalar) -> KernelSpec:
    name = named_for("log_mel", element)
    return KernelSpec(
        name,
        Struct(
            f"{camel(name)}Args",
            f"{element.element} logarithms of the energy of sound in frequency bands: see docs/reference/sound.md.",
            (
                blocks.input("input", I16, "batch", "samples", doc="int16 [batch, samples]"),
                blocks.operand(Role.FILTER, "window", I16, ("frame_length",), "int16 [frame_length]"),
                blocks.operand(
                    Role.FILTER, "factors", I16, ("fft_length",), "int16 [fft_length / 2, 2]: -cos(w), -sin(w) in Q15"
                ),
                blocks.operand(Role.FILTER, "first_bins", I16, ("bands",), "int16 [bands]: the first bin of each"),
                blocks.operand(Role.FILTER, "bin_counts", I16, ("bands",), "int16 [bands]: how many it has"),
                blocks.operand(Role.FILTER, "weights", I16, ("taps",), "int16 [taps], not negative: band by band"),
                blocks.operand(
                    Role.FILTER, "floors", I64, ("bands",), "int64 [bands], 1 to 2^62: added to the sum of each"
                ),
                blocks.operand(
                    Role.FILTER, "offsets", I32, ("bands",), "int32 [bands]: added to binary logarithms, in Q20"
                ),
                blocks.output(element, "batch", "frames", "bands", doc=f"{element.element} [batch, frames, bands]"),
                blocks.scratch(),
                Field("batch", I32, "at least 1"),
                Field("samples", I32),
                Field("hop", I32, "samples from one frame to the next"),
                Field("frames", I32),
                Field("frame_length", I32, "at most fft_length"),
                Field("fft_length", I32, "a power of two", low=spectrum.LENGTHS[0], high=spectrum.LENGTHS[-1]),
                Field("bands", I32),
                Field("taps", I32, "the sum of bin_counts; 1 if that is 0"),
                Field("power", I32, "of magnitudes", low=_POWERS[0], high=_POWERS[-1]),
                blocks.multiplier("step", "Q16 of gain * ln(2) / output scale"),
                blocks.output_offset(element=Element(element.element)),
                Field("scratch_bytes", I32),
            ),
            geometry="log_mel",
            values="log_mel",
        ),
    )


@dataclass(frozen=True)
class LogMelAttrs:
    """Inputs: samples (int16 [..., samples]), and the constants of the kernel in its order. The output is
    [..., frames, bands]; `gain` is what natural logarithms are multiplied with."""

    hop: int
    power: int
    gain: float


class Sizes(NamedTuple):
    batch: int
    samples: int
    hop: int
    frames: int
    frame_length: int
    fft_length: int
    bands: int
    taps: int


class LogMel(Op):
    """gain * ln(|rfft(window * frames)|^power @ bank + eps) of samples of 16 bits.

    The transform has 32 bits (`spectrum`). Energies of bins are squares in 64 bits less the last 12, or magnitudes with
    16 bits that count. A band is the sum of its energies times weights of 15 bits, a fraction of the largest of the
    band, and eps: integers of 64 bits, of which no bit is lost. Its logarithm to the base of 2 has 20 bits after the
    point, as in log_softmax, and then come the units of all these numbers, which are a constant for each band, and one
    factor to steps of the output.
    """

    name = "log_mel"
    targets = ("cmsis_nn_delegate.log_mel.default",)
    whole = targets
    annotation = Samples(targets)
    attrs = LogMelAttrs
    kernels = (kernel(I8), kernel(I16))
    layouts = Layouts.ROW_MAJOR
    elements = None
    converts = True
    limits = (
        "energies of sound in bands of frequencies, of samples in int16: cmsis_nn_delegate.frontend.LogMel and Mfcc; "
        f"transforms of {spectrum.LENGTHS[0]} to {spectrum.LENGTHS[-1]} samples, windows and bands that are constant",
    )

    def check(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        samples, window, bank, hop, fft_length, power, eps, gain = context.arguments(node)
        return first(
            lambda: context.refuse_tensors(node, samples),
            lambda: refuse_variable({"window": window, "bank": bank}, context),
            lambda: _refuse_numbers(shape_of(window), shape_of(bank), hop, fft_length, power, eps, gain),
            lambda: context.refuse_quant(node, [samples]),
            lambda: refuse_narrow("samples", samples, context),
            lambda: context.refuse_elements(node, KERNEL_ELEMENTS, []),
        )

    def check_data(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        try:
            self._constants(node, context)
            _step(context.arguments(node)[7], context.output_scale(node))
        except ValueError as error:
            return Refusal(Reason.UNSUPPORTED_PARAMETER, str(error))
        return None

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        _, _, _, hop, _, power, _, gain = context.arguments(node)
        constants = self._constants(node, context)
        return [
            context.node(node, self.name, [context.value(operand(node)), *constants], LogMelAttrs(hop, power, gain))
        ]

    @staticmethod
    def _constants(node: EdgeNode, context: EdgeContext) -> list[Value]:
        samples, *reals, _, fft_length, power, eps, _ = context.arguments(node)
        window, bank = (floats(source, context) for source in reals)
        return constants_of(node.name, window, bank, fft_length, power, eps, context.input_scale(samples))

    def output_shape(self, inputs: Sequence[Value], attrs: Any) -> tuple[int, ...]:
        *batch, samples = inputs[0].shape
        return (*batch, (samples - inputs[1].shape[0]) // attrs.hop + 1, inputs[3].shape[0])

    def macs(self, node: Node) -> int:
        counts = self.features(node).counts
        return counts["samples"] + 4 * (counts["butterflies"] + counts["bins"]) + counts["taps"]

    def features(self, node: Node) -> Features:
        sizes = self.sizes(node)
        half, frames = sizes.fft_length // 2, sizes.batch * sizes.frames
        counts = {
            "frames": 1,
            "samples": sizes.frame_length,
            "zeros": half - sizes.frame_length // 2,
            "stages": half.bit_length() - 1,
            "butterflies": half // 2 * (half.bit_length() - 1),
            "bins": half,
            "taps": sizes.taps,
            "bands": sizes.bands,
        }
        return Features({name: frames * count for name, count in counts.items()}, f"power {node.attrs.power}")

    def scratch_bytes(self, node: Node) -> int:
        return 8 * (self.sizes(node).fft_length // 2 + 1)

    @staticmethod
    def sizes(node: Node) -> Sizes:
        samples, window, factors, first_bins, _, weights = node.inputs[:6]
        *batch, frames, bands = node.output.shape
        length, hop = samples.shape[-1], node.attrs.hop
        return Sizes(
            math.prod(batch), length, hop, frames, window.numel, factors.numel, first_bins.numel, weights.numel
        )

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        sizes = self.sizes(node)
        window, factors, first_bins, counts, weights, floors, offsets = (
            value.constant.astype(np.int64) for value in node.inputs[1:]
        )
        data = inputs[0].reshape(sizes.batch, sizes.samples).astype(np.int64)
        starts = sizes.hop * np.arange(sizes.frames)[:, None]
        frames = np.zeros((sizes.batch, sizes.frames, sizes.fft_length), np.int64)
        frames[..., : sizes.frame_length] = data[:, starts + np.arange(sizes.frame_length)] * window
        real, imaginary = spectrum.scaled_spectrum(frames, factors)
        energies = real * real + imaginary * imaginary
        energies = energies >> ENERGY_SHIFT if node.attrs.power == 2 else spectrum.square_root(energies)
        sums = np.empty((sizes.batch, sizes.frames, sizes.bands), np.uint64)
        tap = 0
        for band, (start, count) in enumerate(zip(first_bins, counts)):
            together = energies[..., start : start + count] @ weights[tap : tap + count]
            sums[..., band] = together.astype(np.uint64) + np.uint64(floors[band])
            tap += count
        logarithms = log2(sums, 0) + offsets
        shift = LOG_BITS + _STEP_BITS
        steps = logarithms * _step(node.attrs.gain, node.output.scale) + (1 << shift - 1) >> shift
        output = node.output
        return output.type.clamp(steps + output.zero_point).astype(output.element.numpy).reshape(output.storage_shape)

    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        names = self.kernels[0].args.names_of(Role.FILTER)
        return {name: value.constant for name, value in zip(names, node.inputs[1:])}

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        return {
            **refs,
            **self.sizes(node)._asdict(),
            "power": node.attrs.power,
            "step": _step(node.attrs.gain, node.output.scale),
            "output_offset": node.output.zero_point,
            "scratch_bytes": scratch_bytes,
        }


def constants_of(
    name: str, window: np.ndarray, bank: np.ndarray, fft_length: int, power: int, eps: float, scale: float
) -> list[Value]:
    """Returns the constants of the kernel, for a window [frame_length] and a bank [bins, bands] in float64, and samples
    in steps of `scale`. ValueError if the kernel cannot compute with them."""
    if not (np.isfinite(window).all() and np.isfinite(bank).all()):
        raise ValueError("its window or bank is not finite")
    if bank.min() < 0:
        raise ValueError("its bank has negative weights, and a logarithm needs energies that are none")
    most = float(np.abs(window).max()) or 1.0
    # The unit of magnitudes, and then that of what a band sums up.
    unit = fft_length * scale * most / SAMPLE.high
    unit = unit if power == 1 else unit**2 * 2.0**ENERGY_SHIFT
    units, floors, first_bins, counts, weights = [], [], [], [], []
    for band in bank.T:
        largest = float(band.max()) or 1.0
        taps = np.rint(band * (SAMPLE.high / largest)).astype(np.int16)
        used = np.flatnonzero(taps)
        start, stop = (int(used[0]), int(used[-1]) + 1) if used.size else (0, 0)
        units.append(unit * largest / SAMPLE.high)
        floors.append(max(round(eps / units[-1]), 1))
        first_bins.append(start)
        counts.append(stop - start)
        weights.append(taps[start:stop])
    if max(floors) > _MOST_FLOOR:
        raise ValueError(f"its eps of {eps:g} is more than the loudest sound: take a smaller one")
    together = np.concatenate(weights)
    arrays = {
        "window": np.rint(window * (SAMPLE.high / most)).astype(np.int16),
        "factors": spectrum.factors(fft_length),
        "first_bins": np.array(first_bins, np.int16),
        "bin_counts": np.array(counts, np.int16),
        "weights": together if together.size else np.zeros(1, np.int16),
        "floors": np.array(floors, np.int64),
        "offsets": np.rint(np.log2(units) * 2.0**LOG_BITS).astype(np.int32),
    }
    return [
        Value(f"{name}_{key}", TensorType(Element(data.dtype.name), data.shape), data) for key, data in arrays.items()
    ]


def _step(gain: float, scale: float) -> int:
    """Returns gain * ln(2) in steps of `scale`, Q16. ValueError if that has more than 31 bits."""
    step = round(gain * math.log(2) / scale * 2.0**_STEP_BITS)
    if step >= 2**31:
        raise ValueError(f"the scale of its output, {scale:g}, is too small for its gain of {gain:g}")
    return step


def refuse_narrow(name: str, source: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
    """Refuses an operand, which messages call `name`, that is not int16."""
    element = context.operand_element(source)
    if element is SAMPLE:
        return None
    found = "nothing" if element is None else element.value
    return Refusal(
        Reason.UNSUPPORTED_QUANTIZATION,
        f"its {name} are {found}, and the kernel takes {SAMPLE.value}: {context.requantize}, which gives it those",
    )


def refuse_variable(sources: Mapping[str, EdgeNode], context: EdgeContext) -> Optional[Refusal]:
    """Refuses operands, by what messages call them, that are no constants in float."""
    for name, source in sources.items():
        constant = context.constant_float(source)
        if constant is None or constant.quantized:
            return Refusal(
                Reason.NOT_CONSTANT, f"its {name} is not a constant in float; make it a buffer of the module"
            )
    return None


def _refuse_numbers(
    window: Sequence[int], bank: Sequence[int], hop: int, fft_length: int, power: int, eps: float, gain: float
) -> Optional[Refusal]:
    """Refuses parameters that the kernel has no numbers for. PyTorch has refused shapes that do not fit together."""
    why = ""
    if fft_length not in spectrum.LENGTHS:
        why = f"fft_length is {fft_length}, and not a power of two from {spectrum.LENGTHS[0]} to {spectrum.LENGTHS[-1]}"
    elif window[0] > fft_length:
        why = f"its window has {window[0]} samples, and fft_length is {fft_length}: take the next power of two"
    elif bank[0] != fft_length // 2 + 1:
        why = f"its bank has {bank[0]} rows, and the spectrum {fft_length // 2 + 1} bins"
    elif power not in _POWERS:
        why = f"power is {power}, and not 1 (magnitudes) or 2 (energies)"
    elif hop < 1:
        why = f"hop is {hop}, and not at least 1"
    elif not eps > 0:
        why = f"eps is {eps:g}: silence has no logarithm without a number above 0, such as 1e-6"
    elif not gain > 0:
        why = f"gain is {gain:g}, and not above 0"
    return Refusal(Reason.UNSUPPORTED_PARAMETER, why) if why else None


def _draw(d: Case, element: Element) -> Value:
    """Of windows and banks as people have them, and of any; frames that overlap, follow each other or lie apart; loud
    samples, and silence or nearly that, whose sums are small."""
    fft_length = d.pick(32, 32, 64, 128, d.pick(*spectrum.LENGTHS[:6]))
    frame_length = d.pick(fft_length, d.integer(1, fft_length), d.integer(fft_length // 2, fft_length))
    hop = d.pick(frame_length, max(frame_length // 2, 1), d.integer(1, 2 * frame_length))
    samples = frame_length + hop * d.integer(0, 3) + d.integer(0, hop - 1)
    shape = d.pick((samples,), (1, samples), (d.integer(1, 3), samples))
    bins, bands = fft_length // 2 + 1, d.pick(1, d.integer(1, 12), d.integer(1, 40))
    scale = 2.0**-15
    quant = Quant((scale,), 0)
    quiet = d.pick(None, None, 0, 1)
    if quiet is None:
        x = d.input(*shape, element=SAMPLE, quant=quant)
    else:
        x = d.constant(shape, SAMPLE, -quiet, quiet, quant)
    window = d.pick(np.hanning(frame_length + 2)[1:-1], np.ones(frame_length), d.random.normal(size=frame_length))
    centres = np.sort(d.random.uniform(0, bins, bands))
    width = d.random.uniform(0.1, bins / 2)
    bank = np.maximum(1 - np.abs(np.arange(bins)[:, None] - centres) / width, 0) * d.random.uniform(0.01, 2, bands)
    power, eps = d.pick(*_POWERS), float(10.0 ** d.random.uniform(-12, 0))
    constants = constants_of(f"c{len(d.nodes)}", window, bank, fft_length, power, eps, scale)
    attrs = LogMelAttrs(hop, power, d.pick(1.0, 0.5, 10 / math.log(10)))
    # Values from the logarithm of eps to that of the loudest sound fill a part of the range, or exceed it.
    steps = d.quant(float(2.0 ** d.random.uniform(-5, 0)) * 2.0 ** (8 - element.bits), element=element)
    output = d.node("log_mel", [x, *constants], attrs, steps)
    output.retype(element=element)
    return output


LogMel.draws = (lambda d: _draw(d, Element.INT8), lambda d: _draw(d, Element.INT16))
