"""Greedy decoding of what a network that was trained with the CTC loss gives [Graves et al. 2006, "Connectionist
Temporal Classification", section 3.2.1, best path decoding], as a PyTorch operator:
`torch.ops.cmsis_nn_delegate.ctc_greedy`.

    ctc_greedy(scores, blank, seen)

`scores` is float32 [..., steps, classes]: logits, probabilities or their logarithms. Of each step the class with the
largest score counts, the first one of equals; of several steps in a row with the same class the first, and none with
the class `blank`. The result is int64 [..., steps - seen]: the classes that are left, and -1 behind the last one. The
first `seen` steps are those of an earlier call: they only say what came before."""

from __future__ import annotations

import torch

from .own_ops import define


def _ctc_greedy(scores: torch.Tensor, blank: int, seen: int) -> torch.Tensor:
    steps = scores.shape[-2]
    best = scores.detach().argmax(-1).reshape(-1, steps)
    found = torch.full((len(best), steps - seen), -1, dtype=torch.int64)
    for row, classes in zip(found, best):
        before = torch.cat([classes.new_full((1,), -1), classes[:-1]])
        kept = classes[seen:][(classes != before)[seen:] & (classes[seen:] != blank)]
        row[: len(kept)] = kept
    return found.reshape(*scores.shape[:-2], steps - seen)


def _shape_of_it(scores: torch.Tensor, blank: int, seen: int) -> torch.Tensor:
    return scores.new_empty((*scores.shape[:-2], scores.shape[-2] - seen), dtype=torch.int64)


CTC_GREEDY = define("ctc_greedy", "Tensor scores, int blank, int seen", _ctc_greedy, _shape_of_it, outside=True)
