"""What people ask inputs and outputs to be, as text and by name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cmsis_nn_delegate.partition.io_types import TYPES, IoTypes
from cmsis_nn_delegate.support.errors import UserError

NAMES = st.sampled_from(["x", "y", "output0", "output1", "inputs", "outputs"])


@given(st.sampled_from(TYPES))
def test_one_type_is_that_of_everything(kind):
    types = IoTypes.of(kind)
    assert {types.of_input("x"), types.of_output(0), types.of_output(7), str(types)} == {kind}
    types.require_names([], 0)


@given(st.dictionaries(NAMES, st.sampled_from(TYPES)))
def test_a_name_goes_before_its_group_and_float_is_the_rest(named):
    types = IoTypes.of(named)
    for name in ("x", "y"):
        assert types.of_input(name) == named.get(name, named.get("inputs", "float"))
    for index in range(2):
        assert types.of_output(index) == named.get(f"output{index}", named.get("outputs", "float"))
    again = IoTypes.of(str(types))
    assert all(again.of_input(name) == types.of_input(name) for name in ("x", "y", "other"))
    assert all(again.of_output(index) == types.of_output(index) for index in range(3))
    assert types.is_float == (set(named.values()) <= {"float"})


@pytest.mark.parametrize("text", ["x=", "=int8", "x=int8,", "x=int8,x=int16", "int8,y=int16"])
def test_text_of_another_form_is_refused(text):
    with pytest.raises(UserError, match="is not NAME=TYPE,... with each name once, such as x=int16"):
        IoTypes.of(text)


def test_what_nothing_is_called_is_named():
    with pytest.raises(UserError, match="io names 'output2', and the model has output0, output1, x; inputs and"):
        IoTypes.of("x=int8,output2=int16").require_names(["x"], 2)
    with pytest.raises(UserError, match="unknown io 'uint8'; choose one of float, int8, int16, quantized"):
        IoTypes.of("x=uint8")
