import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cmsis_nn_delegate.quantization.configuration import QuantizationConfig
from cmsis_nn_delegate.quantization.percentile import CLIPPED
from cmsis_nn_delegate.quantization.specs import Specs


def observed(*samples, **config):
    spec = Specs(qat=False).activation(QuantizationConfig(observer="percentile", **{"activations": "affine", **config}))
    observer = spec.observer_or_fake_quant_ctr(
        dtype=spec.dtype, qscheme=spec.qscheme, quant_min=spec.quant_min, quant_max=spec.quant_max
    )
    for sample in samples:
        observer(sample)
    scale, zero_point = observer.calculate_qparams()
    low = float(scale) * (-128 - int(zero_point))
    return low, low + 255 * float(scale)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0.1, 10), st.floats(-3, 3))
def test_at_most_the_share_is_clipped(seed, deviation, mean):
    generator = torch.Generator().manual_seed(seed)
    samples = [torch.randn(20_000, generator=generator) * deviation + mean for _ in range(3)]
    low, high = observed(*samples)
    values = torch.cat(samples)
    step = (high - low) / 255
    clipped = ((values < low - step) | (values > high + step)).double().mean()
    assert float(clipped) <= CLIPPED
    assert high - low < float(values.max().clamp(min=0) - values.min().clamp(max=0)) + step


def test_outliers_set_no_scale():
    values = torch.linspace(-1, 1, 100_001)
    values[0] = 5.0
    low, high = observed(values)
    assert (low, high) == pytest.approx((-1, 1), abs=0.02)


def test_few_values_are_all_inside():
    low, high = observed(torch.tensor([-1.0, 0.5, 3.0]))
    assert low == pytest.approx(-1, abs=0.02) and high == pytest.approx(3, abs=0.02)
    assert observed(torch.full((10,), 2.0))[1] == pytest.approx(2, abs=0.02)


def test_symmetric():
    low, high = observed(torch.linspace(0, 4, 1001), activations="symmetric")
    assert high == pytest.approx(4, abs=0.05) and low == pytest.approx(-4, abs=0.05)
