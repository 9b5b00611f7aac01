"""Tables of embeddings whose rows are shortened when they are looked up (`max_norm`): `limit_tables`."""

from __future__ import annotations

from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Node

aten = torch.ops.aten

_SAME = {aten.detach.default, aten.embedding_renorm_.default}


def limit_tables(program: ExportedProgram, original: ExportedProgram) -> None:
    """Shortens all rows of such tables of `program`, a copy of `original`, now, and removes the nodes that do it at
    each inference, so that the tables are constants.

    A table that is also read in another way, or whose memory another tensor shares, is left alone: that reader would
    see which rows have been looked up before. The tensors of `original` keep their values."""
    signature = program.graph_signature
    targets = {**signature.inputs_to_parameters, **signature.inputs_to_buffers}
    for table in program.graph.find_nodes(op="placeholder"):
        if table.name not in targets or targets[table.name] not in program.state_dict:
            continue
        names = _names(table)
        writers = [name for name in names if name.target is aten.embedding_renorm_.default]
        if not writers or not _is_looked_up_only(names, writers):
            continue
        # A copy of parameters does not share their memory.
        if _shares_memory(original, targets[table.name]):
            continue
        held = program.state_dict[targets[table.name]]
        limited = held.detach().clone()
        aten.embedding_renorm_(limited, torch.arange(len(limited)), *writers[0].args[2:])
        if isinstance(held, torch.nn.Parameter):
            limited = torch.nn.Parameter(limited, held.requires_grad)
        program.state_dict[targets[table.name]] = limited
        for name in reversed(names[1:]):
            name.replace_all_uses_with(table)
            program.graph.erase_node(name)
    program.graph_module.recompile()


def _shares_memory(program: ExportedProgram, name: str) -> bool:
    """Returns whether another tensor that `program` holds lies in the memory of the one called `name`."""
    others = [x for x in (*program.state_dict.values(), *program.constants.values()) if isinstance(x, torch.Tensor)]
    memory = program.state_dict[name].untyped_storage()._cdata
    return len([x for x in others if x.untyped_storage()._cdata == memory]) > 1


def _names(table: Node) -> list[Node]:
    """Returns `table` and what is the same memory, in an order in which each comes after what it is made of."""
    found = [table]
    for name in found:
        found += [user for user in name.users if user.target in _SAME and user.args[0] is name]
    return found


def _is_looked_up_only(names: list[Node], writers: list[Node]) -> bool:
    """Returns whether every reader looks up rows that a writer has shortened before, all in the same way."""
    if len({tuple(writer.args[2:]) for writer in writers}) != 1:
        return False
    for name in names:
        for reader in name.users:
            if reader in names:
                continue
            arguments: Any = reader.args
            if reader.target is not aten.embedding.default or arguments[0] is not name:
                return False
            if not any(writer < reader and _same_indices(arguments[1], writer.args[1]) for writer in writers):
                return False
    return True


def _same_indices(a: Any, b: Any) -> bool:
    """Returns whether both are the same tensor, or one is the other in contiguous memory."""
    return bool(_contiguous_source(a) is _contiguous_source(b))


def _contiguous_source(node: Any) -> Any:
    while node.target is aten.contiguous.default:
        node = node.args[0]
    return node
