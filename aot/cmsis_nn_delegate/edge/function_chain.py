"""Functions of one number, one after the other, as a text that an operator can have as an argument: exp(-0.5 *
softplus(x)) is "softplus, mul -0.5, exp".

All of them are monotonic, so that the limits of a chain are its values at the ends of its argument's range."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

_FUNCTIONS: Mapping[str, Callable[..., np.ndarray]] = {
    "neg": lambda x: -x,
    "exp": np.exp,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "tanh": np.tanh,
    "softplus": lambda x: np.logaddexp(x, 0),
    "relu": lambda x: np.maximum(x, 0),
    "mul": lambda x, factor: np.where(np.isinf(x) & (factor == 0), 0, x * factor),
    "add": lambda x, addend: x + addend,
}


def step(name: str, *numbers: float) -> str:
    """Returns the text of one function: "neg", "exp", "sigmoid", "tanh", "softplus", "relu", "mul c" or "add c"."""
    return " ".join([name, *(repr(float(number)) for number in numbers)])


def chain(steps: list[str]) -> str:
    """Returns the text of functions in the order in which they are computed."""
    return ", ".join(steps)


def parsed(text: str) -> list[tuple[str, list[float]]]:
    """Returns the names of the functions of a chain and their numbers, in the order in which they are computed."""
    parts = [part.split(" ") for part in text.split(", ") if part]
    return [(name, [float(number) for number in numbers]) for name, *numbers in parts]


def compute(text: str, x: np.ndarray) -> np.ndarray:
    """Returns the functions of `text` of numbers, as float64 of the same shape; the numbers themselves of an empty
    text."""
    y = np.asarray(x, np.float64)
    for name, numbers in parsed(text):
        with np.errstate(over="ignore", invalid="ignore"):
            y = np.asarray(_FUNCTIONS[name](y, *numbers), np.float64)
    return y


def limits(text: str) -> tuple[float, float]:
    """Returns between which numbers all results lie, whatever the argument."""
    low, high = sorted(float(y) for y in compute(text, np.array([-math.inf, math.inf])))
    return low, high
