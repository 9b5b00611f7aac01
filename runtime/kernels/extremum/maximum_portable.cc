#include "runtime/kernels/common/broadcast.h"
#include "runtime/kernels/extremum/extremum.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_maximum(const void* args, const Bases& bases) {
  return for_each_row(*static_cast<const payload::MaximumArgs*>(args), bases,
                      extremum_row<std::int8_t, Largest>);
}

constexpr KernelOf<payload::Opcode::kMaximum> kMaximum =
    Kernel(operators::kMaximum, run_maximum).in_place();

}  // namespace cmsis_nn_delegate::portable
