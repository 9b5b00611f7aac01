#include "runtime/kernels/add/add_linear.h"

#include "runtime/kernels/add/add_linear_members.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {

extern "C" void cmsis_nn_delegate_add_linear(const std::int8_t* a, const std::int8_t* b,
                                             std::int8_t* output, std::int32_t words,
                                             const portable::LinearSum* p);

namespace {

struct AssemblyLinearSums {
  static void add(const std::int8_t* a, const std::int8_t* b, std::int8_t* output,
                  std::int32_t words, const portable::LinearSum& p) {
    cmsis_nn_delegate_add_linear(a, b, output, words, &p);
  }
};

}  // namespace

Error run_add_linear(const void* args, const Bases& bases) {
  return portable::compute_add_linear<DspOrMve<AssemblyLinearSums, portable::PlainLinearSums>>(
      args, bases);
}

constexpr KernelOf<payload::Opcode::kAddLinear> kAddLinear =
    portable::add_linear_kernel(run_add_linear);

}  // namespace cmsis_nn_delegate::tuned
