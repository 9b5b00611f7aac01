"""Trains the network with quantization, and writes what the firmware is made of.

Usage:

    train_quantized.py QUANTIZED.pt2 IMAGES.h IMAGES.npz

QUANTIZED.pt2 is the exported program, for one image. IMAGES.h has the held-out images, the digits that they show, and
how many of them the program classifies rightly in PyTorch. IMAGES.npz has the same images as `image`, as the program
takes them, and the digits as `labels`.
"""

from __future__ import annotations

import sys

from cmsis_nn_delegate.support.quiet import quiet

quiet()

# ruff: noqa: E402
import numpy as np
import torch

from examples.digits import digits, qat


def header(data: digits.Digits, right: int) -> str:
    """Returns C arrays of pixels, from 0 to 16 as a sensor would give them, and of labels."""
    pixels = np.rint(data.test_images.reshape(len(data.test_images), -1) * 16).astype(int)
    lines = [
        "// Held-out images of scikit-learn's handwritten digits. Generated.",
        "#pragma once",
        "#include <cstdint>",
        f"constexpr int kImageCount = {len(pixels)};",
        f"constexpr int kRightInPyTorch = {right};",
        "constexpr std::uint8_t kImages[kImageCount][64] = {",
        *(f"    {{{', '.join(map(str, row))}}}," for row in pixels),
        "};",
        f"constexpr std::uint8_t kLabels[kImageCount] = {{{', '.join(map(str, data.test_labels))}}};",
        "",
    ]
    return "\n".join(lines)


def main(argv: list[str]) -> int:
    if len(argv) != 4:
        print(__doc__, file=sys.stderr)
        return 2
    data = digits.load()
    quantized = qat.quantize_in_training(qat.train(data), data)
    torch.export.save(torch.export.export(quantized, (torch.from_numpy(data.test_images[:1]),)), argv[1])
    right = round(qat.score(quantized, data).accuracy * len(data.test_images))
    with open(argv[2], "w", encoding="utf-8") as out:
        out.write(header(data, right))
    np.savez(argv[3], image=data.test_images, labels=data.test_labels)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
