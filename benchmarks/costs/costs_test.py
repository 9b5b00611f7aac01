import dataclasses
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.costs import fit, main
from benchmarks.costs.samples import LargerCase, Sample, Sampler
from benchmarks.measure import Images
from benchmarks.networks import Network
from cmsis_nn_delegate.ops.features import Features
from cmsis_nn_delegate.payload.lower_partition import encode
from cmsis_nn_delegate.report.model_report import build_report
from cmsis_nn_delegate.runner.profile import measure, random_inputs
from cmsis_nn_delegate.selection.options import PayloadOptions
from cmsis_nn_delegate.targets.target import get_target
from cmsis_nn_delegate.testing import networks

NAMES = ("outputs", "products", "rows")


def samples(weights, call, count, seed, source="random"):
    """Returns calls that take `call` instructions and `weights` for each count."""
    random = np.random.default_rng(seed)
    counts = [dict(zip(NAMES, (10.0 ** random.uniform(0, 4, len(NAMES))).astype(int).tolist())) for _ in range(count)]
    return [
        Sample(source, "portable", "add", Features(c), round(call + sum(w * c[n] for n, w in zip(NAMES, weights))))
        for c in counts
    ]


@settings(max_examples=30, deadline=None)
@given(st.tuples(*[st.floats(1, 50)] * len(NAMES)), st.integers(20, 400), st.integers(30, 60), st.integers(0, 2**32))
def test_the_weights_of_linear_costs_are_found(weights, call, count, seed):
    known = samples(weights, call, count, seed)
    model = fit.fit(known)
    assert model.samples == count and model.median_error < 0.02
    for sample in samples(weights, call, 10, seed + 1):
        assert model.instructions(sample.features.counts) == pytest.approx(sample.instructions, rel=0.1)


@given(st.integers(0, 2**32), st.integers(10, 40))
@settings(max_examples=20, deadline=None)
def test_no_weight_is_negative_whatever_is_counted(seed, count):
    random = np.random.default_rng(seed)
    known = [
        Sample("", "portable", "add", Features(sample.features.counts), int(random.integers(1, 10**6)))
        for sample in samples((1, 1, 1), 1, count, seed)
    ]
    model = fit.fit(known)
    assert model.call >= 0 and all(weight > 0 for weight in model.weights.values())


@given(st.integers(0, 2**32), st.integers(2, 5))
@settings(max_examples=10, deadline=None)
def test_a_sample_counts_as_often_as_its_weight(seed, weight):
    some, others = samples((1, 2, 3), 4, 20, seed), samples((3, 1, 9), 90, 20, seed + 1)
    found = fit.fit([*some, *(dataclasses.replace(sample, weight=weight) for sample in others)], with_errors=False)
    repeated = fit.fit([*some, *others * weight], with_errors=False)
    assert found.samples == 40 and found.call == pytest.approx(repeated.call, abs=0.2)
    assert found.weights == pytest.approx(repeated.weights, rel=1e-3)


def test_too_few_samples_give_no_model():
    assert fit.fit(samples((1, 2, 3), 4, 9, 0)) is None
    assert set(fit.models_of(samples((1, 2, 3), 4, 20, 0))) == {("portable", "add", "")}


def test_errors_are_those_of_what_was_not_seen():
    """A network whose calls take twice as much as all others is predicted at half of that."""
    others = samples((2, 3, 4), 10, 60, 0)
    network = samples((4, 6, 8), 20, 12, 1, "network")
    found = fit.accuracy_of("cortex-m4", "portable", {"network": network}, [*others, *network])
    assert (found.networks, found.median_error) == (1, pytest.approx(0.5, abs=0.02))


def test_unknown_cores_are_refused(capsys):
    with pytest.raises(SystemExit):
        main.main(["--cores", "cortex-m4,cortex-m9"])
    assert "unknown cores cortex-m9; choose of cortex-m0plus, " in capsys.readouterr().err


def test_larger_cases_are_larger():
    sizes = [np.mean([case(seed).channels() for seed in range(200)]) for case in (LargerCase.__base__, LargerCase)]
    assert sizes[1] > 2 * sizes[0]


class TestImages(Images):
    __test__ = False

    def __init__(self) -> None:
        super().__init__(Path())


def test_calls_are_counted_as_a_profile_counts_them():
    graph = networks.ds_cnn()
    network = Network("ds_cnn", "random", graph, tuple(random_inputs(graph)), {})
    images = TestImages()
    sampler = Sampler(get_target("cortex-m4"), images)
    found = sampler.of_network(network, "tuned")
    encoded = encode(graph, get_target("cortex-m4"), PayloadOptions(providers=sampler.providers("tuned")))
    profile = measure(
        build_report("net", encoded), encoded.payload, network.inputs, images.profile("cortex-m4", "tuned")
    )
    assert [sample.instructions for sample in found] == [call.instructions for call in profile.calls]
    assert [sample.kernel for sample in found] == [call.kernel for call in profile.calls]


def test_random_calls_are_of_the_kernels_that_are_asked_for():
    sampler = Sampler(get_target("cortex-m4"), TestImages())
    found = list(sampler.of_operators("tuned", 1))
    assert {sample.kernel for sample in found} >= {"conv2d_joint_pairs", "conv2d_winograd", "add_linear"}
    assert {sample.provider for sample in found} == {"tuned"}
    assert min(sample.instructions for sample in found) > 20
