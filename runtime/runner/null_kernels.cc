#include "runtime/runner/null_kernels.h"

namespace cmsis_nn_delegate {
namespace runner {
namespace {

executorch::runtime::Error nothing(const void* /*args*/, std::uint8_t* const* /*bases*/) {
  return executorch::runtime::Error::Ok;
}

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
