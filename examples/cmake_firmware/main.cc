// Runs the model `net` once on a pattern of bytes and prints its first output in hex digits.
//
// Byte i of the input is 37 * i mod 256, so that a host can compute the same.
#include <cstddef>
#include <cstdint>

#include "net.h"
#include "net.kernels.h"
#include "platforms/bsp/bsp.h"
#include "runtime/backend/cmsis_nn_backend.h"
#include "runtime/standalone/model.h"

namespace {

using executorch::runtime::Error;

alignas(NET_ALIGNMENT) std::uint8_t arena[NET_ARENA_BYTES];
cmsis_nn_delegate::StandaloneModel<NET_INPUT_COUNT + NET_OUTPUT_COUNT> net;

void fill(std::uint8_t* data, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    data[i] = static_cast<std::uint8_t>(37 * i);
  }
}

void print_hex(const std::uint8_t* data, std::size_t size) {
  constexpr char kDigits[] = "0123456789abcdef";
  for (std::size_t i = 0; i < size; ++i) {
    const char byte[] = {kDigits[data[i] >> 4], kDigits[data[i] & 15]};
    bsp_write(byte, sizeof(byte));
  }
  bsp_write("\n", 1);
}

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
