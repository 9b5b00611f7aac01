// The spectrum of real numbers in fixed point.
//
// A transform of N numbers is one of N / 2 complex numbers, of which the even ones are the real and
// the odd ones the imaginary parts [Sorensen et al., Real-valued fast Fourier transform algorithms,
// 1987]: radix 2, decimated in time, in place. Each stage halves its results, so that they are the
// transform divided by N, and nothing overflows for numbers of at most 2^30 and factors on the unit
// circle. Others, of a damaged payload, wrap around.
#pragma once

#include <cstdint>

namespace cmsis_nn_delegate::portable {

struct Complex {
  std::int32_t real;
  std::int32_t imaginary;
};

/// -cos(w) and -sin(w) in Q15, as they lie in the constants: 16 bits have -1, but not 1.
struct Factor {
  std::int16_t cosine;
  std::int16_t sine;
};

inline std::int32_t wrapped_sum(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
}

inline std::int32_t wrapped_difference(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) - static_cast<std::uint32_t>(b));
}

/// floor(a * factor / 2^16): the upper half of a product of 32 bits.
inline std::int32_t half_product(std::int32_t a, std::int16_t factor) {
  return static_cast<std::int32_t>((static_cast<std::int64_t>(a) * (factor * 65536)) >> 32);
}

/// Half of `z`, turned clockwise by the angle of `factor`.
inline Complex half_turned(Complex z, Factor factor) {
  const std::int32_t real =
      wrapped_sum(half_product(z.real, factor.cosine), half_product(z.imaginary, factor.sine));
  return {wrapped_difference(0, real),
          wrapped_difference(half_product(z.real, factor.sine),
                             half_product(z.imaginary, factor.cosine))};
}

/// Transforms `half` complex numbers, a power of two of at least 2, that lie at the places whose
/// bits are those of their indices in the reverse order. `factors` are [half], for angles that are
/// half a turn together.
inline void transform(Complex* numbers, std::int32_t half, const Factor* factors) {
  for (std::int32_t reach = 1; reach < half; reach *= 2) {
    const std::int32_t step = half / reach;
    for (std::int32_t j = 0; j < reach; ++j) {
      const Factor factor = factors[j * step];
      for (Complex* z = numbers + j; z < numbers + half; z += 2 * reach) {
        const Complex turned = half_turned(z[reach], factor);
        const std::int32_t real = z->real >> 1;
        const std::int32_t imaginary = z->imaginary >> 1;
        z[0] = {wrapped_sum(real, turned.real), wrapped_sum(imaginary, turned.imaginary)};
        z[reach] = {wrapped_difference(real, turned.real),
                    wrapped_difference(imaginary, turned.imaginary)};
      }
    }
  }
}

/// Calls `bin(k, z)` for the bins k from 0 to `half` of the spectrum of 2 * half real numbers,
/// which `numbers` are the transform of, in the order 0, half, 1, half - 1, 2, ... Bins that were
/// not called yet are all that it reads afterwards.
template <typename Bin>
void for_each_bin(const Complex* numbers, std::int32_t half, const Factor* factors, Bin bin) {
  const std::int32_t first = numbers[0].real >> 1;
  const std::int32_t second = numbers[0].imaginary >> 1;
  bin(0, Complex{wrapped_sum(first, second), 0});
  bin(half, Complex{wrapped_difference(first, second), 0});
  for (std::int32_t k = 1; k <= half / 2; ++k) {
    const Complex a = {numbers[k].real >> 1, numbers[k].imaginary >> 1};
    const Complex b = {numbers[half - k].real >> 1, numbers[half - k].imaginary >> 1};
    const Complex odd = {wrapped_sum(a.imaginary, b.imaginary), wrapped_difference(b.real, a.real)};
    const Complex turned = half_turned(odd, factors[k]);
    const std::int32_t real = wrapped_sum(a.real, b.real) >> 1;
    const std::int32_t imaginary = wrapped_difference(a.imaginary, b.imaginary) >> 1;
    if (k < half - k) {
      bin(half - k, Complex{wrapped_difference(real, turned.real),
                            wrapped_difference(turned.imaginary, imaginary)});
    }
    bin(k, Complex{wrapped_sum(real, turned.real), wrapped_sum(imaginary, turned.imaginary)});
  }
}

}  // namespace cmsis_nn_delegate::portable
