// Runs a payload with a state on the device: five executions, a reset, and the same five again.
#include <cstring>

#include "platforms/bsp/bsp.h"
#include "runtime/kernels/portable/portable.h"
#include "runtime/standalone/model.h"
#include "tests/extension/data.h"
#include "tests/extension/running_peak.h"

namespace cmsis_nn_delegate {
namespace {

using executorch::runtime::Error;

// Portable kernels, except for this operator's.
constexpr KernelTable kKernels = {portable::kProvider, {extension::kRunningPeak}};

constexpr const unsigned char* payload_of(payload::Isa isa) {
  return isa == payload::Isa::kMve   ? kMvePayload
         : isa == payload::Isa::kDsp ? kDspPayload
                                     : kScalarPayload;
}

constexpr unsigned kOutputCount = 3;
alignas(16) std::uint8_t arena[256];
alignas(16) std::uint8_t state[payload::kStateOffset + 2 * 32];
StandaloneModel<1 + kOutputCount> model;

/// Returns whether all executions give the expected outputs.
bool runs() {
  std::int8_t outputs[kOutputCount][kCount];
  for (unsigned i = 0; i < kOutputCount; ++i) {
    static_cast<void>(model.set_data(1 + i, outputs[i]));
  }
  const unsigned char* expected = kOutputs;
  for (unsigned execution = 0; execution < kExecutions; ++execution) {
    static_cast<void>(model.set_data(0, const_cast<unsigned char*>(kInputs + execution * kCount)));
    if (model.run() != Error::Ok) {
      return false;
    }
    for (const auto& output : outputs) {
      if (std::memcmp(output, expected, kCount) != 0) {
        return false;
      }
      expected += kCount;
    }
  }
  return true;
}

bool passes() {
  const CmsisNnBackend backend(kKernels);
  const unsigned char* payload = payload_of(kCompiledIsa);
  std::memset(state, 0xFF, sizeof(state));  // init() must zero it
  const auto bytes = reinterpret_cast<const payload::Header*>(payload)->payload_bytes;
  return model.load(backend, payload, bytes, arena, sizeof(arena), state, sizeof(state)) ==
             Error::Ok &&
         runs() && !runs() && model.reset() == Error::Ok && runs();
}

}  // namespace
}  // namespace cmsis_nn_delegate

int main() {
  const bool passed = cmsis_nn_delegate::passes();
  const char* text = passed ? "PASS\n" : "FAIL\n";
  bsp_write(text, std::strlen(text));
  return passed ? 0 : 1;
}
