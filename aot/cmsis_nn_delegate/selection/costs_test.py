import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cmsis_nn_delegate.format import schema
from cmsis_nn_delegate.ops.attrs import Padding
from cmsis_nn_delegate.ops.features import Features
from cmsis_nn_delegate.ops.registry import OPS
from cmsis_nn_delegate.providers.registry import CMSIS_NN, DEFAULT, PORTABLE, own_implementations, owner_of
from cmsis_nn_delegate.selection.choose_kernels import choice_of, choose_kernels, legalize
from cmsis_nn_delegate.selection.costs import (
    MEASURED_CORES,
    Accuracy,
    Costs,
    Model,
    costs,
    predicted_instructions,
)
from cmsis_nn_delegate.selection.options import PayloadOptions
from cmsis_nn_delegate.targets.target import TARGETS, get_target
from cmsis_nn_delegate.testing.graph_builder import GraphBuilder
from cmsis_nn_delegate.testing.random_case import RandomCase

CORES = sorted(set(MEASURED_CORES.values()))
PROVIDERS = {"default": DEFAULT, "cmsis-nn": (CMSIS_NN, PORTABLE), "portable": (PORTABLE,)}
# Too seldom drawn for a model: rows of more pixels than CMSIS-NN counts. They are reported as not predicted.
RARE = {("conv2d_large", "row")}

# The most that errors of measured models may be, median and largest: of every model, of nine in ten, and of networks.
# What a new measurement exceeds is a kernel whose features no longer count what it does: see `ops.features`.
EVERY_MODEL = {"tuned": (0.08, 1.0), "cmsis-nn": (0.25, 1.25), "portable": (0.25, 1.25)}
NINE_IN_TEN = {"tuned": (0.05, 0.5), "cmsis-nn": (0.15, 0.75), "portable": (0.15, 0.75)}
OF_NETWORKS = (0.03, 0.15)
# Of these, instructions depend on values, or those of a call on more than its counts say.
ROUGH = {
    ("cmsis-nn", "depthwise_conv2d_int4"): (0.4, 1.25),
    ("cmsis-nn", "transpose_conv2d"): (0.25, 10),
    ("portable", "argmin_float32"): (0.4, 1.25),
    ("portable", "embedding_float32"): (0.5, 1.25),
    ("portable", "embedding_int32_int16"): (0.5, 1.25),
    ("portable", "function_float32"): (0.8, 20),
    ("portable", "maximum_int16"): (0.25, 2.5),
    ("portable", "nms"): (0.8, 20),
    ("portable", "nms_int16"): (0.8, 2.5),
    ("portable", "resize_nearest"): (0.5, 1.25),
    ("portable", "resize_nearest_int16"): (0.4, 1.25),
    ("portable", "strided_copy"): (0.4, 2.5),
}


def choices_of(graph, core, providers):
    return choose_kernels(legalize(graph, PayloadOptions(providers=providers)), get_target(core)).choices


def predicted(graph, core, providers=DEFAULT):
    """Returns the sum of all calls."""
    return sum(choice.instructions(get_target(core)) for choice in choices_of(graph, core, providers))


def test_every_core_has_models():
    assert set(MEASURED_CORES) > set(TARGETS)  # and those without some features
    assert MEASURED_CORES["cortex-m33+nodsp"] == "cortex-m3"  # which has the 32-bit instructions of Thumb too
    assert MEASURED_CORES["cortex-m23"] == "cortex-m0plus"  # and neither has
    for core, measured in MEASURED_CORES.items():
        assert get_target(core).isa is get_target(measured).isa
    assert {core for core, *_ in costs().models} == set(CORES)
    assert costs().cmsis_nn == schema.CMSIS_NN_COMMIT


@pytest.mark.parametrize("core", CORES)
def test_every_kernel_of_every_provider_has_a_model(core):
    """Its own, or that of the kernel that it is priced as."""
    kernels = {(provider, kernel) for measured, provider, kernel, _ in costs().models if measured == core}
    isa = get_target(core).isa
    known = {
        (provider.name, found.kernel.name): (provider.name, found.kernel.priced_as)
        for provider in DEFAULT
        for op in OPS
        for found in provider.implementations(op)
        if isa in found.isas
    }
    assert kernels <= set(known)
    assert [own for own, other in known.items() if own not in kernels and other not in kernels] == []


def test_errors_of_models_are_limited():
    """The tests of networks see no kernel that takes few of their instructions, and their limits are in the table."""
    models = costs().models
    assert set(ROUGH) <= {key[1:3] for key in models}
    beyond = [
        f"{' '.join(key)}: {model.median_error:.1%}, {model.largest_error:.1%}"
        for key, model in models.items()
        for median, largest in [ROUGH.get(key[1:3], EVERY_MODEL[key[1]])]
        if model.median_error > median or model.largest_error > largest
    ]
    assert beyond == []
    for provider, (median, largest) in NINE_IN_TEN.items():
        some = [model for key, model in models.items() if key[1] == provider]
        assert np.quantile([model.median_error for model in some], 0.9) <= median
        assert np.quantile([model.largest_error for model in some], 0.9) <= largest
    for found in costs().accuracy:
        assert found.median_error <= OF_NETWORKS[0] and found.largest_error <= OF_NETWORKS[1], found


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from([op for op in OPS.values() if op.kernels]),
    st.integers(0, 2**32),
    st.sampled_from(sorted(TARGETS)),
    st.sampled_from(sorted(PROVIDERS)),
)
def test_predictions_of_any_call_are_positive(op, seed, core, providers):
    case = RandomCase(seed)
    graph = case.graph(op.draws[seed % len(op.draws)](case))
    for choice in choices_of(graph, core, PROVIDERS[providers]):
        features = choice.features()
        assert all(count >= 0 for count in features.counts.values())
        found = choice.instructions(get_target(core))
        assert found is None or (isinstance(found, int) and 0 < found < 10**12)
        assert found is not None or (choice.kernel.name, features.path) in RARE


def convolution(core, height, inputs, outputs, taps):
    builder = GraphBuilder()
    padding = Padding(taps // 2, taps // 2, taps // 2, taps // 2)
    x = builder.input(1, inputs, height, 8)
    return builder.graph(builder.conv2d(x, outputs, (taps, taps), padding=padding))


def depthwise(core, height, inputs, outputs, taps):
    builder = GraphBuilder()
    padding = Padding(taps // 2, taps // 2, taps // 2, taps // 2)
    x = builder.input(1, inputs, height, 8)
    return builder.graph(builder.depthwise_conv2d(x, 1, kernel=(taps, taps), padding=padding))


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([convolution, depthwise]),
    st.sampled_from(CORES),
    st.sampled_from(sorted(PROVIDERS)),
    st.tuples(st.integers(2, 10), st.integers(2, 10), st.integers(5, 12), st.sampled_from([1, 3])),
    st.integers(1, 10),
)
def test_more_rows_take_more_instructions(make, core, providers, sizes, more):
    """More channels need not: a kernel for whole words or vectors of them may take less."""
    height, *rest = sizes
    before, after = (predicted(make(core, rows, *rest), core, PROVIDERS[providers]) for rows in (height, height + more))
    assert after > before


@given(
    st.dictionaries(st.sampled_from("abc"), st.floats(0, 1e6)),
    st.dictionaries(st.sampled_from("abcd"), st.integers(0, 10**9)),
    st.sampled_from("abcd"),
)
def test_a_model_never_predicts_less_for_more(weights, counts, name):
    model = Model(3.0, weights, 10, 0.0, 0.0)
    more = {**counts, name: counts.get(name, 0) + 1}
    assert math.isfinite(model.instructions(counts)) and model.instructions(more) >= model.instructions(counts) >= 3


def test_what_has_no_model_is_not_predicted():
    assert (
        predicted_instructions(Features({"outputs": 1}, "no such path"), "add", "portable", get_target("cortex-m4"))
        is None
    )
    assert predicted_instructions(Features({"outputs": 1}), "add", "nobody", get_target("cortex-m4")) is None


def test_tables_keep_what_is_written():
    assert Costs.of_json(costs().to_json()) == costs()
    table = Costs(
        "0" * 40,
        ("GCC 1.2.3",),
        "QEMU",
        {("cortex-m4", "tuned", "x", ""): Model(1.5, {"a": 0.25}, 12, 0.01, 0.5)},
        (Accuracy("cortex-m4", "tuned", 3, 0.01, 0.04),),
    )
    assert Costs.of_json(table.to_json()) == table
    other = table.to_json().replace('"largest_error"', '"worst"')
    with pytest.raises(ValueError, match="the table of costs has the columns"):
        Costs.of_json(other)


def test_larger_kernels_are_predicted_by_their_scratch_memory():
    """Rows in strips, which take less memory, take more instructions."""
    (kernel,) = (kernel for kernel in own_implementations() if kernel.name == "depthwise_conv2d_planes")
    builder = GraphBuilder()
    x = builder.input(1, 16, 48, 48)
    builder.depthwise_conv2d(x, 1, kernel=(3, 3), stride=(2, 2), padding=Padding(0, 0, 1, 1))
    (node,) = builder.nodes
    choice = choice_of(owner_of(kernel), kernel, node, get_target("cortex-m4"))
    counts = [
        dataclasses.replace(choice, workspace=workspace).instructions(get_target("cortex-m4"))
        for workspace in (choice.workspace, choice.smaller[-1])
    ]
    assert counts[0] < counts[1]
