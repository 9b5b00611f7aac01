"""What stands behind a detector, as a PyTorch operator: `torch.ops.cmsis_nn_delegate.nms`.

    nms(boxes, scores, iou, score, most)

`boxes` is float32 [..., N, 4], x1, y1, x2, y2 with x1 <= x2 and y1 <= y2, and `scores` [..., N]. The result is int64
[..., most]: the places of the boxes that are kept, by decreasing score and, of equal scores, increasing place, and -1
behind the last one. Of the boxes with a score above `score`, the best one is kept, then the best of those of which no
kept box covers too much, and so on. It covers too much if intersection > threshold * union, with the threshold `iou` in
whole 2^-15. That is torchvision.ops.nms without boxes of low scores, and the first `most` of its results."""

from __future__ import annotations

import math

import torch

from .own_ops import define

# Bits behind the point of the threshold.
IOU_BITS = 15


def iou_steps(iou: float) -> int:
    """Returns a threshold in 2^-15."""
    return round(iou * (1 << IOU_BITS))


def _covered(box: torch.Tensor, boxes: torch.Tensor, steps: int) -> torch.Tensor:
    """Returns which of `boxes` [N, 4] `box` [4] covers too much."""
    sides = (torch.minimum(box[2:], boxes[:, 2:]) - torch.maximum(box[:2], boxes[:, :2])).clamp_min(0)
    areas = [(of[..., 2:] - of[..., :2]).clamp_min(0).prod(-1) for of in (box, boxes)]
    intersection = sides.prod(-1)
    return intersection * (1 << IOU_BITS) > steps * (areas[0] + areas[1] - intersection)


def _nms(boxes: torch.Tensor, scores: torch.Tensor, iou: float, score: float, most: int) -> torch.Tensor:
    # In double, in which products of sides that have a scale are exact enough to be compared.
    flat = boxes.detach().double().reshape(-1, *boxes.shape[-2:])
    found = torch.full((len(flat), most), -1, dtype=torch.int64)
    for row, some, values in zip(found, flat, scores.detach().reshape(len(flat), -1)):
        left = values > score
        for place in range(most):
            if not bool(left.any()):
                break
            best = int(torch.where(left, values, -math.inf).argmax())
            row[place] = best
            left &= ~_covered(some[best], some, iou_steps(iou))
            left[best] = False
    return found.reshape(*scores.shape[:-1], most)


def _shape_of_it(boxes: torch.Tensor, scores: torch.Tensor, iou: float, score: float, most: int) -> torch.Tensor:
    return scores.new_empty((*scores.shape[:-1], most), dtype=torch.int64)


NMS = define("nms", "Tensor boxes, Tensor scores, float iou, float score, int most", _nms, _shape_of_it, outside=True)
