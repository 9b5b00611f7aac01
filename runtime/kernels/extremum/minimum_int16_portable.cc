#include "runtime/kernels/common/broadcast_int16.h"
#include "runtime/kernels/extremum/extremum.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_minimum_int16(const void* args, const Bases& bases) {
  return for_each_row(*static_cast<const payload::MinimumInt16Args*>(args), bases,
                      extremum_row<std::int16_t, Smallest>);
}

constexpr KernelOf<payload::Opcode::kMinimumInt16> kMinimumInt16 =
    Kernel(operators::kMinimumInt16, run_minimum_int16).in_place();

}  // namespace cmsis_nn_delegate::portable
