#include "runtime/kernels/portable/arg_extremum.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate {
namespace portable {
namespace {

Error run_argmin(const void* args, const Bases& bases) {
  arg_extremum(*static_cast<const payload::ArgminArgs*>(args), bases,
               [](std::int8_t a, std::int8_t b) { return a < b; });
  return Error::Ok;
}

}  // namespace

constexpr KernelOf<payload::Opcode::kArgmin> kArgmin = Kernel(operators::kArgmin, run_argmin);

Error argmin(const payload::ArgminArgs& args, const Bases& bases) {
  return kArgmin.run(&args, bases);
}

}  // namespace portable
}  // namespace cmsis_nn_delegate
