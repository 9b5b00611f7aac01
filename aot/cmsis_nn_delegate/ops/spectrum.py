"""The spectrum of real numbers in fixed point, as the kernels of `log_mel` compute it.

A transform of N numbers is one of N / 2 complex numbers, of which the even ones are the real and the odd ones the
imaginary parts [Sorensen et al., Real-valued fast Fourier transform algorithms, 1987]. It is of radix 2, decimated in
time, and each of its stages halves its results, as the last step does, which separates both halves: so the result is
the transform divided by N, and nothing overflows. All numbers have 32 bits, and so what is lost below the last bit is
far below the noise of samples of 16 bits. A factor of a stage has 16 bits and is multiplied so:

    t * a -> floor(t * a / 2^16)

which is the upper half of a product of 32 bits, and half of t * a for a factor in steps of 2^-15.
"""

from __future__ import annotations

import numpy as np

from ..graph.tensor_type import Element

# Of the transform. With more, factors of 16 bits would not tell neighbours apart.
LENGTHS = tuple(1 << bits for bits in range(5, 13))
FACTOR_BITS = 15


def factors(length: int) -> np.ndarray:
    """Returns int16 [length]: the pairs -cos(w), -sin(w) for w = 2 pi k / length and k below length / 2, in 15 bits
    after the point. 16 bits have -1, but not 1, which is why the signs are changed."""
    angles = 2 * np.pi * np.arange(length // 2) / length
    pairs = np.stack([-np.cos(angles), -np.sin(angles)], axis=1) * 2.0**FACTOR_BITS
    return np.clip(np.rint(pairs), Element.INT16.low, Element.INT16.high).astype(np.int16).reshape(-1)


def scaled_spectrum(numbers: np.ndarray, table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns real and imaginary parts of the spectrum of int64 [..., length], each int64 [..., length / 2 + 1] and
    divided by `length`. `table` is that of `factors`; numbers are at most 2^30 in size."""
    length = numbers.shape[-1]
    half = length // 2
    bits = half.bit_length() - 1
    order = np.array([int(f"{index:0{bits}b}"[::-1], 2) for index in range(half)])
    real, imaginary = numbers[..., 0::2][..., order], numbers[..., 1::2][..., order]
    pairs = table.astype(np.int64).reshape(-1, 2)
    size = 2
    while size <= half:
        cosines, sines = pairs[:: length // size][: size // 2].T
        shape = (*numbers.shape[:-1], half // size, 2, size // 2)
        blocks = [part.reshape(shape) for part in (real, imaginary)]
        (a, b), (c, d) = ([block[..., index, :] for block in blocks] for index in (0, 1))
        e, f = _turned(c, d, cosines, sines)
        real = np.stack([(a >> 1) + e, (a >> 1) - e], axis=-2).reshape(*numbers.shape[:-1], half)
        imaginary = np.stack([(b >> 1) + f, (b >> 1) - f], axis=-2).reshape(*numbers.shape[:-1], half)
        size *= 2
    return _separated(real, imaginary, pairs)


def _separated(real: np.ndarray, imaginary: np.ndarray, pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the spectrum of the real numbers that a transform of half as many complex ones stands for."""
    half = real.shape[-1]
    last = half // 2
    a, b = real >> 1, imaginary >> 1
    front, back = slice(1, last + 1), slice(half - 1, half - 1 - last, -1)
    even = (a[..., front] + a[..., back] >> 1, b[..., front] - b[..., back] >> 1)
    odd = (b[..., front] + b[..., back], a[..., back] - a[..., front])
    e, f = _turned(*odd, *pairs[1 : last + 1].T)
    found = np.zeros((2, *real.shape[:-1], half + 1), np.int64)
    found[0, ..., 0], found[0, ..., half] = a[..., 0] + b[..., 0], a[..., 0] - b[..., 0]
    found[0, ..., back], found[1, ..., back] = even[0] - e, f - even[1]
    found[0, ..., front], found[1, ..., front] = even[0] + e, even[1] + f
    return found[0], found[1]


def _turned(
    real: np.ndarray, imaginary: np.ndarray, cosines: np.ndarray, sines: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Returns half of real + i imaginary, turned clockwise by the angles of factors."""
    return (
        -((real * cosines >> 16) + (imaginary * sines >> 16)),
        (real * sines >> 16) - (imaginary * cosines >> 16),
    )


def square_root(numbers: np.ndarray) -> np.ndarray:
    """Returns the square roots of int64, rounded down to 16 bits that count: the root of n / 4^s, times 2^s, for the
    least s with n < 2^(32 + 2 s)."""
    bits = np.frexp(numbers.astype(np.float64))[1]  # of a number that rounds up to a power of two, one more
    shift = np.maximum(bits - 31, 0) // 2
    shift += (numbers >> 2 * shift) >= 1 << 32
    shift -= (shift > 0) & ((numbers >> np.maximum(2 * shift - 2, 0)) < 1 << 32)
    found: np.ndarray = np.floor(np.sqrt((numbers >> 2 * shift).astype(np.float64))).astype(np.int64) << shift
    return found
