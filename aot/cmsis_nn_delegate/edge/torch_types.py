"""PyTorch's types of elements."""

from __future__ import annotations

from typing import Optional

import torch

from ..graph.tensor_type import Element
from .nodes import element_type


def torch_type(element: Element) -> torch.dtype:
    """Returns PyTorch's type for the elements."""
    found = getattr(torch, element.value)
    assert isinstance(found, torch.dtype)
    return found


def element_of(dtype: torch.dtype) -> Optional[Element]:
    """Returns the element type of a tensor of PyTorch; None if a graph has none like it."""
    return next((element for element in Element if element.value == element_type(dtype)), None)
