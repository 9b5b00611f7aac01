"""Trains the network, and writes what the firmware is made of.

Usage:

    train.py DETECTOR.pt CALIBRATION.npz TAPE.npz TAPE.h

DETECTOR.pt has the weights. CALIBRATION.npz has windows of a tape of their own, float32 (count, samples). TAPE.npz and
TAPE.h have the held-out tape that the firmware listens to, whole hops of int16; TAPE.npz also `presses`, (keys, 3): the
first sample of each key, the first one behind it, and which key it is.
"""

from __future__ import annotations

import sys

from cmsis_nn_delegate.support.quiet import quiet

quiet()

# ruff: noqa: E402
import numpy as np
import torch

from examples.dial_tones import detector, tones
from examples.dial_tones.detector import HOP, SAMPLES

KEYS = 40  # on the held-out tape
_CALIBRATION_WINDOWS = 300


def header(samples: np.ndarray) -> str:
    """Returns a C array of samples, as a microphone's converter would give them."""
    lines = [
        "// 16-bit samples of dialled keys, 16,000 a second. Generated.",
        "#pragma once",
        "#include <cstdint>",
        f"constexpr std::int16_t kTape[{len(samples)}] = {{",
        *(f"    {', '.join(map(str, row))}," for row in samples.reshape(-1, 16)),
        "};",
        "",
    ]
    return "\n".join(lines)


def calibration() -> np.ndarray:
    """Returns windows, float32 (count, samples), from all over a tape of their own."""
    samples = tones.tape(np.random.default_rng(1), 60).samples
    starts = np.linspace(0, len(samples) - SAMPLES, _CALIBRATION_WINDOWS).astype(int)
    return np.stack([detector.as_float(samples[start : start + SAMPLES])[0].numpy() for start in starts])


def main(argv: list[str]) -> int:
    if len(argv) != 5:
        print(__doc__, file=sys.stderr)
        return 2
    torch.save(detector.train().state_dict(), argv[1])
    np.savez(argv[2], samples=calibration())
    tape = tones.tape(np.random.default_rng(2), KEYS)
    samples = tape.samples[: len(tape.samples) // HOP * HOP]
    np.savez(argv[3], samples=samples, presses=[(press.start, press.stop, press.key) for press in tape.presses])
    with open(argv[4], "w", encoding="utf-8") as out:
        out.write(header(samples))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
