"""Bands with automatic gain are those of the formula, in float and in a compiled model, also one that streams."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from cmsis_nn_delegate import CmsisNnQuantizer, QuantizationConfig, Stream, UserError, compile_model, reference
from cmsis_nn_delegate.frontend import LogMel, Pcen
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster

make_torch_faster()

RATE, HOP, BANDS = 16000, 160, 40
LEVELS = (-10, -40, -70)  # dBFS
INT16 = CmsisNnQuantizer().set_global(QuantizationConfig(format="int16"))


def sound(seed: int, level_db: float, samples: int = RATE) -> torch.Tensor:
    """Returns float32 [1, samples]: a chirp in noise, of 16 bits."""
    random = np.random.default_rng(seed)
    t = np.arange(samples) / RATE
    wave = 0.7 * np.sin(2 * np.pi * (200 * t + 900 * t * t)) + 0.1 * random.normal(size=samples)
    steps = np.rint(wave / np.abs(wave).max() * 10 ** (level_db / 20) * 2**15)
    return torch.from_numpy((steps / 2**15).astype(np.float32).reshape(1, -1))


class Features(nn.Module):
    """Frames of 30 ms, whose first one begins before the sound, as a stream has them."""

    def __init__(self, **parameters):
        super().__init__()
        self.log_mel = LogMel(RATE, window_length=480, hop=HOP, bands=BANDS)
        self.pcen = Pcen(BANDS, **parameters)

    def forward(self, samples):
        return self.pcen(self.log_mel(F.pad(samples, (480 - HOP, 0))))


class Spotter(nn.Module):
    def __init__(self, **parameters):
        super().__init__()
        torch.manual_seed(0)
        self.features = Features(**parameters)
        self.conv = nn.Conv1d(BANDS, 8, 3)
        self.out = nn.Linear(8, 4)

    def forward(self, samples):
        bands = self.features(samples).transpose(1, 2)
        return self.out(self.conv(F.pad(bands, (2, 0))).relu()[:, :, -1])


def expected(energies: np.ndarray, smooth, alpha, delta, root) -> np.ndarray:
    """Returns what Wang et al. compute of energies [frames, bands] in float64, with eps added to both."""
    mean, found = energies[0], []
    for energy in energies:
        mean = (1 - smooth) * mean + smooth * energy
        found.append((energy / mean**alpha + delta) ** root - delta**root)
    return np.stack(found)


# Modules --------------------------------------------------------------------

_NUMBERS = {
    "smooth": st.floats(0.001, 0.99),
    "alpha": st.floats(0, 1),
    "delta": st.floats(0.01, 10),
    "root": st.floats(0.05, 1),
}


@given(parameters=st.fixed_dictionaries(_NUMBERS), per_band=st.booleans(), seed=st.integers(0, 99))
@settings(max_examples=50, deadline=None)
def test_it_is_its_formula(parameters, per_band, seed):
    logarithms = torch.randn(2, 12, 5, generator=torch.Generator().manual_seed(seed)) * 3
    given_ = {key: torch.full((5,), value) if per_band else value for key, value in parameters.items()}
    module = Pcen(5, **given_)
    found = module(logarithms).detach()
    torch.testing.assert_close(module(logarithms[1]).detach(), found[1])
    for batch in range(2):
        exact = expected(np.exp(logarithms[batch].double().numpy()), **parameters)
        np.testing.assert_allclose(found[batch].numpy(), exact, rtol=2e-3, atol=2e-4)


def test_means_go_on_from_a_state():
    """The operator itself: two halves with the state between them are the whole."""
    logarithms = torch.randn(1, 20, 3, generator=torch.Generator().manual_seed(0))
    numbers = [torch.tensor(value) for value in (0.1, 0.9, 2.0, 0.5)]
    operators, state, parts = torch.ops.cmsis_nn_delegate, torch.zeros(1, 3), []
    for half in logarithms.split(10, 1):
        parts.append(operators.pcen(half, state, *numbers))
        state = operators.pcen_last(parts[-1], half, state, *numbers)
    whole = operators.pcen(logarithms, torch.zeros(1, 3), *numbers)
    torch.testing.assert_close(torch.cat(parts, 1), whole)


def test_a_louder_copy_becomes_the_same():
    """With an alpha of 1, what is always there goes."""
    module, logarithms = Pcen(4, alpha=1.0), torch.randn(1, 30, 4, generator=torch.Generator().manual_seed(1))
    torch.testing.assert_close(module(logarithms + 5), module(logarithms), rtol=1e-4, atol=1e-4)


def test_all_parameters_and_energies_have_gradients():
    module = Pcen(3, smooth=torch.tensor([0.1, 0.2, 0.3]), trainable=True).double()
    x = torch.randn(2, 9, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).requires_grad_()
    state = torch.zeros(2, 3, dtype=torch.float64)
    names = ("smooth", "alpha", "delta", "root")
    leaves = [getattr(module, name).detach().requires_grad_() for name in names]
    assert torch.autograd.gradcheck(lambda x, *rest: torch.ops.cmsis_nn_delegate.pcen(x, state, *rest), (x, *leaves))
    module(x).sum().backward()
    assert all(bool((getattr(module, name).grad != 0).all()) for name in names)
    assert not any(parameter.requires_grad for parameter in Pcen(3).parameters())


@pytest.mark.parametrize(
    "arguments, message",
    [
        (dict(bands=0), "bands is 0"),
        (dict(bands=4, smooth=0.0), "smooth has to be from 0.000976562 to 0.999023, and is 0.0"),
        (dict(bands=4, smooth=torch.full((4,), torch.nan)), "smooth has to be"),
        (dict(bands=4, alpha=1.1), "alpha has to be from 0 to 1"),
        (dict(bands=4, delta=0.0), "delta has to be from"),
        (dict(bands=4, root=0.0), "root has to be from 0.015625 to 1"),
        (dict(bands=4, delta=torch.ones(3)), r"delta has the shape \[3\]: give a number, or a tensor \[4\]"),
    ],
)
def test_parameters_that_no_kernel_computes(arguments, message):
    with pytest.raises(UserError, match=message):
        Pcen(**arguments)


def test_other_bands_than_it_has():
    with pytest.raises(UserError, match=r"energies \[1, 9, 5\] have to be \[..., frames, 4\]"):
        Pcen(4)(torch.zeros(1, 9, 5))


# Compiled -------------------------------------------------------------------


@pytest.mark.parametrize(
    "parameters, decibels",
    [
        ({}, 0.1),
        # Means of 16 bits stop where a frame would move them by less than half a step.
        (dict(smooth=2.0**-10), 2.0),
        (
            dict(smooth=torch.linspace(0.02, 0.4, BANDS), alpha=0.8, delta=torch.linspace(0.5, 10, BANDS), root=0.25),
            0.1,
        ),
    ],
    ids=["default", "slow", "per band"],
)
def test_results_of_16_bits_are_those_of_float(parameters, decibels):
    """Errors are those of an energy in decibels, where that is at least half of what it is divided by."""
    net = Features(**parameters).eval()
    data = [(sound(seed, level),) for seed, level in enumerate(LEVELS)]
    module = compile_model(net, data[0], "cortex-m4", data, quantizer=INT16, io="quantized", strict=True)
    assert [call.kernel for call in module.report.calls if call.kernel.startswith("pcen")] == ["pcen_int16"]
    (output,) = module.report.outputs
    exact_net = Features(**parameters).double()
    delta, root = (exact_net.pcen.get_parameter(name).detach().numpy() for name in ("delta", "root"))
    for seed, level in enumerate(LEVELS):
        x = sound(10 + seed, level)
        (found,) = reference.run(module.graph, [np.rint(x.numpy() * 2**15).astype(np.int16)])
        exact = exact_net(x.double()).detach().numpy()
        error = found * output.scale - exact
        ratio = (exact + delta**root) ** (1 / root) - delta  # E / M^alpha
        slope = root * (ratio + delta) ** (root - 1) * ratio * np.log(10) / 10
        assert np.abs(error / slope)[ratio >= 0.5].max() <= decibels
        assert np.abs(error).max() <= 0.01 * exact.max()


def test_logarithms_and_means_have_16_bits_and_the_result_8():
    module = compile_model(
        Spotter().eval(), (sound(0, -20),), "cortex-m4", [(sound(seed, -20),) for seed in range(4)], io="quantized"
    )
    types = {call.kernel: call.output_types for call in module.report.calls}
    assert types["log_mel_int16"] == ("int16",) and types["pcen"] == ("int8", "int16")
    assert module.report.inputs[0].scale == 2.0**-15


def test_logarithms_may_be_an_input():
    """Which is no sound, and so has the scale that calibration finds."""
    data = [(torch.randn(1, 20, 6, generator=torch.Generator().manual_seed(seed)) * 4 - 5,) for seed in range(8)]
    net = Pcen(6).eval()
    module = compile_model(net, data[0], "cortex-m4", data, quantizer=INT16, io="quantized", strict=True)
    (x,), (output,) = module.report.inputs, module.report.outputs
    assert x.dtype == "int16" and x.scale > 1e-4
    for (logarithms,) in data:
        (found,) = reference.run(module.graph, [np.rint(logarithms.numpy() / x.scale).astype(np.int16)])
        np.testing.assert_allclose(found * output.scale, net(logarithms).detach().numpy(), atol=0.01)


@pytest.mark.parametrize("hop", [HOP, 2 * HOP])
def test_a_stream_gives_what_the_whole_clip_does(hop):
    """The compiler compares both, byte by byte: means go on from one inference to the next."""
    data = [(sound(seed, level),) for seed, level in enumerate(LEVELS)]
    module = compile_model(
        Spotter().eval(), data[0], "cortex-m4", data, io="quantized", strict=True, stream=Stream(dim=1, hop=hop)
    )
    assert module.report.stream.compared > 0 and module.report.stream.since_start
    (call,) = [call for call in module.report.calls if call.kernel == "pcen"]
    assert call.outputs == ((1, hop // HOP, BANDS), (1, BANDS))


def test_a_model_that_keeps_means_gives_what_the_whole_does():
    """A frame or two at a time, with the same scales: then the bytes are the same."""
    whole = torch.randn(1, 24, 6, generator=torch.Generator().manual_seed(0)) * 4 - 5
    quantizer = CmsisNnQuantizer().set_global(QuantizationConfig(format="int16"))
    quantizer.set_range("input", -20, 20).set_range("pcen", -4, 4)

    def compiled(data, **options):
        net = nn.Sequential()
        net.add_module("pcen", Pcen(6, **options))
        return compile_model(net.eval(), data[0], "cortex-m4", data, quantizer=quantizer, io="quantized", strict=True)

    clip = compiled([(whole,)])
    x = np.rint(whole.numpy() / clip.report.inputs[0].scale).astype(np.int16)
    (expected_,) = reference.run(clip.graph, [x])
    for frames in (1, 2):
        pieces = compiled([(piece,) for piece in whole.split(frames, 1)], keep=True)
        assert "pcen_int16" in [call.kernel for call in pieces.report.calls]
        states = reference.initial_states(pieces.graph)
        found = [reference.run(pieces.graph, [piece], states=states)[0] for piece in np.split(x, 24 // frames, 1)]
        assert np.array_equal(np.concatenate(found, 1), expected_)


def test_kept_means_are_of_one_sequence():
    with pytest.raises(UserError, match=r"energies \[2, 9, 4\] have to be \[1, frames, 4\]"):
        Pcen(4, keep=True)(torch.zeros(2, 9, 4))


def test_a_stream_along_the_bands_is_refused():
    data = [(torch.randn(1, 8, 6, generator=torch.Generator().manual_seed(seed)),) for seed in range(4)]
    with pytest.raises(UserError, match="stream along the frames, the last dimension but one"):
        compile_model(Pcen(6).eval(), data[0], "cortex-m4", data, stream=Stream(dim=2, hop=1))


def test_it_may_stay_in_float():
    """Outside of the delegate, where PyTorch's operators compute it."""
    data = [(sound(seed, -20, RATE // 4),) for seed in range(4)]
    quantizer = CmsisNnQuantizer().set_module_name("features.pcen", None)
    module = compile_model(Spotter().eval(), data[0], "cortex-m4", data, quantizer=quantizer)
    kernels = [call.kernel for part in module.part_reports for call in part.calls]
    assert "log_mel" in kernels and not any(kernel.startswith("pcen") for kernel in kernels)
    assert "pcen" not in " ".join(module.warnings)


def direct(numbers, computed=False):
    """Returns a module that calls the operator itself, which checks nothing."""

    class Direct(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("state", torch.zeros(1, 4))
            for index, number in enumerate(numbers):
                self.register_buffer(f"number{index}", torch.tensor(number))

        def forward(self, x):
            smooth = self.number0 * x.square().mean() if computed else self.number0
            rest = (self.number1, self.number2, self.number3)
            return torch.ops.cmsis_nn_delegate.pcen(x, self.state, smooth, *rest)

    return Direct().eval()


@pytest.mark.parametrize(
    "module, message",
    [
        (direct((0.1, 0.9, 2.0, 0.5), computed=True), "its smooth is not a constant"),
        (direct((1.0, 0.9, 2.0, 0.5)), "its smooth is 1, and has to be from"),
        (direct((0.1, 2.0, 2.0, 0.5)), "its alpha is 2, and has to be from 0 to 1"),
        (direct((0.1, 0.9, 0.0, 0.5)), "its delta is 0"),
        (direct((0.1, 0.9, 2.0, 0.001)), "its root is 0.001"),
        (direct((0.1, 0.9, 2.0**30, 1.0)), "too small for its delta"),
    ],
)
def test_calls_that_no_kernel_computes_are_refused(module, message):
    data = [(torch.randn(1, 8, 4, generator=torch.Generator().manual_seed(seed)),) for seed in range(4)]
    with pytest.raises(UserError, match=message):
        compile_model(module, data[0], "cortex-m4", data, strict=True)
