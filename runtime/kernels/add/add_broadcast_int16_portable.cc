#include "runtime/kernels/add/add.h"
#include "runtime/kernels/common/broadcast_int16.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {
namespace {

using Args = payload::AddBroadcastInt16Args;

Error add_row(const void* args, const std::int16_t* input1, const std::int16_t* input2,
              std::int16_t* output, std::int32_t count) {
  add_elements(*static_cast<const Args*>(args), input1, input2, output, count);
  return Error::Ok;
}

}  // namespace

Error run_add_broadcast_int16(const void* args, const Bases& bases) {
  return for_each_row(*static_cast<const Args*>(args), bases, add_row);
}

constexpr KernelOf<payload::Opcode::kAddBroadcastInt16> kAddBroadcastInt16 =
    Kernel(operators::kAddBroadcastInt16, run_add_broadcast_int16).in_place();

}  // namespace cmsis_nn_delegate::portable
