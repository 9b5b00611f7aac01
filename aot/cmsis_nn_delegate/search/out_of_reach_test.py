"""What the error says if no formats keep the limits: only what helps in this case."""

from types import SimpleNamespace

import numpy as np
import pytest

from cmsis_nn_delegate.partition.io_types import IoTypes
from cmsis_nn_delegate.precision.formats import FORMATS
from cmsis_nn_delegate.search.limits import Figures, Limits
from cmsis_nn_delegate.search.out_of_reach import out_of_reach
from cmsis_nn_delegate.search.result import Outcome
from cmsis_nn_delegate.search.subject import Tried

FLOAT32 = [given.name for given in FORMATS].index("float32")
HALF, EXACT = Figures(30.0, 0, 0), Figures(140.0, 0, 0)


def layer(name, pinned=False):
    node = SimpleNamespace(name=name, meta={"nn_module_stack": {name: (name, "torch.nn.Linear")}})
    return SimpleNamespace(noise=SimpleNamespace(node=node), unit=name, pinned=pinned, name=name)


def message(limits=Limits(min_sqnr=60.0), tried=Tried(HALF), *, weights=(0.0, 0.0), tensors=(1.0, 0.5), **changes):  # noqa: B008
    """Returns the error for a model of two layers, of which one assignment was tried."""
    model = SimpleNamespace(
        tried={(1, 1): tried},
        exact=Figures(None, 0, 0),
        some_exact=Figures(None, 0, 0),
        described=lambda assignment: "int16 throughout",
        problem=SimpleNamespace(noise_of_layers=lambda assignment: (np.array(weights), np.array(tensors))),
        measured=SimpleNamespace(layers=[{"first": layer("first"), "last": layer("last")}]),
        left_out={"first": {}, "last": {}},
        no_choice=[],
        asked=SimpleNamespace(io=IoTypes.of("float")),
    )
    vars(model).update(changes)
    return str(out_of_reach(model, limits))


def test_what_no_format_makes_finer_may_stay_outside():
    found = message()
    assert found.startswith("no formats keep at least 60 dB: the closest found is int16 throughout, with 30.00 dB. ")
    assert "from first (Linear) (67 %, its tensor), last (Linear) (33 %, its tensor)" in found
    assert "skip: true" in found and "prepare_qat" not in found and "float32" not in found and "--io" not in found


def test_noise_of_weights_can_be_trained_away():
    found = message(weights=(2.0, 0.0), tensors=(0.5, 0.1))
    assert "prepare_qat_pt2e" in found and "skip: true" not in found


def test_float32_throughout_is_not_told_to_use_float32():
    found = message(weights=(0.0, 0.0), tensors=(0.0, 0.0), tried=Tried(Figures(147.8, 0, 0)), limits=Limits(200.0))
    assert "ask for 147 dB or less" in found and "format:" not in found and "Most of the noise" not in found
    # The same if PyTorch, which rounds nothing there, keeps the limit.
    on_device = message(Limits(200.0), Tried(Figures(147.8, 0, 0), in_torch=Figures(None, 0, 0)), tensors=(0.0, 0.0))
    assert "ask for 147 dB or less" in on_device and "format:" not in on_device


def test_noise_of_the_device_alone_is_told_apart():
    found = message(tried=Tried(HALF, in_torch=Figures(70.0, 0, 0)))
    assert "with 70.00 dB in PyTorch, has 30.00 dB there" in found and "cmsisnn accuracy" in found


def test_more_labels_than_the_float_model_has_right():
    exact = Figures(None, 10, 9)
    found = message(Limits(min_top1=1.0), Tried(Figures(30.0, 10, 9)), exact=exact, some_exact=exact)
    assert "float model itself has 9 of 10 labels right" in found and "--max-drop" in found and "Linear" not in found


@pytest.mark.parametrize("reason", ["some of its calls have no predicted instructions"])
def test_a_format_that_was_left_out_is_named_with_the_reason(reason):
    throughout = Outcome("float32 throughout", EXACT, None)
    found = message(no_choice=[throughout], left_out={"first": {}, "last": {FLOAT32: reason}})
    assert f"Float32 throughout, with 140.00 dB, was not a choice, because it was left out for last: {reason}" in found
    assert "format: float32 under everywhere" in found and "skip" not in found
    # If that does not keep the limits either, the layers are.
    found = message(left_out={"first": {}, "last": {FLOAT32: reason}})
    assert f"leaves out float32 for last: {reason}. format: float32 for these" in found and "skip" not in found


def test_formats_that_are_given_and_types_of_inputs_are_named():
    given = SimpleNamespace(layers=[{"first": layer("first", pinned=True), "last": layer("last")}])
    assert "formats that --quantizer gives: without those of first (Linear)" in message(measured=given)
    io = SimpleNamespace(io=IoTypes.of("int8"))
    assert "--io int8: leave out --io" in message(asked=io, no_choice=[Outcome("int16 throughout", EXACT, None)])
    found = message(asked=io)
    assert "With --io int8 the modules at inputs and outputs keep that type" in found and "skip" not in found
