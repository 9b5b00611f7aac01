#include "runtime/kernels/normalize/normalize.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_normalize_int16(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::NormalizeInt16Args*>(args);
  normalize_groups<std::int16_t>(a, bases, 0, 0);
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kNormalizeInt16> kNormalizeInt16 =
    Kernel(operators::kNormalizeInt16, run_normalize_int16).in_place();

}  // namespace cmsis_nn_delegate::portable
