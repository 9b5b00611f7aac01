"""Decides which nodes of an edge program are delegated, and how they are grouped.

Kernels compute `dequantize -> operator -> quantize`, so these nodes belong together:
they form a *unit*. Units are then grouped into as few partitions as possible:

    level(unit)  = max over what it reads: level of a unit, level of another node + 1
    level(other) = max over what it reads

All units of one level make one partition. It reads only lower levels and nodes that
depend on them, so partitions never depend on each other in a circle. A network
without unsupported operators is a single partition, connected or not. But a payload
has few inputs and outputs, so a level with many of them is cut into several (`_cut`).
A unit that alone has too many, such as a concatenation of that many inputs of the model,
is `crowded`: `smaller_units` rewrites the program so that it is several.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Optional

from torch.export import ExportedProgram
from torch.fx import Node

from ..edge.context import EdgeContext, is_index
from ..edge.functions import Functions, name_in
from ..edge.naming import computed_in_float, left_in_float
from ..edge.nodes import GETITEM, operand, quantized_element, target_name
from ..edge.refusal import Reason, Refusal
from ..format.element import COMMON_ELEMENT, MOVED_ELEMENTS, Element, named
from ..format.schema import MAX_IO
from ..ops.annotation import LookUp, RecurrentLayer
from ..ops.op import Op
from ..ops.registry import OPS
from ..providers.provider import Provider
from ..providers.registry import DEFAULT
from .held_states import returned_once, states_without_border
from .no_kernel import no_kernel
from .portable import missing_kernel

_BY_TARGET: dict[str, list[Op]] = {}
for _op in OPS.values():
    for _target in _op.targets:
        _BY_TARGET.setdefault(_target, []).append(_op)


_ONLY_PLACES = (
    "no work for the delegate: all that the model does is to give its inputs other shapes or to put them side by side, "
    "which needs no kernel: leave that to the application"
)


def find_op(node: Node, context: EdgeContext) -> Optional[Op]:
    """Returns the operator for an edge node; None if there is none."""
    in_float = computed_in_float(node)
    for op in _BY_TARGET.get(target_name(node), ()):
        taken = (COMMON_ELEMENT,) if op.elements is None else op.elements
        if (Element.FLOAT32 in taken if in_float else taken != (Element.FLOAT32,)) and op.claims(node, context):
            return op
    return None


def _dialect_free(target: str) -> str:
    """Returns the ATen name of an operator, without what edge programs add: they call view view_copy."""
    return target.replace("_copy.", ".")


class Support:
    """The decision which nodes of a program are delegated.

    `partitions` maps every delegated node to the number of its partition; `refusals` has every
    other operator. `functions` and `prepared` are those of `EdgeContext`.

    With `data_later` the data of constants is not checked, even if the program has it. `earlier` is the decision about
    the program that this one was made from. Nodes that it accepted are not checked again; nodes that it refused are, so
    that the reason names nodes of this program. `providers` are those of the firmware's kernels, and `max_io` is how
    many inputs and outputs a partition may have.

    `circular` has the nodes that were left out because they depend on their own results. With `keep_crowded`, `crowded`
    has each unit with more than `max_io` inputs and outputs, and the program must be rewritten (see `smaller_units`)
    before its partitions are used. Without that such units are refused.
    """

    def __init__(
        self,
        program: ExportedProgram,
        functions: Optional[Functions] = None,
        prepared: bool = False,
        data_later: bool = False,
        earlier: Optional[Support] = None,
        providers: Sequence[Provider] = DEFAULT,
        max_io: int = MAX_IO,
        keep_crowded: bool = False,
    ) -> None:
        self._providers = providers
        self._max_io = max_io
        self._keep_crowded = keep_crowded
        self.context = EdgeContext(program, functions, prepared)
        self.refusals: dict[Node, Refusal] = {}
        self._calls = [node for node in program.graph.nodes if node.op == "call_function"]
        self._graph = program.graph
        self._program = program
        self._earlier = earlier
        self._accepted: dict[str, str] = {}  # names and targets of nodes that `Op.check` has accepted
        self._ops: dict[Node, Op] = {}  # operators, quantize and dequantize of activations
        self._constants: set[Node] = set()  # dequantize and permute of weights
        self._index_moves: set[Node] = set()  # what only moves the indices of delegated look-ups
        self.circular: list[Node] = []
        self.crowded: list[list[Node]] = []
        self._classify(data_later, earlier)
        while self._drop_incomplete() or self._drop_borders() or self._drop_circular() or self._drop_crowded():
            pass
        self._drop_useless_borders()
        self.partitions = self._number(self._levels(self._units()))

    def op(self, node: Node) -> Optional[Op]:
        """Returns the operator of a delegated node; None for parts of an operator (weights, getitem)."""
        return self._ops.get(node)

    def refusal_before(self, node: Node) -> Optional[Refusal]:
        """Returns why the earlier decision refused the operator that `node` was decomposed from; None if it did not, or
        is unknown."""
        if self._earlier is None:
            return None
        name = name_in(self._earlier._graph, node)
        return next((r for refused, r in self._earlier.refusals.items() if refused.name == name), None)

    # Which nodes ------------------------------------------------------------

    def _accepts(self, node: Node) -> bool:
        """Returns whether the origin of `node`, a node of a later program, was accepted and calls the same operator."""
        name = name_in(self._graph, node)
        return name is not None and self._accepted.get(name) == _dialect_free(target_name(node))

    def _check(self, node: Node, op: Op, data_later: bool, earlier: Optional[Support]) -> Optional[Refusal]:
        if earlier is None or not earlier._accepts(node):
            refusal = op.refuse(node, self.context)
            if refusal is not None:
                return refusal
        refusal = self._refuse_provider(op)
        if refusal is not None:
            return refusal
        self._accepted[node.name] = _dialect_free(target_name(node))
        return op.check_data(node, self.context) if self.context.has_data and not data_later else None

    def _refuse_provider(self, op: Op) -> Optional[Refusal]:
        """Refuses an operator of which no provider has a kernel. Whether quantize and dequantize become calls depends
        on what is around them (`_drop_borders`), and so it does for what moves values."""
        if op.name in ("quantize", "dequantize"):
            return None
        return self._without_kernel(op)

    def _without_kernel(self, op: Op) -> Optional[Refusal]:
        """Refuses `op` if it needs a kernel of its own or of what it becomes, and no provider has one."""
        names = [op.name] if op.kernels else op.becomes
        kernels = [kernel for name in names for kernel in OPS[name].kernels]
        found = [own for p in self._providers for name in names for own in p.implementations(name) if own.everywhere]
        if not kernels or any(own.kernel in kernels for own in found):
            return None
        tried = " and ".join(provider.name for provider in self._providers)
        first = kernels[0]
        why = "; ".join(p.why_lacking(first) or f"{p.name} has no {first.name}" for p in self._providers)
        return Refusal(
            Reason.UNSUPPORTED_OPERATOR,
            f"no kernel for {op.name} in {tried}, and no other provider of kernels is allowed ({why}): add portable to "
            "--providers, or to the providers of compile_model",
        )

    def _drop_borders(self) -> bool:
        """Drops each quantize and dequantize that would be a call, if no provider has a kernel for it. Returns whether
        any were dropped."""
        dropped = {}
        for node, op in self._ops.items():
            if op.name == "quantize":
                outside = any(source not in self._ops for source in self._activation_inputs(node))
            elif op.name == "dequantize":
                outside = any(reader not in self._ops for reader in self._readers(node))
            else:
                continue
            refusal = self._without_kernel(op) if outside else None
            if refusal is not None:
                dropped[node] = refusal
        for node, refusal in dropped.items():
            del self._ops[node]
            self.refusals[node] = refusal
        return bool(dropped)

    def _classify(self, data_later: bool, earlier: Optional[Support]) -> None:
        for node in self._calls:
            if self.context.constant_float(node) is not None:
                self._constants.add(node)
                continue
            if target_name(node) == GETITEM:
                continue  # part of the operator that it reads
            if self.context.moves_indices(node):
                self._index_moves.add(node)
                continue
            where = left_in_float(node)
            if where is not None:
                self.refusals[node] = Refusal(
                    Reason.LEFT_IN_FLOAT,
                    f"left in float because you asked for that ({where}); without that it is quantized if there is "
                    "a kernel for it",
                )
                continue
            op = find_op(node, self.context)
            if op is None and computed_in_float(node):
                self.refusals[node] = Refusal(
                    Reason.UNSUPPORTED_OPERATOR,
                    f"there is no kernel for {target_name(node) or node.target} in float32, which `format: float32` "
                    "asks for: give it another format, or write it with functions that docs/operators.md lists as "
                    "computed in float32",
                )
                continue
            if op is None:
                self.refusals[node] = Refusal(
                    Reason.UNSUPPORTED_OPERATOR,
                    no_kernel(target_name(node) or str(node.target), missing_kernel(node.target)),
                )
                continue
            refusal = self._check(node, op, data_later, earlier)
            if refusal is None:
                self._ops[node] = op
            elif refusal.reason is Reason.NOT_QUANTIZED and not op.computes and self.context.quantized:
                self.refusals[node] = self._no_work(node)
            else:
                self.refusals[node] = refusal
        self._keep_index_moves()

    def _keep_index_moves(self) -> None:
        """Leaves in `_index_moves` what only look-ups of the delegate read: they take the indices from where these come
        from. Layers that are given lengths read all of a tensor."""
        for node in reversed(self._calls):
            if node not in self._index_moves:
                continue
            other = next((user for user in node.users if user not in self._index_moves and user not in self._ops), None)
            layer = next((user for user in node.users if user in self._ops and not self._looks_up(user)), None)
            if other is not None:
                self._index_moves.remove(node)
                self.refusals[node] = Refusal(
                    Reason.UNSUPPORTED_DTYPE,
                    f"it moves integers that {self.context.described(other)} reads; the delegate computes with "
                    f"{named(*MOVED_ELEMENTS)}, and takes integers only as indices of constant tables",
                )
            elif layer is not None and self.context.indices_in_order(node) is node:
                self._index_moves.remove(node)
                self.refusals[node] = Refusal(
                    Reason.UNSUPPORTED_PARAMETER,
                    f"it takes the lengths that {self.context.described(layer)} is given out of a larger tensor, and "
                    "kernels read lengths from a tensor that has nothing else: make them an input of their own",
                )

    def _looks_up(self, node: Node) -> bool:
        return isinstance(self._ops[node].annotation, LookUp)

    def _no_work(self, node: Node) -> Refusal:
        """Refuses a node that the quantizer left in float because its neighbours stay in float."""
        state = next(filter(None, map(self.context.float_state, self._activation_inputs(node))), "")
        if state:
            return Refusal(Reason.NOT_FUSABLE, f"it reads {state}")
        sources = [x for x in self._activation_inputs(node) if x.op == "call_function"]
        around = [x for x in (*sources, *self._readers(node)) if x.op == "call_function"]
        around = [x for x in around if x not in self._ops] or around
        stay = f", such as {self.context.described(around[0])}" if around else ""
        return Refusal(
            Reason.NOT_FUSABLE,
            f"no work left for the delegate: the operators before and after it stay in float{stay}, and "
            "quantizing for it alone would cost more than it saves",
        )

    def _drop_incomplete(self) -> bool:
        """Drops operators that exchange a float tensor with an operator that is not delegated. Returns whether any were
        dropped."""
        dropped = []
        for node, op in self._ops.items():
            other = self._missing_neighbour(node, op)
            if other is not None:
                dropped.append(node)
                self.refusals[node] = Refusal(
                    Reason.NOT_FUSABLE,
                    f"it can only run together with {self.context.described(other)}, which is not "
                    "delegated; see the reason there, and that the tensor between them is quantized",
                )
        for node in dropped:
            del self._ops[node]
        return bool(dropped)

    def _missing_neighbour(self, node: Node, op: Op) -> Optional[Node]:
        if computed_in_float(node):
            return None  # it reads and writes floats, wherever they come from
        if op.name != "quantize":  # that one may read any float tensor
            for source in self._activation_inputs(node):
                if is_index(source):
                    continue
                if source.op == "placeholder" and op.name != "dequantize":
                    return source
                if op.name == "dequantize":
                    continue
                if source not in self._ops:
                    return source
        if op.name in ("quantize", "dequantize") or op.gives_index:
            return None
        needed = (*self._readers(node), *op.companions(node, self.context))
        return next((other for other in needed if other not in self._ops), None)

    def _activation_inputs(self, node: Node) -> Iterator[Node]:
        """Yields what `node` reads, except constants; for an operator with several results, the operator itself."""
        for source in node.all_input_nodes:
            if source in self._constants or self.context.is_constant(source):
                continue
            source = self._unmoved(source)
            yield operand(source) if target_name(source) == GETITEM else source

    def _unmoved(self, indices: Node) -> Node:
        """Returns where a look-up of the delegate takes its indices from; other nodes as they are."""
        while indices in self._index_moves:
            indices = operand(indices)
        return indices

    def _readers(self, node: Node) -> Iterator[Node]:
        for user in node.users:
            if target_name(user) == GETITEM:
                yield from user.users
            else:
                yield user

    def _drop_circular(self) -> bool:
        """Drops units that read their own results by way of other nodes, which happens only if one dequantize
        serves several operators. Returns whether any were dropped."""
        levels = self._levels(self._units())
        circular = [node for node, level in levels.items() if level > len(self._calls)]
        for node in circular:
            del self._ops[node]
            self.refusals[node] = Refusal(
                Reason.NOT_FUSABLE,
                "it shares a dequantize with an operator on the other side of one that is not delegated: give each "
                "operator a dequantize of its own",
            )
        self.circular += circular
        return bool(circular)

    def _drop_crowded(self) -> bool:
        """Drops crowded units, unless they are kept. Returns whether any were dropped."""
        if self._keep_crowded:
            return False
        levels = self._levels(self._units())
        for level in set(levels.values()):
            self._cut([node for node in levels if levels[node] == level])
        crowded, self.crowded = self.crowded, []
        for unit in crowded:
            for node in unit:
                del self._ops[node]
                self.refusals[node] = Refusal(
                    Reason.TOO_LARGE,
                    f"it and what it exchanges floats with have {self._io_count(unit)} inputs and outputs, and a call "
                    f"of the delegate has at most {self._max_io}: lower the program with cmsis_nn_delegate.lower, "
                    "which divides it",
                )
        return bool(crowded)

    def _drop_useless_borders(self) -> None:
        """Drops each quantize and dequantize that neither feeds nor follows an operator. A quantize that reads a
        dequantize is an operator, too: it requantizes."""
        names = {node: op.name for node, op in self._ops.items()}
        borders = [
            node
            for node, name in names.items()
            if name == "dequantize" or (name == "quantize" and names.get(operand(node)) != "dequantize")
        ]

        def works(node: Node) -> bool:
            return node in self._ops and node not in border_set

        border_set = set(borders)
        feeds = {node for node in borders if any(map(works, self._readers(node)))}
        follows = {node for node in borders if any(map(works, self._activation_inputs(node)))}
        useful = feeds | follows
        useful |= {node for node in borders if any(user in feeds for user in node.users)}
        useful |= {node for node in borders if node.args[0] in follows}
        # What a call keeps of what it reads.
        for state in returned_once(self._program):
            if state.result in border_set and state.result.args[0] in border_set:
                kept = operand(state.result)
                if kept in useful or any(user in useful for user in operand(kept).users):
                    useful |= {state.result, kept}
        for node in borders:
            if node not in useful:
                del self._ops[node]
                self.refusals[node] = Refusal(Reason.NOT_FUSABLE, "it stands between operators that are not delegated")

    # Grouping ---------------------------------------------------------------

    def _units(self) -> dict[Node, Node]:
        """Returns a representative for each delegated node; nodes that exchange float tensors share one. So do those
        that exchange states of recurrent layers with more bits than other tensors, and what only moves these, so that
        one call reads and keeps a state."""
        parent = {node: node for node in self._ops}

        def find(node: Node) -> Node:
            while parent[node] is not node:
                parent[node] = parent[parent[node]]
                node = parent[node]
            return node

        wide_states = any(isinstance(op.annotation, RecurrentLayer) for op in self._ops.values())
        for node, op in self._ops.items():
            if computed_in_float(node):
                continue  # a partition may begin and end at any float tensor of these
            others = (*self._activation_inputs(node), *self._readers(node))
            if op.name in ("quantize", "dequantize"):
                if not wide_states or quantized_element(node) in (None, COMMON_ELEMENT):
                    continue
                if op.name == "quantize":
                    others = (*self._readers(node),)
            for other in others:
                if other in parent and not computed_in_float(other):
                    parent[find(other)] = find(node)
        return {node: find(node) for node in self._ops}

    def _levels(self, units: dict[Node, Node]) -> dict[Node, int]:
        """Returns the level of each delegated node; it exceeds the number of nodes if the node is in a circle."""
        level: dict[Node, int] = {}  # of representatives, and of nodes that are not delegated
        limit = len(self._calls) + 1

        def of(node: Node) -> int:
            return level.get(units.get(node, node), 0)

        changed = True
        while changed:
            changed = False
            for node in self._calls:
                if node in self._constants or node in self._index_moves:
                    continue
                delegated = node in units
                below = level.get(units.get(node, node), 0)
                for source in self._sources(node):
                    if source.op == "placeholder":
                        continue
                    steps_out = delegated and source not in units
                    below = max(below, of(source) + steps_out)
                key = units.get(node, node)
                if level.get(key, 0) < min(below, limit):
                    level[key] = min(below, limit)
                    changed = True
        result = {node: of(node) for node in self._ops}
        # Nodes that only bring an input into the delegate come no earlier than their readers.
        for node, op in self._ops.items():
            if op.name == "quantize" and not self._is_output(node):
                readers = [result[user] for user in node.users if user in result]
                if readers and len(readers) == len(node.users):
                    result[node] = min(readers)
        return result

    def _sources(self, node: Node) -> Iterator[Node]:
        for source in node.all_input_nodes:
            if source not in self._constants:
                source = self._unmoved(source)
                yield (operand(source) if target_name(source) == GETITEM and source.args[0] in self._ops else source)

    def _is_output(self, quantize: Node) -> bool:
        """Returns whether a quantize ends a delegated operator."""
        source = next(iter(self._activation_inputs(quantize)), None)
        return source in self._ops

    def _members(self, units: dict[Node, Node]) -> list[list[Node]]:
        """Returns the nodes of each unit, in execution order."""
        members: dict[Node, list[Node]] = {}
        for node in self._ops:
            if node in units:
                members.setdefault(units[node], []).append(node)
        return list(members.values())

    def _io_count(self, nodes: list[Node]) -> int:
        """Returns how many inputs and outputs these nodes would have as a partition. States that it holds are none."""
        inside = set(nodes)
        inputs: set[Node] = set()
        outputs: set[Node] = set()
        for node in nodes:
            inputs.update(x for x in self._activation_inputs(node) if x not in inside)
            readers = list(self._readers(node))
            if any(reader not in inside for reader in readers):
                outputs.add(node)
        return len((inputs | outputs) - states_without_border(self._program, inside))

    def _cut(self, nodes: list[Node]) -> list[list[Node]]:
        """Returns the nodes of a level in parts with at most `max_io` inputs and outputs, but for crowded units; each
        part reads only from the parts before it."""
        if self._io_count(nodes) <= self._max_io:
            return [nodes]
        units = self._units()
        members = {units[unit[0]]: unit for unit in self._members(units)}
        level, placed = set(nodes), set()
        ordered: list[Node] = []  # representatives

        def place(unit: Node) -> None:
            """Puts `unit` after the units that it reads, followed by those that only bring its results outside."""
            if unit in placed:
                return
            placed.add(unit)
            for node in members[unit]:
                for source in self._activation_inputs(node):
                    if source in level:
                        place(units[source])
            ordered.append(unit)
            for node in members[unit]:
                for reader in self._readers(node):
                    if reader in level and self._ops[reader].name == "dequantize":
                        if members[units[reader]] == [reader]:
                            place(units[reader])

        # Units that bring inputs in come last, because then their readers are known and they can go before them.
        for borders in (False, True):
            for node in nodes:
                if (self._ops[node].name in ("quantize", "dequantize")) == borders:
                    place(units[node])
        parts = []
        while ordered:
            part = self._longest([members[unit] for unit in ordered])
            parts.append([node for unit in ordered[:part] for node in members[unit]])
            if self._io_count(parts[-1]) > self._max_io:
                self.crowded.append(parts[-1])
            del ordered[:part]
        return parts

    def _longest(self, units: list[list[Node]]) -> int:
        """Returns how many of the first units together have at most `max_io` inputs and outputs; 1 if the first alone
        has more. On the way there may be more: a concatenation takes in many results."""
        inside: set[Node] = set()
        inputs: set[Node] = set()
        outputs: set[Node] = set()
        longest = 1
        for count, unit in enumerate(units, 1):
            inside.update(unit)
            inputs.difference_update(unit)
            for node in unit:
                sources = set(self._activation_inputs(node))
                inputs |= sources - inside
                for changed in (node, *(sources & inside)):
                    if all(reader in inside for reader in self._readers(changed)):
                        outputs.discard(changed)
                    else:
                        outputs.add(changed)
            if len(inputs) + len(outputs) <= self._max_io:
                longest = count
        return longest

    def _number(self, levels: dict[Node, int]) -> dict[Node, int]:
        partitions: dict[Node, int] = {}
        number = 0
        whole = not self.refusals  # then the call is all there is
        for level in sorted(set(levels.values())):
            nodes = [node for node in levels if levels[node] == level]
            works = any(self._ops[node].computes for node in nodes)
            reshapes = all(self._ops[node].only_moves for node in nodes)
            if works or (whole and not reshapes):
                for part in self._cut(nodes):
                    partitions.update(dict.fromkeys(part, number))
                    number += 1
        for node in levels:
            if node in partitions:
                continue
            self.refusals[node] = Refusal(
                Reason.NOT_FUSABLE,
                _ONLY_PLACES
                if whole
                else "no work left for the delegate: between operators that are not delegated there is only what "
                "moves, limits or converts values",
            )
        # Constants, moved indices, and the results of operators with several, follow the operator that they belong to.
        for node in reversed(self._calls):
            if node in self._constants or node in self._index_moves:
                users = {partitions.get(user) for user in node.users}
                user = users.pop() if len(users) == 1 else None
                if user is not None:
                    partitions[node] = user
                elif node in self._index_moves:
                    self.refusals[node] = Refusal(
                        Reason.NOT_FUSABLE, "it moves indices of look-ups that are not in one call of the delegate"
                    )
            elif target_name(node) == GETITEM and node.args[0] in partitions:
                partitions[node] = partitions[operand(node)]
        return partitions
