"""How a streaming model is fed: `Stream`. Needs no PyTorch."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..support.checked import checked, checked_fields
from ..support.errors import UserError


@checked_fields
@dataclass(frozen=True)
class Stream:
    """Each inference takes `hop` new columns: indices of dimension `dim` of the model's inputs, the batch counted."""

    dim: int
    hop: int = 1

    def __post_init__(self) -> None:
        if self.hop < 1:
            raise UserError(f"a stream moves on by {self.hop} columns: give 1 or more")

    @staticmethod
    @checked()
    def of(text: str) -> Stream:
        """Reads DIM or DIM=HOP, such as 2=4. UserError for anything else."""
        found = re.fullmatch(r"(-?\d+)(?:=(\d+))?", text)
        if found is None:
            raise UserError(f"{text!r} is no stream: give DIM or DIM=HOP, such as 2=4")
        return Stream(int(found[1]), int(found[2] or 1))
