#include "runtime/kernels/ctc_greedy/ctc_greedy.h"

#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_ctc_greedy(const void* args, const Bases& bases) {
  ctc_greedy<std::int8_t>(*static_cast<const payload::CtcGreedyArgs*>(args), bases);
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kCtcGreedy> kCtcGreedy =
    Kernel(operators::kCtcGreedy, run_ctc_greedy);

}  // namespace cmsis_nn_delegate::portable
