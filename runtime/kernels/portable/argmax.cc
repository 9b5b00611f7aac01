#include "runtime/kernels/portable/arg_extremum.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate {
namespace portable {
namespace {

Error run_argmax(const void* args, const Bases& bases) {
  arg_extremum(*static_cast<const payload::ArgmaxArgs*>(args), bases,
               [](std::int8_t a, std::int8_t b) { return a > b; });
  return Error::Ok;
}

}  // namespace

constexpr KernelOf<payload::Opcode::kArgmax> kArgmax = Kernel(operators::kArgmax, run_argmax);

Error argmax(const payload::ArgmaxArgs& args, const Bases& bases) {
  return kArgmax.run(&args, bases);
}

}  // namespace portable
}  // namespace cmsis_nn_delegate
