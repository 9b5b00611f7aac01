"""The histogram observer gives torchao's scales, and searches for them once."""

import pytest
import torch
from torchao.quantization.pt2e.observer import HistogramObserver

from cmsis_nn_delegate.quantization.configuration import QuantizationConfig
from cmsis_nn_delegate.quantization.histogram import FastHistogramObserver
from cmsis_nn_delegate.quantization.specs import Specs

DATA = {
    "normal": torch.randn,
    "of a ReLU": lambda n, generator: torch.randn(n, generator=generator).relu(),
    "with outliers": lambda n, generator: torch.randn(n, generator=generator) ** 5,
    "equally far apart": lambda n, generator: torch.linspace(-1, 1, n),
    "a few numbers": lambda n, generator: torch.randint(3, (n // 100,), generator=generator).float(),
    "one number": lambda n, generator: torch.full((2,), 0.7),
    "tiny": lambda n, generator: torch.randn(n, generator=generator) * 1e-12,
}


@pytest.mark.parametrize("data", DATA)
def test_the_range_is_that_of_torchao_and_is_searched_once(data, monkeypatch):
    searches = []
    search = FastHistogramObserver._search
    monkeypatch.setattr(FastHistogramObserver, "_search", lambda self: searches.append(self) or search(self))
    spec = Specs(qat=False).activation(QuantizationConfig(observer="histogram", activations="affine"))
    options = {"dtype": spec.dtype, "qscheme": spec.qscheme, "quant_min": -128, "quant_max": 127}
    ours = spec.observer_or_fake_quant_ctr(**options)
    theirs = HistogramObserver(**options, eps=2.0**-20)
    generator = torch.Generator().manual_seed(0)
    for count in (300, 20_000):  # each changes the histogram
        x = DATA[data](count, generator=generator) * (1 + count / 1000)
        ours(x), theirs(x)
        wanted = theirs._non_linear_param_search()
        searches.clear()
        for _ in range(3):
            found = ours._non_linear_param_search()
            assert [t.numpy().tobytes() for t in found] == [t.numpy().tobytes() for t in wanted]
        assert all(map(torch.equal, ours.calculate_qparams(), theirs.calculate_qparams()))
        assert len(searches) == 1
