#include "runtime/kernels/common/broadcast.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {
namespace {

Error maximum_row(const void*, const std::int8_t* input1, const std::int8_t* input2,
                  std::int8_t* output, std::int32_t count) {
  for (std::int32_t i = 0; i < count; ++i) {
    output[i] = input2[i] > input1[i] ? input2[i] : input1[i];
  }
  return Error::Ok;
}

}  // namespace

Error run_maximum(const void* args, const Bases& bases) {
  return for_each_row(*static_cast<const payload::MaximumArgs*>(args), bases, maximum_row);
}

constexpr KernelOf<payload::Opcode::kMaximum> kMaximum =
    Kernel(operators::kMaximum, run_maximum).in_place();

}  // namespace cmsis_nn_delegate::portable
