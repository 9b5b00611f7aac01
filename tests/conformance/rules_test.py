"""The rules of CMSIS-NN's kernels are the same in the compiler and in firmware."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from codegen import rules_header

from cmsis_nn_delegate.ops import cmsis_nn_rules as rules

PROGRAM = Path("tests/conformance/rules_on_host")
RULES = (rules.convolution_fits, rules.depthwise_fits, rules.softmax_fits, rules.transpose_conv_fits)
# Values at which results change, and the ends of the ranges.
SIZES = (1, 1, 1, 1, 2, 2, 3, 3, 3, 3, 4, 5, 8, 511, 512, 32767, 32768, 65535, 65536, 2**28 - 1)
STEPS = (1, 1, 1, 1, 1, 2, 3, 32767, 32768, 65535, 65536, 2**28 - 1)


COUNT = 50_000


def draw(random: np.random.Generator, name: str) -> np.ndarray:
    """Returns a strategy for arguments called `name`, within their range."""
    if name == "mve":
        return random.integers(2, size=COUNT)
    if name.startswith("padding"):
        return random.choice((0, 0, 0, *STEPS), COUNT)
    if name.startswith(("stride", "dilation", "multiplier", "batch")):
        return random.choice(STEPS, COUNT)
    return random.choice(SIZES, COUNT)


def checked(values: dict[str, np.ndarray]) -> np.ndarray:
    """Returns which calls pass the other checks: operands have less than 2^28 bytes, no window ends beyond 2^30."""

    def of(name: str) -> np.ndarray:
        return values.get(name, np.ones(COUNT)).astype(float)

    channels = of("kernel_c") if "kernel_c" in values else of("in_c") * of("multiplier")
    passed = of("kernel_h") * of("kernel_w") * channels < 2**28
    for axis in "hw":
        passed &= (of(f"kernel_{axis}") - 1) * of(f"dilation_{axis}") < 2**28
        # A transposed convolution makes the steps in its input.
        passed &= np.maximum(of(f"out_{axis}"), of(f"in_{axis}")) * of(f"stride_{axis}") < 2**28
    return passed


@pytest.mark.parametrize("index, rule", enumerate(RULES))
def test_python_and_cpp_say_the_same(index, rule):
    random = np.random.default_rng(index)
    names = rule.__code__.co_varnames[: rule.__code__.co_argcount]
    values = {name: draw(random, name) for name in names}
    cases = np.stack(list(values.values()), axis=1)[checked(values)]
    records = np.zeros((len(cases), 17), "<i4")
    records[:, 0] = index
    records[:, 1 : 1 + len(names)] = cases
    run = subprocess.run([PROGRAM], input=records.tobytes(), stdout=subprocess.PIPE, check=True)
    answers = np.frombuffer(run.stdout, np.uint8).astype(bool)
    expected = np.array([rule(*case) for case in cases.tolist()])
    assert 0 < np.count_nonzero(expected) < len(cases)
    np.testing.assert_array_equal(answers, expected)


@pytest.mark.parametrize(
    "source, message",
    [
        ('def f(a: int) -> int:\n    """Doc."""\n    return a / 2\n', "a / 2"),
        ('def f(a: int) -> int:\n    """Doc."""\n    return a // 2\n', "a // 2"),
        ('def f(a: int) -> bool:\n    """Doc."""\n    return 1 < a < 3\n', "1 < a < 3"),
        ('def f(a: int) -> int:\n    """Doc."""\n    if a:\n        return 1\n    return 2\n', "if a"),
        ("class A:\n    pass\n", "class A"),
    ],
)
def test_what_the_generator_does_not_know_is_an_error(source, message):
    with pytest.raises(ValueError) as error:
        rules_header.generate(source)
    assert message in str(error.value)


def test_brackets():
    source = '''
def f(a: int, b: int, c: bool) -> bool:
    """A line.

    Another one.
    """
    x = a - (b - 1) * 2
    return (x - (x - 3)) * 4 % 5 == 0 and (not c or (x >= 2 and a != 7))
'''
    text = rules_header.generate(source)
    assert (
        """\
/// A line.
///
/// Another one.
constexpr bool f(std::int32_t a, std::int32_t b, bool c) {
  const auto x = a - (b - 1) * 2;
  return (x - (x - 3)) * 4 % 5 == 0 && (!c || (x >= 2 && a != 7));
}
"""
        in text
    )
