#include "tests/extension/words/run_net.h"

#include <cstdint>
#include <cstring>

#include "runtime/standalone/model.h"
#include "tests/extension/words/net.h"
#include "tests/extension/words/net.kernels.h"
#include "tests/extension/words/net.model.h"
#include "tests/extension/words/net_data.h"

namespace cmsis_nn_delegate::words {
namespace {

using executorch::runtime::Error;

alignas(NET_ALIGNMENT) std::uint8_t arena[NET_ARENA_BYTES];
StandaloneModel<NET_INPUT_COUNT + NET_OUTPUT_COUNT> model;

template <typename Run>
bool gives_outputs(void* input, const void* output, Run run) {
  for (unsigned i = 0; i < kRuns; ++i) {
    std::memcpy(input, kInputs + i * NET_INPUT0_BYTES, NET_INPUT0_BYTES);
    if (run() != Error::Ok ||
        std::memcmp(output, kOutputs + i * NET_OUTPUT0_BYTES, NET_OUTPUT0_BYTES) != 0) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool payload_runs() {
  const CmsisNnBackend backend(net_kernels);
  return model.load(backend, net_payload, sizeof(net_payload), arena, sizeof(arena)) == Error::Ok &&
         gives_outputs(model.data(0), model.data(1), [] { return model.run(); });
}

bool calls_run() {
  return gives_outputs(net_input0(arena), net_output0(arena), [] { return net_run(arena); });
}

}  // namespace cmsis_nn_delegate::words
