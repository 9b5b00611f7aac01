#include "runtime/kernels/common/float_math.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_softmax_float32(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::SoftmaxFloat32Args*>(args);
  const auto* input = bases.resolve<const float>(a.input);
  auto* output = bases.resolve<float>(a.output);
  for (std::int32_t n = 0; n < a.outer; ++n) {
    for (std::int32_t row = 0; row < a.inner; ++row) {
      const float* const x = input + row;
      float* const y = output + row;
      float most = x[0];
      for (std::int32_t i = 1; i < a.size; ++i) {
        most = x[i * a.inner] > most ? x[i * a.inner] : most;
      }
      const float total = real::total(a.size, [&](std::int32_t i) {
        const float below = x[i * a.inner] - most;
        const float power = real::exp(below);
        y[i * a.inner] = a.logarithm != 0 ? below : power;
        return power;
      });
      const float logarithm = real::log(total);
      for (std::int32_t i = 0; i < a.size; ++i) {
        y[i * a.inner] = a.logarithm != 0 ? y[i * a.inner] - logarithm : y[i * a.inner] / total;
      }
    }
    input += a.size * a.inner;
    output += a.size * a.inner;
  }
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kSoftmaxFloat32> kSoftmaxFloat32 =
    Kernel(operators::kSoftmaxFloat32, run_softmax_float32).in_place();

}  // namespace cmsis_nn_delegate::portable
