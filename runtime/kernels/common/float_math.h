// Functions of float32 numbers in a stated order of IEEE 754 operations, so that all cores, with an FPU or without,
// compute the bits of aot/cmsis_nn_delegate/ops/float_math.py, which says where the polynomials come from.
//
// Kernels of float32 include this first: what it says to the compiler holds for all that follows. No product may be
// fused with a sum, which our builds also say with -ffp-contract=off, and nothing may become vectors: those of MVE
// flush small numbers to zero. Clang needs -fno-vectorize -fno-slp-vectorize for cores with MVE.
#pragma once

#include <cstdint>
#include <cstring>

#ifdef __FAST_MATH__
#error "kernels of float32 need IEEE 754 arithmetic: leave out -ffast-math"
#endif
#if defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ != 0
#error \
    "kernels of float32 need operations that are rounded to float: use -msse2 -mfpmath=sse on x86"
#endif
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off", "no-tree-vectorize")
#endif

namespace cmsis_nn_delegate::portable::real {

inline std::uint32_t bits_of(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof(bits));
  return bits;
}

inline float from_bits(std::uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof(x));
  return x;
}

inline float infinity() { return from_bits(0x7F800000u); }
inline float not_a_number() { return from_bits(0x7FC00000u); }
inline float absolute(float x) { return from_bits(bits_of(x) & 0x7FFFFFFFu); }

/// Horner's rule, the coefficient of the highest power first.
template <int kCount>
inline float polynomial(float x, const float (&coefficients)[kCount]) {
  float total = coefficients[0];
  for (int i = 1; i < kCount; ++i) {
    total = total * x + coefficients[i];
  }
  return total;
}

/// 2^exponent, for exponents of normal numbers.
inline float power_of_two(std::int32_t exponent) {
  return from_bits(static_cast<std::uint32_t>(exponent + 127) << 23);
}

/// The sum of at(0) to at(count - 1): of blocks of 32, each added one after the other to 0, and then of neighbouring
/// sums in pairs, again and again, until one is left. The last one of an odd number of sums stays as it is.
template <typename At>
inline float total(std::int32_t count, At at) {
  constexpr std::int32_t kBlock = 32;
  float sums[27];  // of 2^k blocks each, the largest first; there are fewer than 2^26 + 1 blocks
  std::int32_t depth = 0;
  std::int32_t blocks = 0;
  for (std::int32_t i = 0; i < count;) {
    const std::int32_t stop = count - i > kBlock ? i + kBlock : count;
    float sum = 0;
    for (; i < stop; ++i) {
      sum = sum + at(i);
    }
    ++blocks;
    for (std::int32_t rest = blocks; (rest & 1) == 0; rest /= 2) {
      sum = sums[--depth] + sum;
    }
    sums[depth++] = sum;
  }
  float sum = 0;
  while (depth > 0) {
    sum = sums[--depth] + sum;
  }
  return sum;
}

/// (e^x - 1 - x) / x^2, for |x| of at most half of log(2).
inline float exp_polynomial(float x) {
  constexpr float kCoefficients[] = {1.9875691500e-4f, 1.3981999507e-3f, 8.3334519073e-3f,
                                     4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f};
  return polynomial(x, kCoefficients);
}

/// e^x.
inline float exp(float x) {
  if (!(x < 88.72284f)) {
    return x != x ? x : infinity();
  }
  if (x <= -104.0f) {
    return 0.0f;
  }
  const float scaled = x * 1.44269504088896341f;
  const auto count = static_cast<std::int32_t>(scaled + (scaled < 0 ? -0.5f : 0.5f));
  const auto whole = static_cast<float>(count);
  float rest = x - whole * 0.693359375f;
  rest = rest - whole * -2.12194440e-4f;
  const float result = exp_polynomial(rest) * (rest * rest) + rest + 1.0f;
  const std::int32_t half = count >= 0 ? count / 2 : -((1 - count) / 2);
  return result * power_of_two(half) * power_of_two(count - half);
}

/// e^x - 1.
inline float expm1(float x) {
  if (absolute(x) < 0.34657359f) {
    return exp_polynomial(x) * (x * x) + x;
  }
  return exp(x) - 1.0f;
}

/// (log(1 + x) - x + x^2 / 2) / x^3, for 1 + x between the roots of 1/2 and of 2.
inline float log_polynomial(float x) {
  constexpr float kCoefficients[] = {7.0376836292e-2f,  -1.1514610310e-1f, 1.1676998740e-1f,
                                     -1.2420140846e-1f, 1.4249322787e-1f,  -1.6668057665e-1f,
                                     2.0000714765e-1f,  -2.4999993993e-1f, 3.3333331174e-1f};
  return polynomial(x, kCoefficients);
}

/// The natural logarithm: -infinity of 0, and NaN of negative numbers.
inline float log(float x) {
  if (x != x || x == infinity()) {
    return x;
  }
  if (x <= 0) {
    return x == 0 ? -infinity() : not_a_number();
  }
  std::int32_t exponent = -126;
  if (x < 1.17549435e-38f) {
    x = x * 8388608.0f;
    exponent -= 23;
  }
  exponent += static_cast<std::int32_t>(bits_of(x) >> 23);
  const float mantissa = from_bits((bits_of(x) & 0x7FFFFFu) | 0x3F000000u);  // from 0.5 to 1
  float rest = mantissa - 1.0f;
  if (mantissa < 0.707106781186547524f) {
    exponent -= 1;
    rest = mantissa + mantissa - 1.0f;
  }
  const auto count = static_cast<float>(exponent);
  const float square = rest * rest;
  float result = log_polynomial(rest) * rest * square;
  result = result + -2.12194440e-4f * count;
  result = result - 0.5f * square;
  result = rest + result;
  return result + 0.693359375f * count;
}

/// The logarithm of 1 + x: -infinity of -1, and NaN of less.
inline float log1p(float x) {
  if (x > -0.29289322f && x < 0.41421356f) {
    const float square = x * x;
    return x + (log_polynomial(x) * x * square - 0.5f * square);
  }
  return log(1.0f + x);
}

/// log(1 + e^x), of e^-|x| so that nothing overflows.
inline float softplus(float x) { return (x < 0 ? 0.0f : x) + log1p(exp(-absolute(x))); }

/// Correctly rounded, bit by bit: a C library has no place in a kernel. NaN of negative numbers.
inline float sqrt(float x) {
  if (x != x || x == 0 || x == infinity()) {
    return x;
  }
  if (x < 0) {
    return not_a_number();
  }
  std::int32_t exponent = -127;
  if (x < 1.17549435e-38f) {
    x = x * 16777216.0f;
    exponent -= 24;
  }
  exponent += static_cast<std::int32_t>(bits_of(x) >> 23);
  std::uint32_t rest = (bits_of(x) & 0x7FFFFFu) | 0x800000u;
  if ((exponent & 1) != 0) {
    rest += rest;
    exponent -= 1;
  }
  // The root of rest * 2^25, with 25 bits, of which the last one says how to round.
  rest += rest;
  std::uint32_t root = 0;
  std::uint32_t sum = 0;
  for (std::uint32_t bit = 0x1000000u; bit != 0; bit >>= 1) {
    const std::uint32_t tried = sum + bit;
    if (tried <= rest) {
      sum = tried + bit;
      rest -= tried;
      root += bit;
    }
    rest += rest;
  }
  if (rest != 0) {
    root += root & 1;  // no root is halfway between two numbers
  }
  return from_bits((root >> 1) + 0x3F000000u + (static_cast<std::uint32_t>(exponent / 2) << 23));
}

/// 1 / (1 + e^-x), of e^-|x| so that nothing overflows.
inline float sigmoid(float x) {
  const float power = exp(-absolute(x));
  return (x < 0 ? power : 1.0f) / (1.0f + power);
}

/// The hyperbolic tangent.
inline float tanh(float x) {
  constexpr float kCoefficients[] = {-5.70498872745e-3f, 2.06390887954e-2f, -5.37397155531e-2f,
                                     1.33314422036e-1f, -3.33332819422e-1f};
  const float size = absolute(x);
  if (size < 0.625f) {
    const float square = x * x;
    return polynomial(square, kCoefficients) * square * x + x;
  }
  const float far = 1.0f - 2.0f / (exp(size + size) + 1.0f);
  return x < 0 ? -far : far;
}

/// 1 - the error function, of numbers from 1 on.
inline float erfc_far(float x) {
  constexpr float kMiddle[] = {
      2.326819970068386e-2f,  -1.387039388740657e-1f, 3.687424674597105e-1f,
      -5.824733027278666e-1f, 6.210004621745983e-1f,  -4.944515323274145e-1f,
      3.404879937665872e-1f,  -2.741127028184656e-1f, 5.638259427386472e-1f};
  constexpr float kFar[] = {-1.047766399936249e1f,  1.297719955372516e1f,  -7.495518717768503e0f,
                            2.921019019210786e0f,   -1.015265279202700e0f, 4.218463358204948e-1f,
                            -2.820767439740514e-1f, 5.641895067754075e-1f};
  const float inverse = 1.0f / x;
  const float square = inverse * inverse;
  const float factor = x < 2.0f ? polynomial(square, kMiddle) : polynomial(square, kFar);
  return exp(-(x * x)) * inverse * factor;
}

/// The error function.
inline float erf(float x) {
  constexpr float kNear[] = {7.853861353153693e-5f,  -8.010193625184903e-4f, 5.188327685732524e-3f,
                             -2.685381193529856e-2f, 1.128358514861418e-1f,  -3.761262582423300e-1f,
                             1.128379165726710e0f};
  const float size = absolute(x);
  if (size < 1.0f) {
    return x * polynomial(x * x, kNear);
  }
  float far = x != x ? x : 1.0f;
  if (size < 4.0f) {
    far = 1.0f - erfc_far(size);
  }
  return x < 0 ? -far : far;
}

/// 1 - the error function.
inline float erfc(float x) { return x >= 1.0f ? erfc_far(x) : 1.0f - erf(x); }

}  // namespace cmsis_nn_delegate::portable::real
