"""Inputs of numbers that are taken for masks of 0 and 1, because they were exported with these alone.

`quantizable_module` notes what inputs were exported with, `truth_values` what is taken for 0 and 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch.export import ExportedProgram
from torch.fx import GraphModule
from torch.utils import _pytree as pytree

from ..support.errors import UserError
from .specs import EXAMPLE, TRUTH


def note_examples(model: GraphModule, program: ExportedProgram) -> None:
    """Notes at each input of `model` the values that `program` was exported with."""
    inputs = model.graph.find_nodes(op="placeholder")
    examples = pytree.tree_leaves(program.example_inputs)
    if len(inputs) == len(examples):
        for node, example in zip(inputs, examples):
            node.meta[EXAMPLE] = example


def truth_inputs(model: GraphModule) -> Mapping[int, str]:
    """Returns the names of inputs that are taken for 0 and 1, by position."""
    inputs = model.graph.find_nodes(op="placeholder")
    return {index: node.name for index, node in enumerate(inputs) if node.meta.get(TRUTH)}


def require_truths(names: Mapping[int, str], sample: Sequence[torch.Tensor], what: str) -> None:
    """UserError if one of the inputs called `names` holds another number in `sample`, which messages call `what`."""
    for index, name in names.items():
        others = sample[index][(sample[index] != 0) & (sample[index] != 1)]
        if others.numel():
            raise UserError(
                f"input {name} is {others.reshape(-1)[0]:g} in {what}, and only 0 and 1 in the example inputs, so that "
                "it was taken for a mask: give example inputs in which it has other numbers too"
            )
