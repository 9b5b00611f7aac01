#include "tests/extension/running_peak.h"

#include "tests/extension/running_peak_args.h"

namespace cmsis_nn_delegate::extension {

executorch::runtime::Error run_running_peak(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::RunningPeakArgs*>(args);
  const auto* input = bases.resolve<const std::int8_t>(a.input);
  auto* peak = bases.resolve<std::int8_t>(a.peak);
  auto* is_new = bases.resolve<std::int8_t>(a.is_new);
  auto* greatest = bases.resolve<std::int8_t>(a.greatest);
  for (std::int32_t i = 0; i < a.count; ++i) {
    is_new[i] = input[i] > greatest[i] ? 1 : 0;
    greatest[i] = input[i] > greatest[i] ? input[i] : greatest[i];
    peak[i] = greatest[i];
  }
  return executorch::runtime::Error::Ok;
}

constexpr KernelOf<payload::Opcode::kMul> kRunningPeak =
    Kernel(operators::kRunningPeak, run_running_peak);

}  // namespace cmsis_nn_delegate::extension
