"""Features of sound are those of their formulas, and a compiled model computes them from samples of 16 bits."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.fft
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from cmsis_nn_delegate import CmsisNnQuantizer, QuantizationConfig, Stream, UserError, compile_model, reference
from cmsis_nn_delegate.frontend import LogMel, Mfcc, mel_bank
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster

make_torch_faster()

RATE = 16000


def sound(seed: int, samples: int = 4000, level_db: float = -20.0) -> torch.Tensor:
    """Returns float32 [1, samples]: two tones, which rise, in noise."""
    random = np.random.default_rng(seed)
    t = np.arange(samples) / RATE
    tones = sum(np.sin(2 * np.pi * (f * t + 900 * t * t)) for f in random.uniform(100, 4000, 2))
    wave = tones / 2 + 0.01 * random.normal(size=samples)
    limited = np.clip(wave * 10 ** (level_db / 20), -1, 1 - 2**-15)
    return torch.from_numpy(limited.astype(np.float32).reshape(1, -1))


class Net(nn.Module):
    def __init__(self, features: nn.Module, bands: int):
        super().__init__()
        torch.manual_seed(0)
        self.features = features
        self.conv = nn.Conv1d(bands, 16, 3)
        self.out = nn.Linear(16, 4)

    def forward(self, samples):
        return self.out(self.conv(self.features(samples).transpose(1, 2)).relu().mean(-1))


def compiled(features: nn.Module, **options):
    data = [(sound(seed, level_db=-60 + 3 * seed),) for seed in range(20)]
    return compile_model(features.eval(), data[0], "cortex-m4", data, **options)


# Banks ----------------------------------------------------------------------


@given(
    rate=st.sampled_from([8000, 16000, 44100]),
    fft_length=st.sampled_from([512, 1024, 2048]),
    bands=st.integers(1, 20),
    scale=st.sampled_from(["htk", "slaney"]),
    triangles=st.sampled_from(["hz", "mel"]),
)
@settings(max_examples=60, deadline=None)
def test_neighbours_of_a_bank_add_up_to_one(rate, fft_length, bands, scale, triangles):
    """Between the first and the last centre: where one filter falls, the next rises."""
    bank = mel_bank(rate, fft_length, bands, 100, scale=scale, triangles=triangles)
    assert bank.shape == (fft_length // 2 + 1, bands)
    inside = torch.nonzero(bank.sum(1)).flatten()
    peaks = bank.argmax(0)
    assert bool((bank >= 0).all())
    sums = bank[int(peaks[0]) + 1 : int(peaks[-1])].sum(1)
    assert torch.allclose(sums, torch.ones_like(sums), atol=1e-5)
    assert inside[0] * rate / fft_length >= 100


def test_scales_have_their_published_values():
    """1 kHz is 1000 mel of HTK's scale, and 15 of Slaney's, whose 6.4 kHz are 27 further."""
    # With two bands, edges are 0, a third, two thirds, and all of the mels.
    bank = mel_bank(12800, 4096, 2, 0, scale="slaney")
    centres = bank.argmax(0) * 12800 / 4096
    assert centres.tolist() == pytest.approx([14 * 200 / 3, 1000 * math.exp(13 * math.log(6.4) / 27)], abs=2)
    bank = mel_bank(RATE, 4096, 1, 0, 700 * (10 ** (2000 / 2595) - 1))
    assert float(bank.argmax(0)) * RATE / 4096 == pytest.approx(700 * (10 ** (1000 / 2595) - 1), abs=2)


def test_slaneys_norm_gives_filters_of_one_area():
    bank = mel_bank(RATE, 4096, 20, 100, norm="slaney").double()
    assert torch.allclose(bank.sum(0) * RATE / 4096, torch.ones(20, dtype=torch.float64), rtol=0.02)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (dict(low=5000, high=4000), "low has to be below high"),
        (dict(high=9000), "at most half of the sample rate, 8000 Hz"),
        (dict(bands=0), "bands is 0"),
        (dict(scale="bark"), "'bark' is none of 'htk', 'slaney'"),
        (dict(bands=128), "lies between two bins of the spectrum, which are 31.25 Hz apart"),
    ],
)
def test_banks_that_make_no_sense(arguments, message):
    with pytest.raises(UserError, match=message):
        mel_bank(**{"sample_rate": RATE, "fft_length": 512, "bands": 40, **arguments})


# Modules --------------------------------------------------------------------


@pytest.mark.parametrize("power", [1, 2])
def test_log_mel_is_its_formula(power):
    features = LogMel(RATE, window_length=400, hop=160, bands=20, power=power, eps=1e-5, gain=2.0, window="hamming")
    x = sound(3).double().numpy()[0]
    n = np.arange(400)
    window = 0.54 - 0.46 * np.cos(2 * np.pi * n / 400)
    frames = np.stack([x[start : start + 400] * window for start in range(0, len(x) - 399, 160)])
    energies = np.abs(np.fft.rfft(frames, 512)) ** power
    expected = 2.0 * np.log(energies @ features.bank.double().numpy() + 1e-5)
    np.testing.assert_allclose(features(sound(3))[0].numpy(), expected, atol=1e-3)


def test_mfcc_is_the_orthonormal_dct():
    features = Mfcc(RATE, coefficients=12, bands=24, low=100)
    expected = scipy.fft.dct(features.log_mel(sound(1)).numpy(), norm="ortho")[..., :12]
    np.testing.assert_allclose(features(sound(1)).numpy(), expected, atol=1e-3)


def test_gradients_reach_the_samples_and_the_bank():
    """For training that changes the sound, or learns a bank."""
    features = LogMel(RATE, bands=10).double()
    x, bank = sound(1, 900).double().requires_grad_(), features.bank.requires_grad_()
    (features(x) ** 2).sum().backward()
    step, where = 1e-6, (0, 300)
    moved = x.detach().clone()
    moved[where] += step
    slope = ((features(moved) ** 2).sum() - (features(x.detach()) ** 2).sum()) / step
    assert float(x.grad[where].detach()) == pytest.approx(float(slope.detach()), rel=1e-3)
    assert bool(torch.isfinite(bank.grad).all()) and bool((bank.grad != 0).any())


@pytest.mark.parametrize(
    "arguments, message",
    [
        (dict(fft_length=500), "has to be a power of two"),
        (dict(fft_length=256), "a window has 480 samples: take a longer one"),
        (dict(power=3), "power is 3"),
        (dict(eps=0.0), "both have to be above 0"),
        (dict(eps=math.inf), "and finite"),
        (dict(hop=320.5), "hop"),
        (dict(window=np.hanning(480)), "window"),
        (dict(n_mels=40), "LogMel has no parameter 'n_mels'"),
        (dict(window="hamm"), "did you mean 'hamming'"),
        (dict(window=torch.ones(3)), r"has to have \[480\]"),
        (dict(bank=torch.ones(3, 3)), "a spectrum 257 bins"),
        (dict(bank=-torch.ones(257, 3)), "negative weights"),
        (dict(bank=torch.ones(257, 3), scale="htk"), "a bank of your own is taken as it is"),
    ],
)
def test_parameters_that_no_kernel_computes(arguments, message):
    with pytest.raises(UserError, match=message):
        LogMel(RATE, **arguments)


def test_fewer_samples_than_a_window():
    with pytest.raises(UserError, match="100 samples are fewer than a window has, 480"):
        LogMel()(torch.zeros(1, 100))


# Compiled -------------------------------------------------------------------


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("level", [0, -40, -66])
def test_features_of_16_bits_are_those_of_float(level, power):
    """At -66 dB a tone is 16 steps of a sample high."""
    features = LogMel(RATE, power=power)
    module = compiled(
        features, io="quantized", quantizer=CmsisNnQuantizer().set_global(QuantizationConfig(format="int16"))
    )
    wave = sound(50, level_db=level)
    samples = np.rint(wave.numpy() * 2**15).astype(np.int16)
    (found,) = reference.run(module.graph, [samples])
    (output,) = module.report.outputs
    exact = features(torch.from_numpy(samples / np.float32(2**15))).numpy()
    decibels = np.abs(found * output.scale - exact) * 20 / power / math.log(10)
    assert decibels.max() <= 0.2
    assert [call.kernel for call in module.report.calls] == ["log_mel_int16"]


def test_a_model_takes_samples_of_16_bits_as_a_converter_gives_them():
    module = compiled(Net(LogMel(RATE), 40), io="quantized")
    (x,) = module.report.inputs
    assert (x.dtype, x.scale, x.zero_point) == ("int16", 2.0**-15, 0)
    assert module.report.calls[0].kernel == "log_mel"


def test_what_filters_samples_before_keeps_16_bits():
    """Pre-emphasis. Its scale is from calibration, that of the input is the converter's."""

    class Filtered(nn.Module):
        def __init__(self):
            super().__init__()
            self.features = LogMel(RATE)

        def forward(self, x):
            return self.features(x[:, 1:] - 0.97 * x[:, :-1])

    net = Filtered()
    module = compiled(net, io="quantized")
    assert {call.output_types[0] for call in module.report.calls[:-1]} == {"int16"}
    assert module.report.inputs[0].scale == 2.0**-15
    samples = np.rint(sound(50, level_db=-30).numpy() * 2**15).astype(np.int16)
    (found,) = reference.run(module.graph, [samples])
    exact = net(torch.from_numpy(samples / np.float32(2**15))).numpy()
    (output,) = module.report.outputs
    assert np.abs((found.astype(np.int32) - output.zero_point) * output.scale - exact).mean() <= output.scale


class Joined(nn.Module):
    """Pre-emphasis that keeps the first sample: its result is larger than its input, and shares a scale with it."""

    def __init__(self):
        super().__init__()
        self.features = LogMel(RATE)

    def forward(self, x):
        return self.features(torch.cat([x[:, :1], x[:, 1:] - 0.97 * x[:, :-1]], 1))


class Amplified(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = LogMel(RATE)

    def forward(self, x, gain):
        return self.features(x * gain)


@pytest.mark.parametrize("model", [Joined(), Amplified()], ids=["joined", "amplified"])
def test_no_range_is_cut_to_that_of_a_converter(model):
    """Tones near half of the sample rate, which pre-emphasis makes nearly twice as large, and a gain of 8."""
    t = torch.arange(4000) / RATE
    noise = 0.01 * torch.randn(4000, generator=torch.Generator().manual_seed(0))
    waves = [(0.1 * n * torch.sin(2 * math.pi * 7000 * t) + noise).reshape(1, -1) for n in range(1, 10)]
    gain = [torch.full((1, 1), 8.0)] if isinstance(model, Amplified) else []
    data = [(wave / (8 if gain else 1), *gain) for wave in waves]
    module = compile_model(model.eval(), data[0], "cortex-m4", data)
    (found,) = reference.run(module.graph, [tensor.numpy() for tensor in data[-1]])
    error = found - model(*data[-1]).numpy()
    # Nats; a tone that is cut to half of its size makes an error of several in all bands.
    assert np.sqrt((error**2).mean()) <= 0.3


def test_samples_that_are_integers_are_an_error():
    data = [(sound(seed) * 32768,) for seed in range(4)]
    with pytest.raises(UserError, match="divide them by 32768"):
        compile_model(LogMel(RATE), data[0], "cortex-m4", data)


class OwnMfcc(Mfcc):
    pass


def test_cepstral_coefficients_keep_16_and_8_bits_in_any_case():
    """Of a derived class, and with weights of 4 bits for other layers."""
    module = compiled(Net(OwnMfcc(RATE), 13), quantizer=CmsisNnQuantizer(preset="w4"))
    kernels = [call.kernel for call in module.report.calls]
    assert "log_mel_int16" in kernels
    assert not any("int4" in kernel and kernel.endswith("int16") for kernel in kernels)


def test_a_range_of_its_own_goes_before_that_of_a_converter():
    module = compiled(LogMel(RATE), io="quantized", quantizer=CmsisNnQuantizer().set_range("samples", -2.0, 2.0))
    assert module.report.inputs[0].scale == pytest.approx(2 / 32767)


def test_cepstral_coefficients_are_computed_in_16_bits():
    """Of logarithms in 8 bits, which all coefficients are sums of, higher ones would be noise."""
    module = compiled(Net(Mfcc(RATE), 13))
    types = {call.kernel: call.output_types for call in module.report.calls}
    assert types["log_mel_int16"] == ("int16",)
    assert any(kernel.endswith("_int16") for kernel in types if kernel.startswith(("fully_connected", "conv2d")))


@pytest.mark.parametrize("hop", [320, 160])
def test_a_stream_of_samples_gives_what_the_whole_clip_does(hop):
    """The compiler compares both, byte by byte. A hop of half a frame's distance computes a frame every other time."""
    module = compiled(Net(LogMel(RATE, hop=320), 40), stream=Stream(dim=1, hop=hop), io="quantized")
    assert module.report.stream.compared > 0
    assert module.report.inputs[0].shape == (1, hop)
    (call,) = [call for call in module.report.calls if call.kernel == "log_mel"]
    assert call.outputs == ((1, 1, 40),)


def test_a_stream_along_the_batch_is_refused():
    data = [(torch.cat([sound(seed), sound(seed + 1)]),) for seed in range(4)]
    with pytest.raises(UserError, match="stream along the samples, the last dimension"):
        compile_model(LogMel(RATE), data[0], "cortex-m4", data, stream=Stream(dim=0, hop=1))


def test_features_that_stay_outside_are_reported():
    module = compiled(Net(LogMel(RATE), 40), quantizer=CmsisNnQuantizer().set_module_name("features", None))
    assert "log_mel.out, which ExecuTorch's portable kernels lack" in " ".join(module.warnings)


def direct(numbers, window=480, bins=257, computed_bank=False):
    """Returns a module that calls the operator itself, which checks nothing."""

    class Direct(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("window", torch.ones(window))
            self.register_buffer("bank", torch.ones(bins, 4))

        def forward(self, x):
            bank = self.bank * x.square().mean() if computed_bank else self.bank
            return torch.ops.cmsis_nn_delegate.log_mel(x, self.window, bank, *numbers)

    return Direct()


@pytest.mark.parametrize(
    "module, message",
    [
        (direct((320, 512, 2, 1e-6, 1.0), computed_bank=True), "its bank is not a constant"),
        (direct((320, 8192, 2, 1e-6, 1.0), bins=4097), "fft_length is 8192"),
        (direct((320, 16, 2, 1e-6, 1.0), bins=9), "fft_length is 16"),
        (direct((320, 512, 2, 1e-6, -1.0)), "gain is -1"),
        (direct((320, 512, 2, 1e30, 1.0)), "more than the loudest sound"),
    ],
)
def test_calls_that_no_kernel_computes_are_refused(module, message):
    with pytest.raises(UserError, match=message):
        compiled(module, strict=True)
