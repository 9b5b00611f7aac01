#include "runtime/kernels/common/broadcast_int16.h"
#include "runtime/kernels/extremum/extremum.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_maximum_int16(const void* args, const Bases& bases) {
  return for_each_row(*static_cast<const payload::MaximumInt16Args*>(args), bases,
                      extremum_row<std::int16_t, Largest>);
}

constexpr KernelOf<payload::Opcode::kMaximumInt16> kMaximumInt16 =
    Kernel(operators::kMaximumInt16, run_maximum_int16).in_place();

}  // namespace cmsis_nn_delegate::portable
