"""Says of a model that does not fit its memories by how much, and what would help."""

from __future__ import annotations

from ..errors import UserError
from ..graph.ir import Graph
from ..ops.registry import calls
from .planner.memory import IoPlacement, MemoryPlan
from .preference import Preference

_NAMED = 3  # of the largest buffers


def require_fit(graph: Graph, plan: MemoryPlan, io_placement: IoPlacement, preference: Preference) -> None:
    """UserError unless each region of `plan` fits its memory. Only the arena may not: `spread` fills the others within
    their sizes. The memory for states has to hold them."""
    kept = plan.kept
    if kept is not None and kept.excess:
        raise UserError(
            f"the model's state does not fit {kept.name}: it takes {kept.state_bytes:,} bytes with the delegate's "
            f"handle, {kept.excess:,} more than its {kept.limit:,}. Give it more, or let another memory hold the state",
            exit_code=1,
        )
    if not plan.memories or not plan.memories[0].excess:
        return
    arena, *others = plan.memories
    step = max(range(len(plan.live)), key=plan.live.__getitem__)
    node = calls(graph)[step]
    called = f"call {step}, {node.op}" + (f" of {node.sources[-1]}" if node.sources else "")
    live = [(nbytes, name) for b in plan.buffers if b.region == 0 for name, _, nbytes in b.alive_in(step)]
    largest = ", ".join(f"{name} with {nbytes:,} bytes" for nbytes, name in sorted(live, reverse=True)[:_NAMED])
    sentences = [
        f"the model does not fit its memories: {arena.name} would take {arena.nbytes:,} bytes, {arena.excess:,} more "
        f"than its {arena.limit:,}. It is full in {called}, whose largest buffers are {largest}"
    ]
    if others:
        taken = ", ".join(f"{m.nbytes:,} of {m.limit:,} bytes of {m.name}" for m in others)
        sentences.append(f"The rest takes {taken}")
    advice = [] if preference is Preference.RAM else ["--prefer ram"]
    advice.append("a higher --max-slowdown")
    if io_placement is IoPlacement.ARENA:
        advice.append("--io-placement caller, if the caller keeps the inputs and outputs")
    advice.append(f"{arena.excess:,} more bytes of {arena.name}")
    sentences.append(f"Try {', '.join(advice[:-1])}, or {advice[-1]}")
    raise UserError(". ".join(sentences), exit_code=1)
