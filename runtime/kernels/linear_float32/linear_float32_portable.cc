#include "runtime/kernels/common/float_math.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_linear_float32(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::LinearFloat32Args*>(args);
  const auto* input = bases.resolve<const float>(a.input);
  const auto* const weights = bases.resolve<const float>(a.weight);
  const auto* const bias = bases.resolve<const float>(a.bias);
  auto* output = bases.resolve<float>(a.output);
  const std::int32_t step = a.transposed != 0 ? a.columns : 1;
  const std::int32_t next_column = a.transposed != 0 ? 1 : a.depth;
  for (std::int32_t n = 0; n < a.batch; ++n) {
    const float* const weight = weights + n % a.weights * a.columns * a.depth;
    for (std::int32_t row = 0; row < a.rows; ++row) {
      const float* w = weight;
      for (std::int32_t column = 0; column < a.columns; ++column) {
        float total = bias[column];
        for (std::int32_t k = 0; k < a.depth; ++k) {
          total = total + input[k] * w[k * step];
        }
        *output++ = total;
        w += next_column;
      }
      input += a.depth;
    }
  }
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kLinearFloat32> kLinearFloat32 =
    Kernel(operators::kLinearFloat32, run_linear_float32);

}  // namespace cmsis_nn_delegate::portable
