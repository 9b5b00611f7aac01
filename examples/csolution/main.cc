// Runs the model `net` once on zeros; a debugger finds the output in `scores`.
#include <algorithm>
#include <cstdint>

#include "net.h"
#include "net.kernels.h"
#include "runtime/backend/cmsis_nn_backend.h"
#include "runtime/standalone/model.h"

namespace {

using executorch::runtime::Error;

alignas(NET_ALIGNMENT) std::uint8_t arena[NET_ARENA_BYTES];
cmsis_nn_delegate::StandaloneModel<NET_INPUT_COUNT + NET_OUTPUT_COUNT> net;

}  // namespace

std::int8_t scores[NET_OUTPUT0_BYTES];

int main() {
  const cmsis_nn_delegate::CmsisNnBackend backend(cmsis_nn_delegate::net_kernels);
  if (net.load(backend, net_payload, sizeof(net_payload), arena, sizeof(arena)) != Error::Ok) {
    return 1;
  }
  std::fill_n(static_cast<std::int8_t*>(net.data(0)), NET_INPUT0_BYTES, 0);
  if (net.run() != Error::Ok) {
    return 2;
  }
  std::copy_n(static_cast<const std::int8_t*>(net.data(NET_INPUT_COUNT)), sizeof(scores), scores);
  return 0;
}
