"""Functions that compute in other bits than they were asked to, because their kernels take no others."""

from __future__ import annotations

from collections.abc import Iterator

from torch.fx import Graph, Node

from ..edge.naming import described
from ..format.element import COMMON_ELEMENT, Element

_ASKED = "cmsis_nn_asked_element"
_TOO_LARGE = "cmsis_nn_too_large_for_asked_element"
_WIDE_WEIGHTS = "cmsis_nn_wide_weights"
_MOST_NAMED = 5


def keep_asked(node: Node, asked: Element, too_large: bool) -> None:
    """Remembers what `node`, which computes in the common type, was asked to compute in, and whether the kernels for
    that take other sizes."""
    node.meta[_ASKED] = asked
    node.meta[_TOO_LARGE] = too_large


def keep_wide_weights(node: Node, element: Element) -> None:
    """Remembers that `node` has weights of `element`, and was asked to have 4 bits."""
    node.meta[_WIDE_WEIGHTS] = element


def narrowed(graph: Graph) -> Iterator[str]:
    """Yields a sentence for each type that functions of a prepared graph were asked for and do not compute in."""
    wide: dict[Element, list[str]] = {}
    for node in graph.nodes:
        if _WIDE_WEIGHTS in node.meta and node.op == "call_function":
            wide.setdefault(node.meta[_WIDE_WEIGHTS], []).append(described(node))
    for element, names in wide.items():
        keeps, it = ("keeps", "it") if len(names) == 1 else ("keep", "them")
        yield (
            f"{_listed(names)} {keeps} weights of {element.bits} bits, because there is no fast kernel for {it} with "
            "weights of 4"
        )
    found: dict[tuple[Element, bool], list[str]] = {}
    for node in graph.nodes:
        if _ASKED in node.meta and node.op == "call_function":
            found.setdefault((node.meta[_ASKED], node.meta[_TOO_LARGE]), []).append(described(node))
    for (asked, too_large), names in found.items():
        computes, it = ("computes", "it") if len(names) == 1 else ("compute", "them")
        sizes = " of this many elements" if too_large else ""
        yield (
            f"{_listed(names)} {computes} in {COMMON_ELEMENT.value}, because there is no kernel for {it} in "
            f"{asked.value}{sizes}; values are converted before and after {it}"
        )


def _listed(names: list[str]) -> str:
    """Returns the first names as a list in a sentence: "a, b and 3 others"."""
    others = len(names) - _MOST_NAMED
    *most, last = [*names[:_MOST_NAMED], f"{others} others"] if others > 1 else names
    return f"{', '.join(most)} and {last}" if most else last
