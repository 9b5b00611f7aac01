#include "runtime/kernels/portable/portable.h"
#include "runtime/kernels/portable/reduce_extremum.h"

namespace cmsis_nn_delegate {
namespace portable {
namespace {

Error run_reduce_max(const void* args, const Bases& bases) {
  reduce_extremum(*static_cast<const payload::ReduceMaxArgs*>(args), bases,
                  [](std::int8_t a, std::int8_t b) { return a > b; });
  return Error::Ok;
}

}  // namespace

constexpr KernelOf<payload::Opcode::kReduceMax> kReduceMax =
    Kernel(operators::kReduceMax, run_reduce_max);

Error reduce_max(const payload::ReduceMaxArgs& args, const Bases& bases) {
  return kReduceMax.run(&args, bases);
}

}  // namespace portable
}  // namespace cmsis_nn_delegate
