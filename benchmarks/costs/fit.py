"""Fits models of costs to counted calls: `models_of`, and says how good they are: `accuracy_of`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Optional

import numpy as np
from scipy.optimize import nnls

from benchmarks.costs.samples import Sample
from cmsis_nn_delegate.selection.costs import Accuracy, Model

_FOLDS = 5
_LEAST_SAMPLES = 10
_DIGITS = 4
_HARDLY_WORSE = 0.002  # of the root mean square of relative errors, for all counts that are left out together

Key = tuple[str, str, str]  # provider, kernel, path


def models_of(samples: Iterable[Sample]) -> dict[Key, Model]:
    """Returns a model for each key that has enough samples, all of one core."""
    found = {key: fit(some) for key, some in _by_key(samples).items()}
    return {key: model for key, model in found.items() if model is not None}


def accuracy_of(
    core: str, providers: str, networks: Mapping[str, Sequence[Sample]], samples: Sequence[Sample]
) -> Accuracy:
    """Returns the errors of predicted sums of `networks`, the calls of each by its name. Each is predicted by models
    that were fitted to `samples` without those of the network."""
    by_key = _by_key(samples)
    errors = []
    for name, calls in networks.items():
        keys = {_key(call) for call in calls}
        models = {key: fit([s for s in by_key.get(key, ()) if s.source != name], with_errors=False) for key in keys}
        predicted = 0.0
        for call in calls:
            model = models[_key(call)]
            if model is None:
                break
            predicted += model.instructions(call.features.counts)
        else:
            errors.append(abs(predicted / sum(call.instructions for call in calls) - 1))
    if not errors:
        raise ValueError(f"{core}, {providers}: no network has a model for each call without its own calls")
    return Accuracy(core, providers, len(errors), _rounded(np.median(errors)), _rounded(max(errors)))


def fit(samples: Sequence[Sample], with_errors: bool = True) -> Optional[Model]:
    """Returns the model with the least squares of relative errors, no weight below 0, and few counts; None for too few
    samples."""
    if len(samples) < _LEAST_SAMPLES:
        return None
    names = sorted({name for sample in samples for name, count in sample.features.counts.items() if count})
    matrix = np.array([[1.0, *(sample.features.counts.get(name, 0) for name in names)] for sample in samples])
    counted = np.array([sample.instructions for sample in samples], float)
    shares = np.array([sample.weight for sample in samples], float)
    weights = _solve(matrix, counted, shares)
    errors = np.zeros(1)
    if with_errors:
        fold = np.arange(len(samples)) % _FOLDS
        errors = np.concatenate(
            [
                matrix[fold == index]
                @ _solve(matrix[fold != index], counted[fold != index], shares[fold != index])
                / counted[fold == index]
                - 1
                for index in range(_FOLDS)
            ]
        )
    kept = {name: float(f"{weight:.{_DIGITS}g}") for name, weight in zip(names, weights[1:]) if weight > 0}
    median, largest = float(np.median(np.abs(errors))), float(np.abs(errors).max())
    return Model(round(float(weights[0]), 1), kept, len(samples), _rounded(median), _rounded(largest))


def _key(sample: Sample) -> Key:
    return sample.provider, sample.kernel, sample.features.path


def _by_key(samples: Iterable[Sample]) -> dict[Key, list[Sample]]:
    found: dict[Key, list[Sample]] = defaultdict(list)
    for sample in samples:
        found[_key(sample)].append(sample)
    return found


def _rounded(error: float) -> float:
    return round(float(error), 3)


def _solve(matrix: np.ndarray, counted: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Returns weights >= 0 with the least squares of relative errors, each as often as its row's share. Counts without
    which that is hardly worse have none: what is true of the samples by chance would be wrong for larger calls."""
    kept = np.ones(matrix.shape[1], bool)
    weights, error = _least_squares(matrix, counted, shares, kept)
    while True:
        kept = weights > 0
        kept[0] = True
        candidates = []
        for index in np.flatnonzero(kept[1:]) + 1:
            fewer = kept.copy()
            fewer[index] = False
            candidates.append(_least_squares(matrix, counted, shares, fewer))
        if not candidates:
            return weights
        fewer_weights, fewer_error = min(candidates, key=lambda candidate: candidate[1])
        if fewer_error > error + _HARDLY_WORSE or not (fewer_weights[1:] > 0).any():
            return weights
        weights = fewer_weights


def _least_squares(
    matrix: np.ndarray, counted: np.ndarray, shares: np.ndarray, kept: np.ndarray
) -> tuple[np.ndarray, float]:
    """Returns the weights of columns that are `kept`, 0 for the others, and the root of the mean square error."""
    roots = np.sqrt(shares)
    relative = matrix[:, kept] * (roots / counted)[:, None]
    scale = np.linalg.norm(relative, axis=0)
    scale[scale == 0] = 1
    found, residual = nnls(relative / scale, roots)
    weights = np.zeros(matrix.shape[1])
    weights[kept] = found / scale
    return weights, float(residual / np.sqrt(shares.sum()))
