#include <cstddef>
#include <cstring>

#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_transpose(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::TransposeArgs*>(args);
  const auto* input = bases.resolve<const std::int8_t>(a.input);
  auto* output = bases.resolve<std::int8_t>(a.output);

  if (a.rows == 1 || a.columns == 1) {  // the order stays
    std::memcpy(output, input, static_cast<std::size_t>(a.batch * a.rows * a.columns));
    return Error::Ok;
  }
  for (std::int32_t n = 0; n < a.batch; ++n) {
    for (std::int32_t column = 0; column < a.columns; ++column) {
      const std::int8_t* in = input + column;
      for (std::int32_t row = 0; row < a.rows; ++row) {
        *output++ = *in;
        in += a.columns;
      }
    }
    input += a.rows * a.columns;
  }
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kTranspose> kTranspose =
    Kernel(operators::kTranspose, run_transpose);

}  // namespace cmsis_nn_delegate::portable
