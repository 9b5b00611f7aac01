"""Finds writes in place, and rewrites a graph without them.

Quantization puts quantize and dequantize nodes between the reader of a tensor and the node that computed it, so that
they no longer share memory. A later write through another name would be lost.
"""

from __future__ import annotations

import copy
import operator
from collections.abc import Iterator
from typing import Any, Optional

import torch
from torch._functorch.predispatch import _add_batch_dim
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind
from torch.fx import Graph, GraphModule, Node

from ..edge.kept_whole import kept_whole
from ..edge.states import copy_held_states
from ..support.errors import UserError
from .tables import limit_tables
from .views import fit_views

aten = torch.ops.aten

# In eval mode they return what they are given, whatever their schemas say.
DROPOUT = frozenset(
    {
        aten.dropout.default,
        aten.dropout_.default,
        aten.feature_dropout.default,
        aten.feature_dropout_.default,
        aten.alpha_dropout.default,
        aten.feature_alpha_dropout.default,
    }
)
# May return what they are given, though their schemas do not say so.
_MAY_ALIAS = frozenset(
    {
        aten.type_as.default,
        aten.einsum.default,
        aten.sum_to_size.default,
        aten.atleast_1d.default,
        aten.atleast_2d.default,
        aten.atleast_3d.default,
        aten.broadcast_tensors.default,
        aten.meshgrid.default,
        aten.meshgrid.indexing,
    }
)


def written(node: Node) -> list[Node]:
    """Returns the arguments that `node` writes to."""
    return [arg for arg, info in _annotated_arguments(node) if info is not None and info.is_write]


def replace_in_place(model: GraphModule) -> None:
    """Replaces `relu_`, `add_` and the like by their out-of-place forms.

    Nodes still write the state that the model keeps in buffers, but nothing quantized reads their results.
    A write into an input becomes a separate result, and the caller's tensor stays unchanged.

    UserError names a node whose write is read under another name.
    """
    state = {node for node in model.graph.nodes if node.op == "get_attr"}
    _copy_shared_sources(model.graph, state)
    memory = _Memory(model.graph, state)
    for node in memory.writers:
        if memory.seen_elsewhere(node) or not memory.is_state(node) and _out_of_place(node) is None:
            raise UserError(
                f"{describe(node)} writes into a tensor that is read under another name, as a view of it is, "
                "and quantization would lose that: give prepare_pt2e the module that "
                "cmsis_nn_delegate.quantizable_module makes of the exported program"
            )
    for node in memory.writers:
        if not memory.is_state(node):
            node.target = _out_of_place(node)
    model.graph.lint()
    model.recompile()


def functional_module(program: ExportedProgram, share_parameters: bool = False) -> GraphModule:
    """Returns a copy of the program's module that writes only to its state. It has its own parameters unless
    `share_parameters` is set.

    A program that writes through views is traced again, functionally. UserError for one in training mode,
    whose dropout and batch norms would not survive that.
    """
    original = program
    program = copy.deepcopy(program, {id(p): p for p in program.parameters()} if share_parameters else None)
    limit_tables(program, original)
    _remove_dropout(program)
    program = without_vmap(program)
    memory = _Memory(program.graph, _state(program))
    _require_own_states(program, memory)
    fitted = _fit_sources(program.graph)
    if _copy_shared_sources(program.graph, _state(program)) or fitted:
        memory = _Memory(program.graph, _state(program))
    hidden = [n for n in memory.writers if memory.seen_elsewhere(n) or _out_of_place(n) is None]
    if is_training(program.graph):
        if hidden:
            raise UserError(
                f"{describe(hidden[0])} writes into a tensor that is read under another name, which cannot "
                "be trained with quantization: compute a new tensor there (torch.where, torch.cat)"
            )
    elif hidden or any(memory.is_state(node) and node.users for node in memory.writers):
        program = _traced_again(program, memory.writers[0])
        copy_held_states(program, _clone, _aliased_arguments)
        model = program.module(check_guards=False)
        _drop_writes_into_inputs(model)
        _remove_copies(model)
        _copy_shared_sources(model.graph, {node for node in model.graph.nodes if node.op == "get_attr"})
        fit_views(model)  # a state that was written has the strides of what was written to it
        return model
    model = program.module(check_guards=False)
    replace_in_place(model)
    return model


def _fit_sources(graph: Graph) -> bool:
    """Gives what `copy_` writes the type and shape of what it writes to: torch.export, when it makes a program
    functional, takes the source itself for the later value. Returns whether there were any to change."""
    changed = False
    for node in graph.find_nodes(op="call_function", target=aten.copy_.default):
        source: Any = node.args[1]
        to, value = node.args[0].meta.get("val"), source.meta.get("val")
        if not isinstance(to, torch.Tensor) or not isinstance(value, torch.Tensor):
            continue
        with graph.inserting_before(node):
            for differs, function, argument in (
                (value.dtype != to.dtype, aten.to.dtype, to.dtype),
                (value.shape != to.shape, aten.expand.default, list(to.shape)),
            ):
                if differs:
                    before = source
                    source = graph.call_function(function, (before, argument))
                    value = function(value, argument)
                    source.meta = {**before.meta, "val": value}
        if source is not node.args[1]:
            node.update_arg(1, source)
            changed = True
    return changed


def _copy_shared_sources(graph: Graph, state: set[Node]) -> bool:
    """Copies what is written to a state and is, or may be a view of, another state, or is written to another one as
    well. torch.export, when it makes such a program functional, may take the later value of the other one. Returns
    whether there were any."""
    memory = _Memory(graph, state)
    seen: set[Any] = set()
    shared: list[tuple[Node, Any]] = []
    for node in memory.writers:
        if node.target is not aten.copy_.default or not memory.is_state(node):
            continue
        source: Any = node.args[1]
        if source in seen or memory.may_be_state(source):
            shared.append((node, source))
        seen.add(source)
    for node, source in shared:
        with graph.inserting_before(node):
            copied = _clone(source)
        copied.meta = {**source.meta, "val": source.meta["val"].clone()} if "val" in source.meta else {**source.meta}
        node.update_arg(1, copied)
    return bool(shared)


def _clone(node: Node) -> Node:
    return node.graph.call_function(aten.clone.default, (node,))


def without_vmap(program: ExportedProgram) -> ExportedProgram:
    """Returns the program with what torch.vmap computes as functions of whole batches: torch.export records the calls
    of vmap itself, and what they return are no tensors with a memory of their own."""
    calls = program.graph.find_nodes(op="call_function", target=_add_batch_dim)
    return _traced_again(program, calls[0], "is part of torch.vmap") if calls else program


def _traced_again(program: ExportedProgram, writer: Node, what: str = "writes in place") -> ExportedProgram:
    """Returns the program without writes in place, and without vmap. `writer`, for an error, does `what`."""
    try:
        with kept_whole():
            program = program.run_decompositions({})
    except Exception as error:
        raise UserError(
            f"{describe(writer)} {what}, and torch.export cannot rewrite the model without that: "
            f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}",
            exit_code=1,
        ) from error
    return program


def lost_writers(graph: Graph) -> list[Node]:
    """Returns the nodes whose writes quantization would lose: they write to something other than state, or to state
    that is read under another name."""
    memory = _Memory(graph, {node for node in graph.nodes if node.op == "get_attr"})
    return [n for n in memory.writers if not memory.is_state(n) or memory.seen_elsewhere(n)]


def written_state(graph: Graph) -> set[Node]:
    """Buffers that a graph without other writes changes, under all their names, and what is computed of
    these and of constants alone."""
    state = names_of_state(graph)
    constant = constant_nodes(graph)
    for node in graph.nodes:
        if node.op == "call_function" and node in constant and not state.isdisjoint(node.all_input_nodes):
            state.add(node)
    return state


def is_written(read: Node) -> bool:
    """Returns whether the graph writes the parameter or buffer that the get_attr node `read` names, perhaps through a
    view: what it holds now is then no constant."""
    names = [node for node in read.graph.find_nodes(op="get_attr", sort=False) if node.target == read.target]
    while names:
        name = names.pop()
        for user in name.users:
            if name in written(user):
                return True
            if name in _aliased_arguments(user):
                names.append(user)
    return False


def names_of_state(graph: Graph) -> set[Node]:
    """Returns all names of the buffers that a graph without other writes changes: the buffers, and views of them."""
    return _Memory(graph, set()).written()


def written_buffers(model: GraphModule) -> dict[str, torch.Tensor]:
    """Returns the buffers that a graph without other writes changes, by name."""
    names = {str(node.target) for node in names_of_state(model.graph) if node.op == "get_attr"}
    return {name: operator.attrgetter(name)(model) for name in names}


def frozen_nodes(graph: Graph) -> set[Node]:
    """Returns parameters and buffers that nothing in the graph writes, and what is computed of them alone."""
    changing = names_of_state(graph)
    frozen: set[Node] = set()
    for node in graph.nodes:
        inputs = node.all_input_nodes
        if node.op == "get_attr" or (node.op.startswith("call") and inputs and frozen.issuperset(inputs)):
            if node not in changing:
                frozen.add(node)
    return frozen


def compute_late(graph: Graph) -> None:
    """Moves what is computed of weights to where it is read first, so that a run does not hold all of it at once."""
    frozen = frozen_nodes(graph)
    for node in reversed(list(graph.nodes)):
        if node in frozen and node.op != "get_attr" and node.users:
            min(node.users).prepend(node)


def constant_nodes(graph: Graph) -> set[Node]:
    """Returns parameters and buffers, whether written or not, and what is computed of them alone."""
    constant = {node for node in graph.nodes if node.op == "get_attr"}
    for node in graph.nodes:
        if node.op.startswith("call") and node.all_input_nodes and constant.issuperset(node.all_input_nodes):
            constant.add(node)
    return constant


def describe(node: Node) -> str:
    """Describes a node for a message, with the module that it comes from."""
    for path, kind in reversed(list((node.meta.get("nn_module_stack") or {}).values())):
        if path:
            name = kind if isinstance(kind, str) else getattr(kind, "__name__", str(kind))
            return f"{node.name} in {path} ({name.rsplit('.', 1)[-1]})"
    return node.name


class _Memory:
    """Knows which nodes of a graph may name the same memory."""

    def __init__(self, graph: Graph, state: set[Node]) -> None:
        self._order = {node: index for index, node in enumerate(graph.nodes)}
        self._parent: dict[Node, Node] = {node: node for node in graph.nodes}
        storages: dict[int, Node] = {}
        attributes: dict[str, Node] = {}
        for node in graph.nodes:
            if node.op == "get_attr":
                self._join(node, attributes.setdefault(node.target, node))
            for source in _aliased_arguments(node):
                self._join(node, source)
            # Traced programs know more than schemas do; programs loaded from a file do not have this information.
            value = node.meta.get("val")
            if isinstance(value, torch.Tensor) and value.layout is torch.strided:
                self._join(node, storages.setdefault(value.untyped_storage()._cdata, node))
        self._names: dict[Node, list[Node]] = {}
        for node in graph.nodes:
            self._names.setdefault(self._root(node), []).append(node)
        self._state = {self._root(node) for node in state}
        self.writers = [node for node in graph.nodes if written(node)]

    def names(self, node: Node) -> list[Node]:
        return self._names[self._root(node)]

    def names_of(self, name: str) -> list[Node]:
        """Returns all nodes that may share memory with the node of that name."""
        return self.names(next(node for node in self._order if node.name == name))

    def written(self) -> set[Node]:
        """Returns what is written anywhere in the graph, under all its names."""
        return {name for writer in self.writers for arg in written(writer) for name in self.names(arg)}

    def is_state(self, writer: Node) -> bool:
        """Returns whether it writes to a parameter or buffer."""
        return any(map(self.may_be_state, written(writer)))

    def may_be_state(self, node: Node) -> bool:
        """Returns whether `node` may share memory with a parameter or buffer."""
        return self._root(node) in self._state

    def seen_elsewhere(self, writer: Node) -> bool:
        """Whether a name that is older than the write is read after it. Exported graphs name the result
        of a write in every later use of what was written."""
        now = self._order[writer]
        return any(
            self._order[name] < now and any(self._order[user] > now for user in name.users)
            for target in written(writer)
            for name in self.names(target)
        )

    def _root(self, node: Node) -> Node:
        while self._parent[node] is not node:
            node = self._parent[node]
        return node

    def _join(self, a: Node, b: Node) -> None:
        self._parent[self._root(a)] = self._root(b)


def _annotated_arguments(node: Node) -> Iterator[tuple[Node, Any]]:
    """Every node that is an argument of an operator, with what the schema says about its memory: an
    `alias_info` of torch.FunctionSchema, or None."""
    schema = getattr(node.target, "_schema", None)
    if node.op != "call_function" or schema is None:
        return
    for index, argument in enumerate(schema.arguments):
        value = node.args[index] if index < len(node.args) else node.kwargs.get(argument.name)
        for item in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(item, Node):
                yield item, argument.alias_info


def _aliased_arguments(node: Node) -> Iterator[Node]:
    """Yields the arguments whose memory the result of `node` may share."""
    if node.op == "call_function" and getattr(node.target, "__name__", "") == "getitem":
        source: Any = node.args[0]
        yield source
    liar = node.target in _MAY_ALIAS or _is_idle_dropout(node)
    for argument, info in _annotated_arguments(node):
        if liar or info is not None:
            yield argument


def _out_of_place(node: Node) -> Optional[torch._ops.OpOverload]:
    """Returns aten.relu.default for a call of aten.relu_.default; None if there is no such form."""
    target: Any = node.target
    namespace, name = target._schema.name.split("::")
    packet = getattr(getattr(torch.ops, namespace), name.removesuffix("_"), None)
    overload = getattr(packet, target._overloadname, None)
    if not name.endswith("_") or overload is None or overload._schema.is_mutable:
        return None
    types = [[str(a.type) for a in op._schema.arguments] for op in (overload, target)]
    return overload if types[0] == types[1] else None


def _state(program: ExportedProgram) -> set[Node]:
    inputs = set(program.graph_signature.user_inputs)
    return {n for n in program.graph.nodes if n.op == "placeholder" and n.name not in inputs}


def _require_own_states(program: ExportedProgram, memory: _Memory) -> None:
    """UserError if the program writes a parameter, or a buffer that shares its memory with another one."""
    specs = {spec.arg.name: spec for spec in program.graph_signature.input_specs if spec.target}
    held = {name: program.state_dict.get(spec.target) for name, spec in specs.items()}
    storages = {name: x.untyped_storage()._cdata for name, x in held.items() if isinstance(x, torch.Tensor)}
    for name in sorted(node.name for node in memory.written() if node.name in storages):
        target = specs[name].target
        if specs[name].kind is InputKind.PARAMETER:
            limited = [n for n in memory.names_of(name) if n.target is aten.embedding_renorm_.default]
            if limited:
                raise UserError(
                    f"an embedding with max_norm writes into {target}, which is not only looked up, with one max_norm: "
                    f"once it is trained, limit its rows (torch.renorm({target}, {limited[0].args[3]:g}, 0, max_norm)) "
                    "and set max_norm to None"
                )
            raise UserError(f"forward writes into the parameter {target}: make it a buffer, with register_buffer()")
        for other, storage in storages.items():
            if other != name and storage == storages[name]:
                raise UserError(
                    f"forward writes into {target}, which shares its memory with {specs[other].target}, and "
                    "torch.export would separate them: make one of them a view in forward, or a copy (.clone())"
                )


def _is_idle_dropout(node: Node) -> bool:
    return node.op == "call_function" and node.target in DROPOUT and not node.args[2]


def is_training(graph: Graph) -> bool:
    """Whether dropout or batch norms compute as in training."""
    return any(
        node.op == "call_function"
        and (node.target is aten.batch_norm.default and node.args[5] or node.target in DROPOUT and node.args[2])
        for node in graph.nodes
    )


def _remove_dropout(program: ExportedProgram) -> None:
    """Removes dropout in eval mode, which a second trace would treat as a copy."""
    for node in list(program.graph.nodes):
        if _is_idle_dropout(node) and not any(user.op == "output" for user in node.users):
            node.replace_all_uses_with(node.args[0])
            program.graph.erase_node(node)
    program.graph_module.recompile()


def _drop_writes_into_inputs(model: GraphModule) -> None:
    """Removes the copies into inputs with which a functional program ends."""
    for node in reversed(model.graph.nodes):
        if node.target is aten.copy_.default and node.args[0].op == "placeholder" and not node.users:
            model.graph.erase_node(node)
    model.recompile()


def _remove_copies(model: GraphModule) -> None:
    """Removes clones where nothing but state is ever written."""
    memory = _Memory(model.graph, set())
    for node in list(model.graph.nodes):
        if node.target is not aten.clone.default or not _same_layout(node, node.args[0]):
            continue
        if all(name.op == "call_function" for name in memory.names(node.args[0])):
            node.replace_all_uses_with(node.args[0])
            model.graph.erase_node(node)
    model.recompile()


def _same_layout(a: Node, b: Node) -> bool:
    x, y = a.meta.get("val"), b.meta.get("val")
    return isinstance(x, torch.Tensor) and isinstance(y, torch.Tensor) and x.stride() == y.stride()
