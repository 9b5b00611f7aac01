#include "runtime/kernels/normalize/normalize.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_normalize(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::NormalizeArgs*>(args);
  normalize_groups<std::int8_t>(a, bases, a.input_offset, a.output_offset);
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kNormalize> kNormalize =
    Kernel(operators::kNormalize, run_normalize).in_place();

}  // namespace cmsis_nn_delegate::portable
