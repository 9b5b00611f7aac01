#include "runtime/kernels/cmsis_nn/cmsis_nn.h"
#include "runtime/kernels/cmsis_nn/convert.h"
#include "runtime/kernels/cmsis_nn/rules.h"

namespace cmsis_nn_delegate::cmsis_nn {
namespace {

bool accepts(const void* args) {
  return rules::softmax_fits(static_cast<const payload::SoftmaxArgs*>(args)->row_size);
}

}  // namespace

Error run_softmax(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::SoftmaxArgs*>(args);
  arm_softmax_s8(bases.resolve<const std::int8_t>(a.input), a.rows, a.row_size, a.multiplier,
                 a.shift, a.diff_min, bases.resolve<std::int8_t>(a.output));
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kSoftmax> kSoftmax =
    cmsis_nn_kernel(operators::kSoftmax, run_softmax).limited_to(accepts);

}  // namespace cmsis_nn_delegate::cmsis_nn
