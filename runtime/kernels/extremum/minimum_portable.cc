#include "runtime/kernels/common/broadcast.h"
#include "runtime/kernels/extremum/extremum.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_minimum(const void* args, const Bases& bases) {
  return for_each_row(*static_cast<const payload::MinimumArgs*>(args), bases,
                      extremum_row<std::int8_t, Smallest>);
}

constexpr KernelOf<payload::Opcode::kMinimum> kMinimum =
    Kernel(operators::kMinimum, run_minimum).in_place();

}  // namespace cmsis_nn_delegate::portable
