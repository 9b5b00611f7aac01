// Runs the model `net` once on a pattern of bytes and prints its first output in hex digits.
#include <cstddef>
#include <cstdint>

#include "net.h"
#include "net.kernels.h"
#include "pattern.h"
#include "runtime/backend/cmsis_nn_backend.h"
#include "runtime/standalone/model.h"

namespace {

using executorch::runtime::Error;

alignas(NET_ALIGNMENT) std::uint8_t arena[NET_ARENA_BYTES];
cmsis_nn_delegate::StandaloneModel<NET_INPUT_COUNT + NET_OUTPUT_COUNT> net;

}  // namespace

int main() {
  const cmsis_nn_delegate::CmsisNnBackend backend(cmsis_nn_delegate::net_kernels);
  if (net.load(backend, net_payload, sizeof(net_payload), arena, sizeof(arena)) != Error::Ok) {
    return 1;
  }
  fill(static_cast<std::uint8_t*>(net.data(0)), NET_INPUT0_BYTES);
  if (net.run() != Error::Ok) {
    return 2;
  }
  print_hex(static_cast<const std::uint8_t*>(net.data(NET_INPUT_COUNT)), NET_OUTPUT0_BYTES);
  return 0;
}
