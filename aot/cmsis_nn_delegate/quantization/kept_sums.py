"""Makes one operator of a sum that a model keeps, and of which a part decays in each step: h = a * h + g * x.

Running means, leaky integrators, the states of linear and gated recurrent units and of selective state space layers
are such sums, however they are written: mean.lerp_(x, 0.1), h + z * (x - h), z * h + (1 - z) * x. Their steps are far
smaller than 1/128 of their range, so that the operators (`edge.leaky_ops`) keep 16 bits, and round once. What else
reads the new value reads it in 8 bits.

Taken are sums that go on from a state, and those that are written to it after several steps; and loops of at least two
steps that begin with zeros. The decay is a constant, or a function of one activation that is at most 1 for any number.
Constants from 1 - 2^-10 on stay as they are: what such a sum forgets in a step is rounded away in 16 bits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Optional, Union

import torch
from torch.fx import GraphModule, Node

from ..edge import function_chain
from ..edge.leaky_ops import LAST, LEAKY_SUM, SELECTIVE_STATE
from .in_place import is_written
from .recurrent import replace_state, value_of
from .rewriting import constant_for, evaluated, finish

aten = torch.ops.aten

# The greatest constant by which a sum decays.
MOST = 1 - 2.0**-10

_SUMS = {aten.add.Tensor, aten.sub.Tensor, aten.rsub.Scalar, aten.rsub.Tensor}
_SHAPES = {
    aten.view.default,
    aten.reshape.default,
    aten.squeeze.dim,
    aten.squeeze.dims,
    aten.squeeze.default,
    aten.unsqueeze.default,
    aten.clone.default,
    aten.contiguous.default,
}
_FUNCTIONS = {
    aten.exp.default: "exp",
    aten.sigmoid.default: "sigmoid",
    aten.tanh.default: "tanh",
    aten.relu.default: "relu",
    aten.neg.default: "neg",
}


class _Function(NamedTuple):
    """`offset` + `scale` * `node`: a decay that is computed."""

    node: Node
    scale: float
    offset: float


_Decay = Union[torch.Tensor, _Function]


class _Term(NamedTuple):
    """`gain`, a constant, times the product of `factors`."""

    gain: torch.Tensor
    factors: tuple[Node, ...]


class _Form(NamedTuple):
    """`decay` * state + the sum of `terms`."""

    decay: Optional[_Decay]
    terms: tuple[_Term, ...]


class _Step(NamedTuple):
    """A sum `node` that goes on from `before`, another such sum, a buffer or zeros, which `moves` give another shape:
    their operators and the arguments after the first."""

    node: Node
    before: Node
    moves: tuple[tuple[Any, tuple[Any, ...]], ...]
    form: _Form


def separate_kept_sums(model: GraphModule) -> None:
    """Rewrites `model` as the module docstring says."""
    steps = _Finder(model).steps()
    builder = _Builder(model)
    for step in steps:
        builder.rewrite(step)
    if steps:
        finish(model)


def show_kept_sums(model: GraphModule) -> None:
    """Gives each sum the operator that gives it as a state, which observers see, if nothing reads that. Then
    `convert_pt2e` removes it."""
    for target, last in LAST.items():
        for node in model.graph.find_nodes(op="call_function", target=target):
            if not any(user.target is last for user in node.users):
                with model.graph.inserting_after(node):
                    seen = model.graph.call_function(last, (node, *node.args))
                seen.meta = dict(node.meta)
    model.recompile()


class _Finder:
    def __init__(self, model: GraphModule) -> None:
        self._model = model
        self._found: dict[Node, _Step] = {}
        self._states = {str(node.target) for node in model.graph.nodes if node.op == "get_attr" and is_written(node)}

    def steps(self) -> list[_Step]:
        """Returns the sums to take, in order."""
        for node in self._model.graph.nodes:
            step = self._step(node)
            if step is not None:
                self._found[node] = step
        if not self._found:
            return []
        taken: set[Node] = set()
        for node, step in self._found.items():
            chain = self._chain(step)
            first = chain[0].before
            target = str(first.target) if first.op == "get_attr" else None
            if _written_to(node, target) if target in self._states else len(chain) > 1:
                taken.update(link.node for link in chain)
        return [step for node, step in self._found.items() if node in taken]

    def _chain(self, step: _Step) -> list[_Step]:
        """Returns the steps up to this one."""
        chain = [step]
        while chain[0].before in self._found:
            chain.insert(0, self._found[chain[0].before])
        return chain

    def _step(self, node: Node) -> Optional[_Step]:
        if node.op != "call_function" or node.target not in _SUMS or not _is_float(node):
            return None
        users = list(node.users)
        if len(users) == 1 and users[0].target in _SUMS:
            return None  # a part of a longer sum
        linear = _Linear(self._model, node, self._before)
        form = linear.of(node)
        if form is None or form.decay is None or not form.terms:
            return None
        assert linear.state is not None and linear.before is not None
        from_zeros = linear.before not in self._found and not self._is_state(linear.before)
        if self._is_part(node, linear.before) if from_zeros else not self._decays(node, form):
            return None
        factors = [factor for term in form.terms for factor in term.factors]
        if any(factor not in self._found and _unshaped(factor) in self._found for factor in factors):
            return None  # which is not there any more once that one is taken
        return _Step(node, linear.before, tuple(_moves(linear.state)), form)

    def _before(self, node: Node) -> Optional[Node]:
        """Returns the state or step that `node` reads; None if it is neither."""
        source = _unshaped(node)
        if source in self._found or self._is_state(source):
            return source
        data = evaluated(self._model, source)
        return source if data is not None and data.numel() > 1 and not data.any() else None

    def _is_part(self, node: Node, before: Node) -> bool:
        """Returns whether a sum is only the difference in h + z * (x - h), with the same h."""
        users = list(node.users)
        while len(users) == 1 and users[0].target in (aten.mul.Tensor, aten.div.Tensor, aten.neg.default):
            users = list(users[0].users)
        return (
            len(users) == 1
            and users[0].target in _SUMS
            and any(self._before(x) is before for x in users[0].all_input_nodes)
        )

    def _is_state(self, node: Node) -> bool:
        return node.op == "get_attr" and str(node.target) in self._states

    def _decays(self, node: Node, form: _Form) -> bool:
        decay = form.decay
        assert decay is not None
        if isinstance(decay, torch.Tensor):
            return float(decay.abs().max()) <= MOST and bool(decay.any())
        if _selective(self._model, node, form) is not None:
            return True
        steps, _ = _chain_of(self._model, decay)
        low, high = function_chain.limits(function_chain.chain(steps))
        return -1 <= low and high <= 1


class _Linear:
    """Reads the expression of a sum as a `_Form` of one state."""

    def __init__(self, model: GraphModule, top: Node, before: Callable[[Node], Optional[Node]]) -> None:
        self._model, self._top, self._before = model, top, before
        self._forms: dict[Node, Optional[_Form]] = {}
        self.state: Optional[Node] = None
        self.before: Optional[Node] = None

    def of(self, node: Node) -> Optional[_Form]:
        """Returns the form of `node`; None if it has none, as it is no sum of products of the state."""
        if node not in self._forms:
            self._forms[node] = self._find(node)
        return self._forms[node]

    def _find(self, node: Node) -> Optional[_Form]:
        before = None if node is self._top else self._before(node)
        if before is not None and _same_shape(node, self._top):
            if self.state not in (None, node):
                return _value_of(node)  # another state is something that is added
            self.state, self.before = node, before
            return _Form(torch.ones(()), ())
        if node.op != "call_function":
            return _value_of(node)
        arguments: Any = node.args
        if node.target in (aten.add.Tensor, aten.sub.Tensor, aten.rsub.Scalar, aten.rsub.Tensor):
            a, b = (self._operand(x) for x in arguments[:2])
            alpha: Any = node.kwargs.get("alpha", arguments[2] if len(arguments) > 2 else 1)
            if node.target in (aten.rsub.Scalar, aten.rsub.Tensor):
                a, b = b, a
            factor = alpha if node.target is aten.add.Tensor else -alpha
            return self._or_value(node, _sum(a, _times(b, factor)))
        if node.target is aten.neg.default:
            return self._or_value(node, _times(self._operand(arguments[0]), -1))
        if node.target is aten.mul.Tensor:
            a, b = (self._operand(x) for x in arguments[:2])
            return self._or_value(node, self._product(a, b, *arguments[:2]))
        if node.target is aten.div.Tensor and len(arguments) == 2:
            divisor = self._constant(arguments[1])
            if divisor is not None and bool(divisor.all()):
                return self._or_value(node, _times(self._operand(arguments[0]), 1 / divisor))
        return _value_of(node)

    def _scaled(self, x: Any, y: Any) -> Optional[_Form]:
        """Returns an activation times a constant."""
        for constant, value in ((x, y), (y, x)):
            data = self._constant(constant)
            if data is not None and isinstance(value, Node) and _is_float(value):
                return _times(_value_of(value), data)
        return None

    def _or_value(self, node: Node, form: Optional[_Form]) -> _Form:
        """Returns `form` if it has a part of the state, or is one activation that nothing else reads with its factor,
        and else `node` as something that is added."""
        if form is None or form.decay is None and (len(node.users) > 1 or len(form.terms) > 1):
            return _value_of(node)
        return form

    def _operand(self, x: Any) -> Optional[_Form]:
        data = self._constant(x)
        if data is not None and not (isinstance(x, Node) and self._before(x) is not None):
            return None
        return self.of(x)

    def _constant(self, x: Any) -> Optional[torch.Tensor]:
        return evaluated(self._model, x) if isinstance(x, Node) else torch.tensor(float(x))

    def _product(self, a: Optional[_Form], b: Optional[_Form], x: Any, y: Any) -> Optional[_Form]:
        kept = [form is not None and form.decay is not None for form in (a, b)]
        if not any(kept):
            return self._scaled(x, y)
        if all(kept):
            return None
        form, other = (a, y) if kept[0] else (b, x)
        assert form is not None
        data = self._constant(other)
        return _times(form, data) if data is not None else _times_node(self._model, form, other)


def _value_of(node: Node) -> _Form:
    return _Form(None, (_Term(torch.ones(()), (node,)),))


def _times(form: Optional[_Form], factor: Union[float, torch.Tensor]) -> Optional[_Form]:
    if form is None:
        return None
    factor = torch.as_tensor(factor, dtype=torch.float32)
    decay = form.decay
    if isinstance(decay, torch.Tensor):
        decay = decay * factor
    elif decay is not None:
        if factor.numel() != 1:
            return None
        decay = _Function(decay.node, decay.scale * float(factor), decay.offset * float(factor))
    return _Form(decay, tuple(_Term(term.gain * factor, term.factors) for term in form.terms))


def _times_node(model: GraphModule, form: _Form, node: Node) -> Optional[_Form]:
    """Returns `form` times an activation, which may be 1 less another one."""
    function = _affine(model, node)
    decay = form.decay
    if not isinstance(decay, torch.Tensor) or decay.numel() != 1:
        return None
    by = float(decay)
    terms: list[_Term] = []
    for gain, factors in form.terms:
        terms.append(_Term(gain * function.scale, (function.node, *factors)))
        if function.offset:
            terms.append(_Term(gain * function.offset, factors))
    return _Form(_Function(function.node, function.scale * by, function.offset * by), tuple(terms))


def _sum(a: Optional[_Form], b: Optional[_Form]) -> Optional[_Form]:
    if a is None or b is None:
        return None
    decays = [form.decay for form in (a, b) if form.decay is not None]
    decay = decays[0] if decays else None
    if len(decays) == 2:
        decay = _sum_of_decays(decays[0], decays[1])
        if decay is None:
            return None
    return _Form(decay, (*a.terms, *b.terms))


def _sum_of_decays(a: _Decay, b: _Decay) -> Optional[_Decay]:
    if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
        return a + b
    if isinstance(a, _Function) and isinstance(b, _Function):
        same = a.node is b.node
        return _Function(a.node, a.scale + b.scale, a.offset + b.offset) if same else None
    function, constant = (a, b) if isinstance(a, _Function) else (b, a)
    assert isinstance(function, _Function) and isinstance(constant, torch.Tensor)
    if constant.numel() != 1:
        return None
    return _Function(function.node, function.scale, function.offset + float(constant))


def _affine(model: GraphModule, node: Node) -> _Function:
    """Returns an activation as a multiple of another one and a number."""
    scale, offset = 1.0, 0.0
    while True:
        step = _affine_step(model, node)
        if step is None:
            return _Function(node, scale, offset)
        node, factor, addend = step
        scale, offset = scale * factor, offset + scale * addend


def _affine_step(model: GraphModule, node: Node) -> Optional[tuple[Node, float, float]]:
    if node.op != "call_function":
        return None
    arguments: Any = node.args
    if node.target is aten.neg.default:
        return arguments[0], -1.0, 0.0
    if node.target not in _SUMS | {aten.mul.Tensor} or len(arguments) != 2 or node.kwargs:
        return None
    numbers = [_number(model, x) for x in arguments]
    if (numbers[0] is None) == (numbers[1] is None):
        return None
    number, x = (numbers[0], arguments[1]) if numbers[0] is not None else (numbers[1], arguments[0])
    assert number is not None
    if not isinstance(x, Node) or not _same_shape(x, node):
        return None
    if node.target is aten.mul.Tensor:
        return x, number, 0.0
    if node.target is aten.add.Tensor:
        return x, 1.0, number
    first = numbers[0] is None  # x less the number
    if node.target is not aten.sub.Tensor:
        first = not first
    return (x, 1.0, -number) if first else (x, -1.0, number)


def _number(model: GraphModule, x: Any) -> Optional[float]:
    if not isinstance(x, Node):
        return float(x)
    data = evaluated(model, x)
    return float(data) if data is not None and data.numel() == 1 else None


def _chain_of(model: GraphModule, function: _Function) -> tuple[list[str], Node]:
    """Returns the functions that compute `function` of the activation that is returned with them. The functions are of
    one number, and activations between them are read with other shapes at most."""
    steps: list[str] = []
    node = function.node
    if function.scale != 1:
        steps.append(function_chain.step("mul", function.scale))
    if function.offset:
        steps.append(function_chain.step("add", function.offset))
    before: list[str] = []
    while True:
        source = _unshaped(node)
        arguments: Any = source.args
        affine = _affine_step(model, source)
        if source.op == "call_function" and source.target in _FUNCTIONS:
            before.append(_FUNCTIONS[source.target])
            node = arguments[0]
        elif source.target is aten.softplus.default and len(arguments) == 1:
            before.append("softplus")
            node = arguments[0]
        elif affine is not None:
            node, scale, offset = affine
            before.append(function_chain.step("add", offset))
            before.append(function_chain.step("mul", scale))
        else:
            return [*reversed(before), *steps], node


class _Selective(NamedTuple):
    """exp(t * rates) * state + t * the products of `rows` and of `columns`, with t = the functions of `chain` of `by`,
    as `steps` is. The elements of `rows` belong to those of all but the last dimension, and those of `columns` to those
    of the last one."""

    chain: str
    by: Node
    steps: Node
    rates: torch.Tensor
    rows: tuple[Node, ...]
    columns: tuple[Node, ...]


def _selective(model: GraphModule, node: Node, form: _Form) -> Optional[_Selective]:
    """Returns what the sum `node` is if it is one of a selective state space layer, and None for others."""
    decay = form.decay
    if not isinstance(decay, _Function) or (decay.scale, decay.offset) != (1, 0) or len(form.terms) != 1:
        return None
    product: Any = decay.node.args[0] if decay.node.target is aten.exp.default else None
    ((gain, factors),) = form.terms
    shape = tuple(node.meta["val"].shape)
    if product is None or product.target is not aten.mul.Tensor or len(shape) < 2 or bool((gain != 1).any()):
        return None
    for steps, rates in (product.args[:2], product.args[1::-1]):
        data = evaluated(model, rates)
        if data is None or data.dim() > 2 or float(data.max()) > 0 or not isinstance(steps, Node):
            continue
        found = _chain_of(model, _Function(steps, 1.0, 0.0))
        text = function_chain.chain(found[0])
        if tuple(steps.meta["val"].shape) != (*shape[:-1], 1) or not text or function_chain.limits(text)[0] < 0:
            continue
        leaves = [leaf for factor in factors for leaf in _factors(factor)]
        same = [leaf for leaf in leaves if _same_shape(leaf, steps) and _is_same(model, leaf, steps, found)]
        if len(same) != 1:
            continue
        leaves.remove(same[0])
        rows = tuple(leaf for leaf in leaves if leaf.meta["val"].shape[-1:] == (1,))
        columns = tuple(leaf for leaf in leaves if leaf not in rows and leaf.meta["val"].shape[-2:-1] in ((), (1,)))
        if rows and columns and len(rows) + len(columns) == len(leaves):
            return _Selective(text, found[1], steps, data, rows, columns)
    return None


def _is_same(model: GraphModule, a: Node, b: Node, found: tuple[list[str], Node]) -> bool:
    return a is b or _chain_of(model, _Function(a, 1.0, 0.0)) == found


def _factors(node: Node) -> list[Node]:
    """Returns the activations of which `node` is the product."""
    if node.op == "call_function" and node.target is aten.mul.Tensor:
        arguments: Any = node.args
        if all(isinstance(x, Node) for x in arguments):
            return [factor for x in arguments for factor in _factors(x)]
    return [node]


class _Builder:
    """Makes the calls that stand for steps, in order."""

    def __init__(self, model: GraphModule) -> None:
        self._model = model
        self._last: dict[Node, Node] = {}  # the state by the sum that was replaced
        self._results: dict[Node, Node] = {}
        self._node: Node = next(iter(model.graph.nodes))  # for which calls are made

    def rewrite(self, step: _Step) -> None:
        node = self._node = step.node
        with node.graph.inserting_before(node):
            state = self._state(step)
            selective = _selective(self._model, node, step.form)
            if selective is not None:
                target, arguments = SELECTIVE_STATE, self._arguments(selective)
            else:
                target, arguments = LEAKY_SUM, self._leaky(step.form)
            result = self._new(target, state, *arguments)
            last = self._new(LAST[target], result, state, *arguments)
        self._last[node], self._results[node] = last, result
        replace_state(node, last, result)

    def _new(self, target: Any, *arguments: Any, **options: Any) -> Node:
        call = self._node.graph.call_function(target, arguments, options)
        like = self._node.meta["val"]
        values: Any = torch.fx.node.map_arg(arguments, lambda source: like.new_empty(value_of(source).shape))
        call.meta = {**self._node.meta, "val": target(*values, **options)}
        return call

    def _constant(self, what: str, data: torch.Tensor) -> Node:
        return constant_for(self._model, self._node, what, data.detach().clone())

    def _state(self, step: _Step) -> Node:
        """Returns the state from which the step goes on."""
        node = self._last.get(step.before, step.before)
        if node.op == "call_function" and node is step.before:
            node = self._constant("start", torch.zeros(value_of(node).shape))
        for target, arguments in step.moves:
            node = self._new(target, node, *arguments)
        return node

    def _leaky(self, form: _Form) -> tuple[Any, ...]:
        x, gain = self._added(form.terms)
        x, gains = self._expanded(x), self._constant("gain", gain)
        if isinstance(form.decay, torch.Tensor):
            return x, self._constant("decay", form.decay), gains, ""
        assert form.decay is not None
        steps, by = _chain_of(self._model, form.decay)
        by = self._expanded(self._shaped(by, value_of(form.decay.node).shape))
        # Without any function the decay is the activation itself.
        return x, by, gains, function_chain.chain(steps or [function_chain.step("mul", 1)])

    def _arguments(self, found: _Selective) -> tuple[Any, ...]:
        *batch, rows, columns = self._node.meta["val"].shape
        return (
            self._shaped(found.by, (*batch, rows, 1)),
            self._expanded(self._product(found.rows), (*batch, rows, 1)),
            self._expanded(self._product(found.columns), (*batch, 1, columns)),
            self._constant("rates", found.rates),
            found.chain,
        )

    def _shaped(self, x: Node, shape: Sequence[int]) -> Node:
        return x if value_of(x).shape == shape else self._new(aten.reshape.default, x, list(shape))

    def _expanded(self, x: Node, shape: Optional[Sequence[int]] = None) -> Node:
        wanted = list(self._node.meta["val"].shape if shape is None else shape)
        missing = len(wanted) - value_of(x).dim()
        x = self._shaped(x, (*[1] * missing, *value_of(x).shape))
        return x if list(value_of(x).shape) == wanted else self._new(aten.expand.default, x, wanted)

    def _added(self, terms: Sequence[_Term]) -> tuple[Node, torch.Tensor]:
        """Returns what is added, and the constant that it is multiplied with."""
        (gain, factors), *others = terms
        x = self._product(factors)
        if others and gain.numel() > 1:
            gain, x = torch.ones(()), self._new(aten.mul.Tensor, x, self._constant("factor", gain))
        for term in others:
            addend, factor = self._product(term.factors), term.gain / gain
            if factor.numel() > 1:
                addend = self._new(aten.mul.Tensor, addend, self._constant("factor", factor))
                factor = torch.ones(())
            alpha = {} if float(factor) == 1 else {"alpha": float(factor)}
            x = self._new(aten.add.Tensor, x, addend, **alpha)
        return x, gain

    def _product(self, factors: Sequence[Node]) -> Node:
        x, *others = (self._results.get(factor, factor) for factor in factors)
        for other in others:
            x = self._new(aten.mul.Tensor, x, other)
        return x


def _unshaped(node: Node) -> Node:
    """Returns what `node` gives another shape."""
    while node.op == "call_function" and node.target in _SHAPES:
        node = node.all_input_nodes[0]
    return node


def _moves(node: Node) -> list[tuple[Any, tuple[Any, ...]]]:
    """Returns what gives another tensor the shape of `node`: operators, and their arguments after the first."""
    moves: list[tuple[Any, tuple[Any, ...]]] = []
    while node.op == "call_function" and node.target in _SHAPES:
        moves.insert(0, (node.target, tuple(node.args[1:])))
        node = node.all_input_nodes[0]
    return moves


def _written_to(node: Node, target: Optional[str]) -> bool:
    """Returns whether `node` is written to the buffer `target`, perhaps in another shape."""
    for user in node.users:
        if user.target is aten.copy_.default and user.args[1] is node:
            state: Any = user.args[0]
            if str(state.target) == target:
                return True
        elif user.target in _SHAPES and _written_to(user, target):
            return True
    return False


def _same_shape(a: Node, b: Node) -> bool:
    return bool(value_of(a).shape == value_of(b).shape)


def _is_float(node: Node) -> bool:
    value: Any = node.meta.get("val")
    return isinstance(value, torch.Tensor) and value.dtype == torch.float32
