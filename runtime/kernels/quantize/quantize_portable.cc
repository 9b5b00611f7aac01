#include "runtime/kernels/portable/portable.h"
#include "runtime/kernels/quantize/quantize.h"

namespace cmsis_nn_delegate::portable {

Error run_quantize(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::QuantizeArgs*>(args);
  quantize_elements<std::int8_t>(a, bases, a.zero_point);
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kQuantize> kQuantize =
    Kernel(operators::kQuantize, run_quantize);

}  // namespace cmsis_nn_delegate::portable
