"""What only the branches of a torch.cond read, and when that counts.

A payload computes both branches, and multiplies the result of the one that is not chosen by 0. What that one holds
says nothing about the numbers that its scales are for: `1 / x` behind `x > 0.5` may be anything where x is small.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import torch
from torch.fx import GraphModule, Node

from .in_place import constant_nodes
from .specs import IF_CHOSEN


def conditions_of(prepared: GraphModule) -> dict[Node, frozenset[Node]]:
    """Returns the calls of observers whose tensors nothing but results of branches depends on, and for each the
    conditions, 0 or 1, all of which hold where it counts. Branches may be in others."""
    found: dict[Node, frozenset[Node]] = {}
    constants = constant_nodes(prepared.graph)
    for node in reversed(prepared.graph.nodes):
        if node in constants or node.op not in ("call_function", "call_module") or not node.users:
            continue
        shared = frozenset.intersection(*(_asked_by(user, node) | found.get(user, frozenset()) for user in node.users))
        if shared:
            found[node] = shared
    return {node: found[node] for node in prepared.graph.find_nodes(op="call_module") if node in found}


def _asked_by(user: Node, read: Node) -> frozenset[Node]:
    """Returns the condition that `user` multiplies `read` by, if it does so to choose a branch."""
    if IF_CHOSEN not in user.meta or user.op != "call_function":
        return frozenset()
    result, truth = user.args[:2]
    return frozenset([truth]) if read is result and isinstance(truth, Node) and read is not truth else frozenset()


def holds(conditions: Collection[Node], values: Mapping[Node, Any]) -> bool:
    """Returns whether each condition is true somewhere."""
    return all(bool(values[truth].any()) for truth in conditions)


class BranchObservers:
    """Shows the observers in branches what counts. One that has seen nothing of the kind in all samples learns, at the
    end, what its branch computed where it was not chosen."""

    def __init__(self, prepared: GraphModule) -> None:
        self.conditions = conditions_of(prepared)
        self._observers = {node: prepared.get_submodule(str(node.target)) for node in self.conditions}
        # An observer that others share sees what those hold.
        always = {
            id(prepared.get_submodule(str(node.target)))
            for node in prepared.graph.find_nodes(op="call_module")
            if node not in self.conditions
        }
        self._others = {
            id(observer): copy.deepcopy(observer) for observer in self._observers.values() if id(observer) not in always
        }
        self._taught: set[int] = set()

    def see(self, seen: Mapping[Node, torch.Tensor], values: Mapping[Node, Any]) -> None:
        """Takes what the observers of branches were given on a sample, and the values of the conditions."""
        for node, value in seen.items():
            observer = self._observers[node]
            if holds(self.conditions[node], values):
                self._taught.add(id(observer))
                observer(value)
            elif id(observer) in self._others:
                self._others[id(observer)](value)

    def finish(self) -> Iterator[Node]:
        """Teaches observers that have seen nothing what there is, and yields their calls."""
        for node, observer in self._observers.items():
            other = self._others.get(id(observer))
            if other is None or id(observer) in self._taught:
                continue
            observer.__dict__.update(other.__dict__)
            self._taught.add(id(observer))
            yield node
