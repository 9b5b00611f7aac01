"""Chooses between graphs that compute the same: the one of a partition, and its alternatives."""

from __future__ import annotations

from dataclasses import replace

from ..targets.target import Target
from .choose_kernels import Chosen, Legal, choose_kernels
from .planned import plan
from .preference import Preference

# More flash that the calls of an alternative may take: percent of what they take otherwise or, if that is more, bytes.
# An image without the kernel that none of them needs any more is smaller by about as many bytes.
_GROWTH_PERCENT = 5
_GROWTH_BYTES = 2048

_LEAST_SAVED = 3  # percent of the instructions, which predictions are off by


def choose_graph(legal: Legal, target: Target) -> Chosen:
    """Returns the kernels of the graph of `legal`, or of the best of its alternatives on `target`, whose graph then has
    a note of what it saves. An alternative must not need a larger arena. The best one has the fewest predicted
    instructions, clearly fewer than the graph, and hardly more flash for its calls; if flash is preferred, it has the
    least of it, and less than the graph.

    An alternative with a call that there is no model for is not taken.
    """
    whole = choose_kernels(legal, target)
    if not legal.alternatives:
        return whole
    best, best_note, most = whole, "", _arena_bytes(whole)
    for what, other in legal.alternatives.items():
        found = choose_kernels(replace(other, options=legal.options), target)
        if _is_better(found, best, whole) and _arena_bytes(found) <= most:
            best, best_note = found, f"{what}, with {_difference(found, whole)}"
    if best is whole:
        return whole
    return replace(best, graph=replace(best.graph, notes=[*best.graph.notes, best_note]))


def _is_better(found: Chosen, best: Chosen, whole: Chosen) -> bool:
    """Whether `found` is preferred to `best`, whatever its arena."""
    if any(choice.instructions(found.target) is None for choice in (*found.choices, *best.choices)):
        return False
    if found.options.preference is Preference.FLASH:
        if _flash_bytes(found) >= _flash_bytes(best):
            return False
    elif found.instructions() >= min(best.instructions(), whole.instructions() * (100 - _LEAST_SAVED) / 100):
        return False
    elif _flash_bytes(found) > _flash_bytes(whole) + _growth(whole):
        return False
    return True


def _growth(whole: Chosen) -> int:
    return max(_GROWTH_BYTES, _flash_bytes(whole) * _GROWTH_PERCENT // 100)


def _flash_bytes(chosen: Chosen) -> int:
    return sum(choice.flash_bytes() for choice in chosen.choices)


def _arena_bytes(chosen: Chosen) -> int:
    return plan(chosen, one_arena=True).memory.arena_bytes


def _difference(found: Chosen, whole: Chosen) -> str:
    saved = 100 * (1 - found.instructions() / whole.instructions())
    flash = _flash_bytes(found) - _flash_bytes(whole)
    return (
        f"about {abs(saved):.1f} % {'fewer' if saved >= 0 else 'more'} instructions and {abs(flash):,} bytes "
        f"{'more' if flash >= 0 else 'less'} of flash"
    )
