#include "runtime/kernels/common/float_math.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_normalize_float32(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::NormalizeFloat32Args*>(args);
  const auto* x = bases.resolve<const float>(a.input);
  const auto* const weights = bases.resolve<const float>(a.weight);
  const auto* const biases = bases.resolve<const float>(a.bias);
  auto* y = bases.resolve<float>(a.output);
  const std::int32_t size = a.outer * a.inner;
  const auto count = static_cast<float>(size);
  for (std::int32_t row = 0; row < a.rows; ++row) {
    float mean = 0;
    if (a.centered != 0) {
      mean = real::total(size, [&](std::int32_t i) { return x[i]; }) / count;
    }
    const float squares = real::total(size, [&](std::int32_t i) {
      const float away = x[i] - mean;
      return away * away;
    });
    const float variance = squares / count + a.epsilon;
    const float factor = variance < 0 ? real::not_a_number() : 1.0f / real::sqrt(variance);
    const std::int32_t parameters = row % a.groups * a.outer;
    for (std::int32_t outer = parameters; outer < parameters + a.outer; ++outer) {
      for (std::int32_t inner = 0; inner < a.inner; ++inner) {
        *y++ = (*x++ - mean) * factor * weights[outer] + biases[outer];
      }
    }
  }
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kNormalizeFloat32> kNormalizeFloat32 =
    Kernel(operators::kNormalizeFloat32, run_normalize_float32).in_place();

}  // namespace cmsis_nn_delegate::portable
