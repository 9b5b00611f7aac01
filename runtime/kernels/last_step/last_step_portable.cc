#include <cstring>

#include "runtime/kernels/common/sequence_lengths.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {
namespace {

using Args = payload::LastStepArgs;

}  // namespace

Error run_last_step(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const Args*>(args);
  const auto* input = bases.resolve<const std::int8_t>(a.input);
  auto* output = bases.resolve<std::int8_t>(a.output);
  for (std::int32_t batch = 0; batch < a.batch; ++batch) {
    const std::int32_t length = length_of(a, bases, batch);
    if (length == 0) {
      return Error::InvalidArgument;
    }
    const std::int32_t row =
        a.batch_first != 0 ? batch * a.steps + length - 1 : (length - 1) * a.batch + batch;
    std::memcpy(output + batch * a.width, input + row * a.width, static_cast<std::size_t>(a.width));
  }
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kLastStep> kLastStep =
    Kernel(operators::kLastStep, run_last_step);

}  // namespace cmsis_nn_delegate::portable
