"""What stands behind a detector, as PyTorch modules: boxes of anchors, and non-maximum suppression."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from ..edge.detection_ops import NMS
from ..support.checked import checked
from ..support.errors import UserError


class BoxDecoder(torch.nn.Module):
    """Offsets from anchors, float32 [..., N, 4], as boxes [..., N, 4] of x1, y1, x2, y2: the center is
    anchor center + offset / weight * anchor size, and the size anchor size * exp(offset / weight) [Girshick et al.
    2014, R-CNN, appendix C], as in torchvision's BoxCoder.

    anchors: float32 [N, 4] of x1, y1, x2, y2, in the units that boxes are to have.
    weights: of the offsets dx, dy, dw and dh: 10, 10, 5 and 5 for SSD, whose variances are 0.1 and 0.2.
    largest: what a size may be of that of its anchor; an offset beyond that is limited.

    It consists of sums, products and an exponential, which are computed in the delegate. int8 has 256 places for
    corners: give the module the format int16 where a box has to be more exact.
    """

    centers: torch.Tensor
    moves: torch.Tensor
    halves: torch.Tensor
    rates: torch.Tensor

    @checked()
    def __init__(
        self, anchors: torch.Tensor, weights: Sequence[float] = (1.0, 1.0, 1.0, 1.0), largest: float = 1000 / 16
    ) -> None:
        super().__init__()
        if anchors.dim() != 2 or anchors.shape[1] != 4 or not bool((anchors[:, 2:] > anchors[:, :2]).all()):
            raise UserError(f"anchors {list(anchors.shape)} have to be [N, 4], x1 < x2 and y1 < y2")
        if len(weights) != 4 or not all(0 < weight < math.inf for weight in weights) or largest < 1:
            raise UserError(f"weights {list(weights)} have to be 4 numbers above 0, and largest {largest} at least 1")
        size = (anchors[:, 2:] - anchors[:, :2]).float()
        by = torch.tensor(weights, dtype=torch.float32)
        self.register_buffer("centers", anchors[:, :2].float() + size / 2)
        self.register_buffer("moves", size / by[:2])
        self.register_buffer("halves", size / 2)
        self.register_buffer("rates", 1 / by[2:])
        self.limit = math.log(largest)

    def forward(self, offsets: torch.Tensor) -> torch.Tensor:
        centers = self.centers + offsets[..., :2] * self.moves
        halves = torch.exp((offsets[..., 2:] * self.rates).clamp(max=self.limit)) * self.halves
        return torch.cat([centers - halves, centers + halves], -1)


class NonMaxSuppression(torch.nn.Module):
    """Which boxes are kept: int64 [..., most], places in the input, best score first, and -1 behind the last one.

    iou: a box that a better one covers by more than this, intersection over union, is left out; in steps of 2^-15.
    score: boxes with a score that is not above this are left out.
    most: how many boxes are kept at most.

    forward(boxes, scores) takes float32 [..., N, 4], x1 <= x2 and y1 <= y2, and [..., N]. The order is that of
    torchvision.ops.nms, and of equal scores the first place goes first. There is no gradient. For several classes, call
    it with the scores of each.
    """

    @checked()
    def __init__(self, iou: float = 0.5, score: float = 0.05, most: int = 10) -> None:
        super().__init__()
        if not 0 <= iou <= 1:
            raise UserError(f"iou is {iou}; it must be from 0 to 1")
        if not math.isfinite(score):
            raise UserError(f"score is {score}; it must be finite: a score below all others keeps every box")
        if most < 1:
            raise UserError(f"most is {most}; at least one box has to be kept")
        self.iou, self.score, self.most = float(iou), float(score), most

    def forward(self, boxes: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        if boxes.shape != (*scores.shape, 4):
            raise UserError(
                f"boxes {list(boxes.shape)} and scores {list(scores.shape)} have to be [..., N, 4] and [..., N]"
            )
        kept: torch.Tensor = NMS(boxes, scores, self.iou, self.score, self.most)
        return kept

    def extra_repr(self) -> str:
        return f"iou={self.iou}, score={self.score}, most={self.most}"
