"""What `Element` says of a type is what PyTorch, numpy, ExecuTorch and C say."""

from __future__ import annotations

import struct

import pytest
import torch
from executorch.exir.scalar_type import ScalarType
from executorch.exir.tensor import scalar_type_enum

from cmsis_nn_delegate.edge.torch_types import element_of, torch_type
from cmsis_nn_delegate.format.element import KERNEL_ELEMENTS, Element, named
from cmsis_nn_delegate.graph.tensor_type import TensorType

BYTES = [element for element in Element if element.bits >= 8]
C_SIZES = {"float": 4, "int8_t": 1, "int16_t": 2, "int32_t": 4, "int64_t": 8}


@pytest.mark.parametrize("element", BYTES)
def test_a_type_is_the_same_everywhere(element):
    dtype = torch_type(element)
    assert element_of(dtype) is element
    assert torch.zeros(1, dtype=dtype).numpy().dtype == element.numpy
    assert element.scalar_type == scalar_type_enum(dtype) and ScalarType(element.scalar_type)
    assert C_SIZES[element.c_type] == struct.calcsize(f"<{element.struct_code}") == element.nbytes(1)
    if element.is_integer:
        limits = torch.iinfo(dtype)
        assert (element.low, element.high) == (limits.min, limits.max)


@pytest.mark.parametrize("element", Element)
def test_a_number_in_a_payload_is_that_of_a_type_at_the_border(element):
    number = element.scalar_type
    assert number is None or Element.of_scalar_type(number) is (element if element.at_border else None)
    assert element.at_border <= (number is not None)


@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.float16, torch.float64])
def test_other_types_of_tensors_are_none(dtype):
    assert element_of(dtype) is None


@pytest.mark.parametrize("element", [element for element in Element if element.is_integer])
def test_zero_points_and_weights_are_numbers_of_the_type(element):
    least, most = element.zero_points[0], element.zero_points[-1]
    assert (least, most) == ((0, 0) if element.is_symmetric else (element.low, element.high))
    # Without the least number, every weight has its negative.
    assert element.symmetric_low == -element.high == element.low + 1


def test_kernels_compute_with_types_that_have_a_scale_at_the_border():
    assert KERNEL_ELEMENTS
    for element in KERNEL_ELEMENTS:
        assert element.at_border and element.is_integer and TensorType(element, (3,)).nbytes == element.nbytes(3)


def test_names_for_people():
    assert named(Element.INT8) == "int8"
    assert named(Element.INT8, Element.INT64, Element.FLOAT32) == "int8, int64 or float32"
