#include "runtime/kernels/common/float_math.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {
namespace {

// In the order of FUNCTIONS in aot/cmsis_nn_delegate/ops/reduce_float32.py.
enum class Reduction { kSum, kVariance, kMax, kMin };

float reduce(const float* x, std::int32_t size, std::int32_t step, Reduction function,
             float divisor) {
  if (function == Reduction::kMax || function == Reduction::kMin) {
    float extremum = x[0];
    for (std::int32_t i = 1; i < size; ++i) {
      const float value = x[i * step];
      if (function == Reduction::kMin ? value < extremum : value > extremum) {
        extremum = value;
      }
    }
    return extremum;
  }
  float total = real::total(size, [&](std::int32_t i) { return x[i * step]; });
  if (function == Reduction::kVariance) {
    const float mean = total / static_cast<float>(size);
    total = real::total(size, [&](std::int32_t i) {
      const float away = x[i * step] - mean;
      return away * away;
    });
  }
  return total / divisor;
}

}  // namespace

Error run_reduce_float32(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::ReduceFloat32Args*>(args);
  const auto* input = bases.resolve<const float>(a.input);
  auto* output = bases.resolve<float>(a.output);
  for (std::int32_t n = 0; n < a.outer; ++n) {
    for (std::int32_t i = 0; i < a.inner; ++i) {
      *output++ = reduce(input + i, a.size, a.inner, static_cast<Reduction>(a.function), a.divisor);
    }
    input += a.size * a.inner;
  }
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kReduceFloat32> kReduceFloat32 =
    Kernel(operators::kReduceFloat32, run_reduce_float32);

}  // namespace cmsis_nn_delegate::portable
