#include "runtime/kernels/ctc_greedy/ctc_greedy.h"

#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_ctc_greedy_int16(const void* args, const Bases& bases) {
  ctc_greedy<std::int16_t>(*static_cast<const payload::CtcGreedyInt16Args*>(args), bases);
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kCtcGreedyInt16> kCtcGreedyInt16 =
    Kernel(operators::kCtcGreedyInt16, run_ctc_greedy_int16);

}  // namespace cmsis_nn_delegate::portable
