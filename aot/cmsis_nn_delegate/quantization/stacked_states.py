"""Gives each part of a stacked state a buffer of its own.

The states of several recurrent layers are one tensor of PyTorch, [layers, batch, hidden]. In one buffer, what is read
of it would be a selection, and what is written a concatenation; and all parts would share one scale."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, Optional

import torch
from torch.fx import GraphModule, Node

from .in_place import names_of_state, written
from .rewriting import finish

aten = torch.ops.aten


def separate_stacked_states(model: GraphModule) -> None:
    """Separates the states of `model` that are written as a concatenation of rows along dimension 0, and read as
    selections of these rows."""
    states = [node for node in names_of_state(model.graph) if node.op == "get_attr"]
    for target in dict.fromkeys(str(state.target) for state in states):
        names = [state for state in states if state.target == target]
        readers = [(state, reader) for state in names for reader in state.users]
        writers = [reader for state, reader in readers if state in written(reader)]
        rows = _rows(writers[0]) if len(writers) == 1 else None
        selections = [reader for _, reader in readers if reader not in writers]
        if rows is not None and all(_selects_row(node) for node in selections):
            _separate(model, target, writers[0], rows, selections)
    finish(model)


def _rows(writer: Node) -> Optional[Sequence[Node]]:
    """Returns what is concatenated to the whole new value of a state, if these are rows."""
    if writer.target is not aten.copy_.default:
        return None
    value: Any = writer.args[1]
    if value.target is not aten.cat.default or (len(value.args) > 1 and value.args[1] != 0):
        return None
    rows: Sequence[Node] = value.args[0]
    state: Any = writer.args[0]
    shape = operator.attrgetter(str(state.target))(state.graph.owning_module).shape
    whole = len(rows) > 1 and value.meta["val"].shape == shape
    return rows if whole and all(row.meta["val"].shape[0] == 1 for row in rows) else None


def _selects_row(node: Node) -> bool:
    return bool(node.target is aten.select.int and node.args[1] == 0)


def _separate(model: GraphModule, target: str, writer: Node, rows: Sequence[Node], selections: Sequence[Node]) -> None:
    path, _, name = target.rpartition(".")
    owner = operator.attrgetter(path)(model) if path else model
    data = getattr(owner, name).detach()
    parts = []
    for index, row in enumerate(rows):
        part = f"{name}_{index}"
        while hasattr(owner, part):
            part += "_"
        owner.register_buffer(part, data[index : index + 1].clone())
        with model.graph.inserting_before(next(iter(model.graph.nodes))):
            read = model.graph.get_attr(f"{path}.{part}" if path else part)
        read.meta["val"] = row.meta["val"].new_empty(row.meta["val"].shape)
        parts.append(read)
    for selection in selections:
        which: Any = selection.args[2]
        selection.target, selection.args = aten.squeeze.dim, (parts[which], 0)
    for read, row in zip(parts, rows):
        with model.graph.inserting_before(writer):
            copy = model.graph.call_function(aten.copy_.default, (read, row))
        copy.meta = {**writer.meta, "val": read.meta["val"]}
    model.graph.erase_node(writer)
