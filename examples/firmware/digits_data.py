"""Writes calibration images, and held-out images for the firmware.

Usage:

    digits_data.py CALIBRATION.npz IMAGES.h
"""

from __future__ import annotations

import sys

import numpy as np

from examples.digits import digits

CALIBRATION_COUNT = 64
IMAGE_COUNT = 40


def header(images: np.ndarray, labels: np.ndarray) -> str:
    """Returns C arrays of pixels, from 0 to 16 as a sensor would give them, and the digits that they show."""
    rows = (np.rint(images.reshape(len(images), -1) * 16)).astype(int)
    lines = [
        "// Held-out images of scikit-learn's handwritten digits. Generated.",
        "#pragma once",
        "#include <cstdint>",
        f"constexpr int kImageCount = {len(rows)};",
        "constexpr std::uint8_t kImages[kImageCount][64] = {",
        *(f"    {{{', '.join(map(str, row))}}}," for row in rows),
        "};",
        f"constexpr std::uint8_t kLabels[kImageCount] = {{{', '.join(map(str, labels))}}};",
        "",
    ]
    return "\n".join(lines)


def main(argv: list[str]) -> int:
    if len(argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    data = digits.load()
    np.savez(argv[1], x=data.train_images[:CALIBRATION_COUNT])
    with open(argv[2], "w", encoding="utf-8") as out:
        out.write(header(data.test_images[:IMAGE_COUNT], data.test_labels[:IMAGE_COUNT]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
