"""From what the network says every 20 ms to the keys that were dialled."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from examples.dial_tones.detector import HOP, NOTHING, WINDOW
from examples.dial_tones.tones import Press
from examples.score import Score

_SURE = 51  # as Debouncer::kSure in debouncer.h
_LATE = 3 * HOP  # samples after its end until which a key may be reported


class Debouncer:
    """Does what the Debouncer of debouncer.h does."""

    def __init__(self) -> None:
        self._last = as_int8(np.eye(NOTHING + 1)[NOTHING])
        self._held = NOTHING

    def take(self, probabilities: np.ndarray) -> int | None:
        """Takes the next result, int8 (17,), and returns the key that begins with it, if one does."""
        sums = self._last.astype(int) + probabilities
        self._last = probabilities
        said = int(sums.argmax())
        key = said if sums[said] >= _SURE else NOTHING
        begins = key not in (NOTHING, self._held)
        self._held = key
        return key if begins else None


def as_int8(probabilities: np.ndarray) -> np.ndarray:
    """Returns probabilities from 0 to 1 in the steps that the device gives them in."""
    return np.clip(np.rint(probabilities * 256) - 128, -128, 127).astype(np.int8)


@dataclass(frozen=True)
class Detection:
    """A key that was reported when `sample` was the next one to come."""

    sample: int
    key: int


def detections(probabilities: np.ndarray, first: int) -> list[Detection]:
    """Returns what is reported for the results, int8 (count, 17), of one inference after the other, from inference
    `first` on."""
    debouncer = Debouncer()
    found = []
    for inference, row in enumerate(probabilities, first):
        key = debouncer.take(row)
        if key is not None:
            found.append(Detection((inference + 1) * HOP, key))
    return found


def score(found: list[Detection], presses: tuple[Press, ...]) -> Score:
    """Compares detections with the keys that were dialled. One belongs to a key that sounds, or has just ended."""
    left = list(found)
    right = wrong = missed = 0
    for press in presses:
        its = [found for found in left if press.start + WINDOW // 2 <= found.sample <= press.stop + _LATE]
        if not its:
            missed += 1
            continue
        left.remove(its[0])
        right, wrong = right + (its[0].key == press.key), wrong + (its[0].key != press.key)
    return Score(right, wrong, missed, len(left))
