#include "runtime/kernels/dequantize/dequantize.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_dequantize(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::DequantizeArgs*>(args);
  dequantize_elements<std::int8_t>(a, bases, a.zero_point);
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kDequantize> kDequantize =
    Kernel(operators::kDequantize, run_dequantize);

}  // namespace cmsis_nn_delegate::portable
