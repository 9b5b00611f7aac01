"""The example of quantization-aware training: what it shows must be so."""

from cmsis_nn_delegate.testing.faster_torch import make_torch_faster

make_torch_faster()

from examples.digits import qat  # noqa: E402


def test_training_with_quantization_helps():
    in_float, after, trained = qat.compare().values()
    assert in_float.accuracy > 0.95
    assert min(after.accuracy, trained.accuracy) > in_float.accuracy - 0.01
    assert trained.loss < after.loss
