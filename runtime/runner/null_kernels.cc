#include "runtime/runner/null_kernels.h"

namespace cmsis_nn_delegate {
namespace runner {
namespace {

executorch::runtime::Error run_nothing(const void* /*args*/, std::uint8_t* const* /*bases*/) {
  return executorch::runtime::Error::Ok;
}

// In place as the sum of other tables is.
constexpr Kernel nothing = Kernel(run_nothing).in_place();

}  // namespace

static_assert(payload::kOpcodeCount == 12, "one entry per opcode");
const KernelTable kNullKernels = {
    payload::kKernelRevision,
    kAcceptedIsas,
    "null",
    {nullptr, nothing, nothing, nothing, nothing, nothing, nothing, nothing, nothing, nothing,
     nothing, nothing},
};

}  // namespace runner
}  // namespace cmsis_nn_delegate
