"""The histogram observer gives torchao's scales, and searches for them once."""

import torch
from torchao.quantization.pt2e.observer import HistogramObserver

from cmsis_nn_delegate.quantization.configuration import QuantizationConfig
from cmsis_nn_delegate.quantization.specs import Specs


def test_the_range_is_searched_once_for_the_same_data(monkeypatch):
    searches = []
    search = HistogramObserver._non_linear_param_search

    def counted(self):
        searches.append(self)
        return search(self)

    monkeypatch.setattr(HistogramObserver, "_non_linear_param_search", counted)
    spec = Specs(qat=False).activation(QuantizationConfig(observer="histogram", activations="affine"))
    options = {"dtype": spec.dtype, "qscheme": spec.qscheme, "quant_min": -128, "quant_max": 127}
    ours = spec.observer_or_fake_quant_ctr(**options)
    theirs = HistogramObserver(**options, eps=2.0**-20)
    generator = torch.Generator().manual_seed(0)
    for scale in (1.0, 3.0, 0.1):  # each changes the range
        data = torch.randn(1000, generator=generator) * scale
        ours(data), theirs(data)
        wanted = theirs.calculate_qparams()
        searches.clear()
        for observer in (ours, ours, ours):
            assert all(map(torch.equal, observer.calculate_qparams(), wanted))
        assert len(searches) == 1
