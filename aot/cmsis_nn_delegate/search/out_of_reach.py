"""Why no formats keep the limits, how close the search came, and what the user can do: `out_of_reach`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from ..edge.naming import module_of
from ..precision.formats import FORMATS
from ..precision.layers import Layer
from ..precision.problem import Assignment
from ..support.errors import UserError
from .limits import Limits
from .result import Outcome
from .subject import APART, Subject, Tried, apart

_NAMED = 3
_NAMED_FROM = 0.01  # of the noise
_QUIET = 1e-10  # of the signal: the noise that float32 has by itself is of this size
_FLOAT32 = next(number for number, given in enumerate(FORMATS) if given.name == "float32")


def out_of_reach(model: Subject, limits: Limits) -> UserError:
    """Returns the error for `model`, of which no assignment that was tried keeps the limits on the device."""
    noisy = {a: tried for a, tried in model.tried.items() if _lost_on_device(model, limits, tried)}
    near, tried = max(
        (noisy or model.tried).items(), key=lambda item: limits.closeness(item[1].sample, model.some_exact)
    )
    if noisy:
        found = (
            f"no formats keep {limits} on the device: {model.described(near)}, with {tried.in_torch} in PyTorch, has "
            f"{tried.sample} there"
        )
    else:
        found = f"no formats keep {limits}: the closest found is {model.described(near)}, with {tried.sample}"
    return UserError(f"{found}. {'. '.join(_advice(model, limits, near, tried, bool(noisy)))}", exit_code=1)


def _lost_on_device(model: Subject, limits: Limits, tried: Tried) -> bool:
    """Returns whether formats keep the limits in PyTorch, and the device is so different that it does not."""
    exact = tried.in_torch
    return exact is not None and limits.kept(exact, model.exact) and apart(exact, tried.sample) > APART


def _advice(model: Subject, limits: Limits, near: Assignment, tried: Tried, noisy: bool) -> Iterator[str]:
    """Yields sentences without a full stop, at least one."""
    if limits.of_labels and model.exact.right < limits.least_right(model.exact):
        yield (
            f"The float model itself has {model.exact.right} of {model.exact.rows} labels right, and formats only come "
            "close to it: ask for less, say by how much it may be worse (--max-drop), or train the model further"
        )
        return
    left = [outcome for outcome in model.no_choice if limits.kept(outcome.figures, model.some_exact)]
    if left and not noisy:
        yield _left_out(model, left[0])
        return
    weights, rounding = model.problem.noise_of_layers(near)
    noise = weights + rounding
    if float(noise.sum()) < _QUIET:
        # Of labels the float model itself would be out of reach, so that there is a limit in dB.
        at_most = "" if tried.sample.sqnr is None else f": ask for {math.floor(tried.sample.sqnr)} dB or less"
        yield (
            "Nothing in it is rounded to integers. What is left is float32 itself, in which PyTorch adds in another "
            f"order, and no format comes closer{at_most}"
        )
        return
    if noisy:
        yield (
            "That is what kernels approximate and PyTorch does not, such as softmax, norms and functions by tables: "
            "`cmsisnn accuracy` shows both for each layer. format: float32 under module_names of --quantizer computes "
            "those that differ in float, in the delegate"
        )
        return
    rows = [int(row) for row in np.argsort(-noise, kind="stable") if noise[row] > _NAMED_FROM * noise.sum()][:_NAMED]
    layers = list(model.measured.layers[0].values())
    if rows:
        causes = ", ".join(
            f"{_named(layers[row])} ({100 * noise[row] / noise.sum():.0f} %, "
            f"{'its weights' if weights[row] > rounding[row] else 'its tensor'})"
            for row in rows
        )
        yield f"Most of the noise that is left comes from {causes}"
    else:
        yield "The noise that is left comes from many layers, of which none has much"
    yield from _remedies(model, [layers[row] for row in rows] or layers, bool(weights.sum() > noise.sum() / 2))


def _left_out(model: Subject, outcome: Outcome) -> str:
    """Returns why the search did not take a format throughout that keeps the limits."""
    reasons = list(
        dict.fromkeys(
            f"{unit or 'the model itself'}: {reason}"
            for unit, formats in model.left_out.items()
            for number, reason in formats.items()
            if outcome.name.startswith(f"{FORMATS[number].name} ")
        )
    )
    found = f"{outcome.name[0].upper()}{outcome.name[1:]}, with {outcome.figures}, was not a choice"
    if not reasons:
        return f"{found}, because modules at inputs and outputs have the type of --io {model.asked.io}: leave out --io"
    name = outcome.name.partition(" ")[0]
    return (
        f"{found}, because it was left out for {'; '.join(reasons[:_NAMED])}. To have it all the same, compile without "
        f"a limit and with format: {name} under everywhere of --quantizer"
    )


def _remedies(model: Subject, layers: Sequence[Layer], by_weights: bool) -> Iterator[str]:
    """Yields what would help with `layers`, which have the most noise where formats are as exact as they can be."""
    pinned = [_named(layer) for layer in layers if layer.pinned]
    left = {
        layer.unit or "the model itself": model.left_out[layer.unit][_FLOAT32]
        for layer in layers
        if layer.unit is not None and _FLOAT32 in model.left_out.get(layer.unit, {})
    }
    if pinned:
        yield f"The search keeps the formats that --quantizer gives: without those of {_listed(pinned)} it can choose"
    if left:
        yield (
            "The search leaves out float32 for "
            f"{'; '.join(f'{unit}: {reason}' for unit, reason in left.items())}. "
            "format: float32 for these under module_names of --quantizer gives it to them all the same"
        )
    if not model.asked.io.is_float:
        yield f"With --io {model.asked.io} the modules at inputs and outputs keep that type: float and int16 are finer"
    if pinned or left:
        return
    if by_weights:
        yield (
            "Most of it is that of weights: training with quantization (prepare_qat_pt2e, CmsisNnQuantizer(qat=True)) "
            "adapts them"
        )
    elif model.asked.io.is_float:
        yield (
            "No format here makes these finer: skip: true for them under module_names of --quantizer leaves them to "
            "ExecuTorch's kernels in float, outside of the delegate"
        )


def _named(layer: Layer) -> str:
    return module_of(layer.noise.node) or layer.name


def _listed(names: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(names))
