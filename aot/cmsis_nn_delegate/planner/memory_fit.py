"""Says of a model that does not fit its memories by how much, and what would help."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..graph.ir import Graph
from ..graph.tensor_type import Element
from ..ops.registry import calls
from ..support.errors import UserError
from .memory import IoPlacement, MemoryPlan

_NAMED = 3  # of the largest buffers


class DoesNotFit(UserError):
    """A model takes more than its memories have. `facts` says by how much and why, `room` what fits in any case."""

    def __init__(self, facts: Sequence[str], room: str, helps: Sequence[str] = ()) -> None:
        """`helps` are what has been found to fit too, as parts of a sentence."""
        ways = [*helps, room]
        advice = ways[0] if len(ways) == 1 else f"{', '.join(ways[:-1])}, or {ways[-1]}"
        super().__init__(". ".join((*facts, f"It fits with {advice}")), exit_code=1)
        self.facts, self.room = tuple(facts), room

    def named(self, shown: Callable[[str], str]) -> DoesNotFit:
        """Returns the error with tensors and nodes of the graph as `shown` names them in a text."""
        return DoesNotFit([shown(fact) for fact in self.facts], self.room)

    def helped_by(self, helps: Sequence[str]) -> DoesNotFit:
        """Returns the error that also names `helps`, each of which has been tried."""
        return DoesNotFit(self.facts, self.room, helps)


def require_fit(graph: Graph, plan: MemoryPlan, io_placement: IoPlacement) -> None:
    """DoesNotFit unless each region of `plan` fits its memory, and the states theirs. Of the regions only the arena may
    not: `spread` fills the others within their sizes."""
    kept = plan.kept
    if kept is not None and kept.excess:
        fact = (
            f"the model's state does not fit {kept.name}: it takes {kept.state_bytes:,} bytes with the delegate's "
            f"handle, {kept.excess:,} more than its {kept.limit:,}"
        )
        raise DoesNotFit([fact], f"{kept.excess:,} more bytes of {kept.name}", ["the state in another memory"])
    if not plan.memories or not plan.memories[0].excess:
        return
    arena, *others = plan.memories
    step = max(range(len(plan.live)), key=plan.live.__getitem__)
    node = calls(graph)[step]
    called = f"call {step}, {node.op} of {node.name}"
    live = [(nbytes, name) for b in plan.buffers if b.region == 0 for name, _, nbytes in b.alive_in(step)]
    largest = ", ".join(f"{name} with {nbytes:,} bytes" for nbytes, name in sorted(live, reverse=True)[:_NAMED])
    less = "" if kept is None or kept.name != arena.name else f", without the {kept.state_bytes:,} of the state"
    facts = [
        f"the model does not fit its memories: {arena.name} would take {arena.nbytes:,} bytes, {arena.excess:,} more "
        f"than its {arena.limit:,}{less}. It is full in {called}, whose largest buffers are {largest}"
    ]
    if others:
        taken = ", ".join(f"{m.nbytes:,} of {m.limit:,} bytes of {m.name}" for m in others)
        facts.append(f"The rest takes {taken}")
    facts += _border(graph, arena.name, arena.limit, io_placement)
    raise DoesNotFit(facts, f"{arena.excess:,} more bytes of {arena.name}")


def _border(graph: Graph, arena: str, limit: int, io_placement: IoPlacement) -> list[str]:
    """Returns what is to be said of the inputs and outputs that have to lie in the arena."""
    if io_placement is not IoPlacement.ARENA:
        return []
    border = [*graph.inputs, *graph.outputs]
    facts = []
    largest = max(border, key=lambda value: value.nbytes)
    if largest.nbytes > limit:
        kind = "input" if any(value is largest for value in graph.inputs) else "output"
        facts.append(f"The {kind} {largest.name} alone takes {largest.nbytes:,} bytes, and has to lie in {arena}")
    floats = sum(value.nbytes for value in border if value.element is Element.FLOAT32)
    if floats:
        facts.append(
            f'Inputs and outputs take {floats:,} bytes as floats; with --io int8 (io="int8") they take {floats // 4:,}'
        )
    return facts
