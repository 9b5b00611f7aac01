#include "runtime/kernels/dequantize/dequantize.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_dequantize_int16(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::DequantizeInt16Args*>(args);
  dequantize_elements<std::int16_t>(a, bases, 0);
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kDequantizeInt16> kDequantizeInt16 =
    Kernel(operators::kDequantizeInt16, run_dequantize_int16);

}  // namespace cmsis_nn_delegate::portable
