"""`frontier` next to all assignments: exact where there are few, and near the best where it walks."""

import dataclasses
import itertools

import numpy as np
import pytest

from cmsis_nn_delegate.precision import problem as module
from cmsis_nn_delegate.precision.configurations import with_formats
from cmsis_nn_delegate.precision.formats import FORMATS
from cmsis_nn_delegate.precision.problem import Problem, frontier
from cmsis_nn_delegate.quantization.configuration import Configuration, QuantizationConfig

INT8, INT16 = 0, 1


def chain(count, seed, by_memory=False):
    """Layers that each read the one before, an input first."""
    generator = np.random.default_rng(seed)
    layers = count + 1
    rounding = 10 ** generator.uniform(-6, -2, layers)
    weights = 10 ** generator.uniform(-7, -4, layers)
    weights[0] = 0
    fast = generator.uniform(100, 10000, count)
    return Problem(
        choices=((INT8, INT16),) * count,
        unit_of=np.arange(layers) - 1,
        weights=np.stack([weights, weights], 1),
        types=np.array([[-1, -1], *[[INT8, INT16]] * count]),
        tensors=np.stack([rounding, rounding / 65536], 1),
        readers=tuple((layer, layer + 1) for layer in range(count)),
        prices=np.stack([fast, fast * generator.uniform(1.1, 4, count)], 1),
        sizes=generator.integers(10, 1000, layers),
        last_reads=np.minimum(np.arange(layers) + 1, count),
        conversion=3.0,
        type_bytes=np.array([1.0, 2.0]),
        by_memory=by_memory,
    )


def cheapest(candidates, most):
    return min((c.price for c in candidates if c.noise <= most), default=np.inf)


def everything(problem):
    return module._best(problem, list(itertools.product(*problem.choices)))


def test_noise_and_price_by_hand():
    problem = Problem(
        choices=((INT8, INT16), (INT8, INT16)),
        unit_of=np.array([-1, 0, 1]),
        weights=np.array([[0.0, 0.0], [0.01, 0.01], [0.02, 0.001]]),
        types=np.array([[-1, -1], [INT8, INT16], [INT8, INT16]]),
        tensors=np.array([[1.0, 0.1], [2.0, 0.2], [4.0, 0.4]]),
        readers=((0, 1), (1, 2)),
        prices=np.array([[10.0, 25.0], [20.0, 60.0]]),
        sizes=np.array([5, 7, 3]),
        last_reads=np.array([1, 2, 2]),
        conversion=2.0,
        type_bytes=np.array([1.0, 2.0]),
    )
    noises, prices = problem.judged([(0, 0), (0, 1), (1, 0), (1, 1)])
    # The tensor between the layers is as coarse as the coarser of them; seven numbers are converted where they differ.
    assert noises == pytest.approx([7 + 0.03, 1 + 2 + 0.4 + 0.011, 0.1 + 2 + 4 + 0.03, 0.7 + 0.011])
    assert prices == pytest.approx([30, 10 + 60 + 14, 25 + 20 + 14, 85])


def test_memory_is_what_lives_at_the_same_time():
    problem = chain(2, seed=0, by_memory=True)
    _, prices = problem.judged([(0, 0), (1, 0), (1, 1)])
    sizes = problem.sizes
    expected = [
        max(sizes[0] + sizes[1], sizes[1] + sizes[2]),
        max(sizes[0] + 2 * sizes[1], 2 * sizes[1] + sizes[2]),
        max(sizes[0] + 2 * sizes[1], 2 * sizes[1] + 2 * sizes[2]),
    ]
    assert prices == pytest.approx(expected, rel=2e-3)


@pytest.mark.parametrize("by_memory, mean, largest", [(False, 1.03, 1.3), (True, 1.03, 1.4)])
def test_walks_come_near_the_best(monkeypatch, by_memory, mean, largest):
    """Next to the price of the best of 1,024 assignments, for budgets of noise over the whole range."""
    excesses = []
    for seed in range(8):
        problem = chain(10, seed, by_memory)
        exact = everything(problem)
        with monkeypatch.context() as patch:
            patch.setattr(module, "_ALL", 0)
            found = frontier(problem)
        assert found[-1].noise == pytest.approx(exact[-1].noise, rel=1e-6)
        assert found[0].price == pytest.approx(exact[0].price)
        for most in np.geomspace(exact[-1].noise * 1.001, exact[0].noise, 12):
            excesses.append(cheapest(found, most) / cheapest(exact, most))
    assert min(excesses) >= 1 - 1e-9 and np.mean(excesses) < mean and max(excesses) < largest


def test_a_frontier_has_nothing_that_another_one_beats():
    found = frontier(chain(8, seed=3))
    assert len(found) > 5
    assert all(a.price < b.price and a.noise > b.noise for a, b in itertools.pairwise(found))


def test_a_hundred_units_are_walked():
    problem = chain(100, seed=1)
    found = frontier(problem)
    assert len(found) > 30 and found == frontier(problem)


def test_without_choices():
    problem = dataclasses.replace(chain(1, 0), choices=(), unit_of=np.array([-1, -1]), prices=np.zeros((0, 2)))
    found = frontier(problem)
    assert [candidate.assignment for candidate in found] == [()]


def weights_of(configuration, *modules):
    """The weights of a linear layer inside of modules, from the outermost inwards."""
    found = configuration.general(linear=True)
    for config in configuration.overrides("aten.linear.default", [(name, "Linear") for name in modules]).values():
        found = config.over(found)
    return found.weights


def test_what_is_inside_of_small_weights_has_weights_of_its_own():
    int8, int16, w4 = FORMATS[0], FORMATS[1], next(given for given in FORMATS if given.is_small)
    found = with_formats(Configuration("minmax"), int8, {"block": w4, "block.last": int8, "block.more": int16})
    assert weights_of(found, "block") == "int4"
    assert {weights_of(found, "block", inner) for inner in ("block.last", "block.more")} == {"per-channel"}
    whole = with_formats(Configuration("fast-linear"), int8, {"": w4, "last": int8})
    assert (weights_of(whole), weights_of(whole, "last")) == ("int4", "per-channel")
    small = with_formats(Configuration("w4"), int8, {"last": w4})
    assert (weights_of(small), weights_of(small, "last")) == ("per-channel", "int4")


def test_weights_that_are_given_stay():
    int8, int16, w4 = FORMATS[0], FORMATS[1], next(given for given in FORMATS if given.is_small)
    fast = with_formats(Configuration("fast-linear"), int8, {"last": int16})
    assert (weights_of(fast), weights_of(fast, "last")) == ("per-tensor", "per-tensor")
    given = Configuration("minmax", module_names={"last": QuantizationConfig(weights="per-tensor")})
    assert weights_of(with_formats(given, int8, {"": w4, "last": int16}), "last") == "per-tensor"
    assert weights_of(with_formats(given, int8, {"last": w4}), "last") == "per-tensor"
