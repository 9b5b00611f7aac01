"""The texts of networks that were trained with the CTC loss, as a PyTorch module."""

from __future__ import annotations

from typing import Optional

import torch

from ..edge.ctc_ops import CTC_GREEDY
from ..support.checked import checked
from ..support.errors import UserError


class CtcGreedyDecoder(torch.nn.Module):
    """Scores float32 [batch, steps, classes] as classes int64 [batch, steps]: the best class of each step, of which
    those of several steps in a row count once, without blanks, and -1 behind the last one. Scores may be logits,
    probabilities or their logarithms, whose order is the same.

    blank: the class that stands for none, as in torch.nn.CTCLoss.
    classes: of a model that is called again and again with the next steps, how many classes there are: then the
        module remembers the scores of the last step, and a class that goes on from one call to the next counts once.
        The batch is 1.

    There is no gradient: leave the module out where the loss is computed.
    """

    past: torch.Tensor

    @checked()
    def __init__(self, blank: int = 0, classes: Optional[int] = None) -> None:
        super().__init__()
        if blank < 0 or (classes is not None and blank >= classes):
            raise UserError(f"blank is {blank}; it must be one of the {classes or 'classes, 0 or more'}")
        self.blank, self.classes = blank, classes
        if classes is not None:
            self.register_buffer("past", torch.eye(classes)[blank].reshape(1, 1, classes))

    def forward(self, scores: torch.Tensor) -> torch.Tensor:
        if self.classes is None:
            found: torch.Tensor = CTC_GREEDY(scores, self.blank, 0)
            return found
        if scores.dim() != 3 or scores.shape[0] != 1 or scores.shape[2] != self.classes:
            raise UserError(f"scores {list(scores.shape)} have to be [1, steps, {self.classes}]")
        steps = torch.cat([self.past, scores], 1)
        self.past.copy_(steps[:, -1:])
        found = CTC_GREEDY(steps, self.blank, 1)
        return found

    def extra_repr(self) -> str:
        return f"blank={self.blank}, classes={self.classes}"
