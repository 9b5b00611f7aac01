// The same as main.cc with the model as C++ calls: there is no payload, and nothing that reads one.
#include <cstdint>

#include "net.model.h"
#include "pattern.h"

namespace {

alignas(NET_ALIGNMENT) std::uint8_t arena[NET_ARENA_BYTES];

}  // namespace

int main() {
  using namespace cmsis_nn_delegate;
  fill(reinterpret_cast<std::uint8_t*>(net_input0(arena)), NET_INPUT0_BYTES);
  if (net_run(arena) != executorch::runtime::Error::Ok) {
    return 1;
  }
  print_hex(reinterpret_cast<const std::uint8_t*>(net_output0(arena)), NET_OUTPUT0_BYTES);
  return 0;
}
