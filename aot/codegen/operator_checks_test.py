"""What the generated checks of a call ask of operands whose types no operator has yet."""

from __future__ import annotations

import pytest

from cmsis_nn_delegate.format import blocks
from cmsis_nn_delegate.format.element import Element
from cmsis_nn_delegate.format.record import I16, I32, I64, Field, Operand, Role, Struct
from codegen.operator_checks import check_function

# As CMSIS-NN's functions for s16 have them.
ARGS = Struct(
    "WideArgs",
    "",
    (
        blocks.input("input", I16, "count", doc=""),
        blocks.filter("count", "channels", doc=""),
        blocks.bias("channels", doc="", element=I64),
        blocks.multipliers("channels", doc=""),
        blocks.shifts("channels", doc=""),
        blocks.output(I16, "channels", doc=""),
        blocks.input_offset(element=Element.INT16),
        blocks.number("least", element=Element.INT16),
        Field("count", I32),
        Field("channels", I32),
    ),
)


def test_parameters_are_checked_with_their_own_sizes():
    text = check_function("wide", ARGS)
    assert "call.parameters<std::int64_t>({a.bias}, volume(a.channels))" in text
    assert "call.parameters<std::int32_t>({a.multiplier, a.shift}, volume(a.channels))" in text


def test_parameters_of_several_sizes_are_checked_apart():
    """Such as the biases of gates and that of a projection."""
    more = blocks.operand(Role.BIAS, "other_bias", I32, ("rows",), "")
    text = check_function("wide", Struct("WideArgs", "", (*ARGS.fields, more, Field("rows", I32))))
    assert "call.parameters<std::int32_t>({a.multiplier, a.shift}, volume(a.channels))" in text
    assert "call.parameters<std::int32_t>({a.other_bias}, volume(a.rows))" in text
    assert "call.multipliers(a.multiplier, a.shift, a.channels)" in text


def test_activations_are_checked_with_their_own_sizes_and_ranges():
    text = check_function("wide", ARGS)
    assert "{a.input, bounds::product(volume(a.count), 2)}" in text
    assert "call.reads(input, bounds::" in text and "in_range(a.least, -32768, 32767)" in text
    assert "in_range(a.input_offset, 0, 0)" in text


def test_only_indices_may_lie_anywhere():
    assert {Operand(role, I64, ("n",)).align for role in (Role.INPUT, Role.OUTPUT)} == {1}
    assert Operand(Role.BIAS, I64, ("n",)).align == 8


@pytest.mark.parametrize("bound", [{"low": 1}, {"high": 9}])
def test_a_range_has_two_ends(bound):
    """Half of one would be left out of the checks."""
    with pytest.raises(ValueError, match="row_size has one bound"):
        Field("row_size", I32, **bound)
