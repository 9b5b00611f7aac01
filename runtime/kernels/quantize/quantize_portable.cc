#include <cstring>

#include "runtime/kernels/common/requantize.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate {
namespace portable {
namespace {

/// Returns the integer nearest to `value`, halves to even, saturated to [-512, 512]; 0 for NaN.
///
/// It works on the bits, so it needs no rounding mode, no libm and no FPU, and a compiler cannot
/// contract it with the multiplication before it.
std::int32_t round_half_even(float value) {
  static_assert(sizeof(float) == sizeof(std::uint32_t), "IEEE 754 single precision");
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  const std::uint32_t exponent = (bits >> 23) & 0xFF;  // of value, biased by 127
  const std::uint32_t fraction = bits & 0x7FFFFF;

  std::int32_t magnitude = 512;
  const bool is_nan = exponent == 255 && fraction != 0;
  if (exponent < 126 || is_nan) {  // |value| < 1/2
    magnitude = 0;
  } else if (exponent < 127 + 9) {
    const std::uint32_t significand = fraction | 0x800000;
    const std::uint32_t shift = 150 - exponent;  // [15, 24]
    const std::uint32_t half = std::uint32_t{1} << (shift - 1);
    const std::uint32_t remainder = significand & ((half << 1) - 1);
    std::uint32_t quotient = significand >> shift;
    if (remainder > half || (remainder == half && (quotient & 1) != 0)) {
      ++quotient;
    }
    magnitude = static_cast<std::int32_t>(quotient);
  }
  return (bits >> 31) != 0 ? -magnitude : magnitude;
}

}  // namespace

Error run_quantize(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::QuantizeArgs*>(args);
  const auto* input = bases.resolve<const float>(a.input);
  auto* output = bases.resolve<std::int8_t>(a.output);
  constexpr payload::Activation kInt8 = {-128, 127};

  for (std::int32_t n = 0; n < a.batch; ++n) {
    for (std::int32_t channel = 0; channel < a.channels; ++channel) {
      std::int8_t* out = output + channel;
      for (std::int32_t pixel = 0; pixel < a.pixels; ++pixel) {
        *out = clamp(round_half_even(*input++ * a.inverse_scale) + a.zero_point, kInt8);
        out += a.channels;
      }
    }
    output += a.channels * a.pixels;
  }
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kQuantize> kQuantize =
    Kernel(operators::kQuantize, run_quantize);

}  // namespace portable
}  // namespace cmsis_nn_delegate
