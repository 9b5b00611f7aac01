"""The rules of CMSIS-NN's kernels are the same in the compiler and in firmware."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from codegen import rules_header

from cmsis_nn_delegate.ops.providers import cmsis_nn_rules as rules

PROGRAM = Path("tests/conformance/rules_on_host")
RULES = (rules.convolution_fits, rules.depthwise_fits, rules.softmax_fits, rules.transpose_conv_fits)
# Values at which results change, and the ends of the ranges.
SIZES = (1, 1, 2, 3, 3, 4, 5, 8, 511, 512, 32767)


COUNT = 50_000


def draw(random: np.random.Generator, name: str) -> np.ndarray:
    """Returns a strategy for arguments called `name`, within their range."""
    if name == "mve":
        return random.integers(2, size=COUNT)
    if name.startswith("padding"):
        return random.choice((0, 0, 1, 1, 2, 3, 32767), COUNT)
    if name.startswith(("stride", "dilation", "multiplier", "batch")):
        return random.choice((1, 1, 1, 2, 3, 32767), COUNT)
    return random.choice(SIZES, COUNT)


@pytest.mark.parametrize("index, rule", enumerate(RULES))
def test_python_and_cpp_say_the_same(index, rule):
    random = np.random.default_rng(index)
    names = rule.__code__.co_varnames[: rule.__code__.co_argcount]
    values = {name: draw(random, name) for name in names}
    # A filter has less than 2^28 bytes.
    elements = [values.get(f"kernel_{d}", np.ones(COUNT)).astype(float) for d in "hwc"]
    cases = np.stack(list(values.values()), axis=1)[np.prod(elements, axis=0) < 2**28]
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


def test_brackets_and_lines():
    source = '''
def f(aaaaaaaaaaaaaaaaaaaa: int, bbbbbbbbbbbbbbbbbbbb: int, cccccccccccccccccccc: bool) -> bool:
    """A line.

    Another one.
    """
    x = aaaaaaaaaaaaaaaaaaaa - (bbbbbbbbbbbbbbbbbbbb - 1) * 2
    return (x - (x - 3)) * 4 % 5 == 0 and (not cccccccccccccccccccc or (x >= 2 and aaaaaaaaaaaaaaaaaaaa != 7))
'''
    text = rules_header.generate(source)
    assert (
        """\
/// A line.
///
/// Another one.
constexpr bool f(std::int32_t aaaaaaaaaaaaaaaaaaaa, std::int32_t bbbbbbbbbbbbbbbbbbbb,
                 bool cccccccccccccccccccc) {
  const auto x = aaaaaaaaaaaaaaaaaaaa - (bbbbbbbbbbbbbbbbbbbb - 1) * 2;
  return (x - (x - 3)) * 4 % 5 == 0 &&
         (!cccccccccccccccccccc || (x >= 2 && aaaaaaaaaaaaaaaaaaaa != 7));
}
"""
        in text
    )
    assert max(map(len, rules_header.generate().splitlines())) <= 100
