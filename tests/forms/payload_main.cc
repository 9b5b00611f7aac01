// Runs `net` from its payload, with the kernels that it calls.
#include "net.h"
#include "net.kernels.h"
#include "runtime/backend/cmsis_nn_backend.h"
#include "runtime/standalone/model.h"
#include "tests/forms/patterns.h"

namespace {

using executorch::runtime::Error;

alignas(NET_ALIGNMENT) std::uint8_t arena[NET_ARENA_BYTES];
cmsis_nn_delegate::StandaloneModel<NET_INPUT_COUNT + NET_OUTPUT_COUNT> net;

}  // namespace

int main() {
  const cmsis_nn_delegate::CmsisNnBackend backend(cmsis_nn_delegate::net_kernels);
  MARK_BEGIN();
  const Error loaded = net.load(backend, net_payload, sizeof(net_payload), arena, sizeof(arena));
  MARK_END();
  if (loaded != Error::Ok) {
    return 1;
  }
  return cmsis_nn_delegate::forms::run_patterns(net.data(0), NET_INPUT0_BYTES, net.data(1),
                                                NET_OUTPUT0_BYTES,
                                                [] { return net.run() == Error::Ok; });
}
