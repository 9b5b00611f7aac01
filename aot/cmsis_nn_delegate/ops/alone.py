"""What it means that an operator of this package is refused for which ExecuTorch has no kernel."""

from __future__ import annotations

from typing import Optional

from ..edge.refusal import Refusal


def alone(refusal: Optional[Refusal], name: str, instead: str) -> Optional[Refusal]:
    """Returns `refusal` of operator `name` with a message that also says this, and what to do `instead`; None if there
    is none."""
    if refusal is None:
        return None
    return Refusal(
        refusal.reason,
        f"{refusal.message}. ExecuTorch has no kernel for {name}, so that the program cannot be loaded as it is: "
        f"{instead}",
    )
