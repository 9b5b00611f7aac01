// Runs `net` as C++ calls.
#include "net.model.h"
#include "tests/forms/patterns.h"

namespace {

using executorch::runtime::Error;

alignas(NET_ALIGNMENT) std::uint8_t arena[NET_ARENA_BYTES];

}  // namespace

int main() {
  using namespace cmsis_nn_delegate;
  return forms::run_patterns(net_input0(arena), NET_INPUT0_BYTES, net_output0(arena),
                             NET_OUTPUT0_BYTES, [] { return net_run(arena) == Error::Ok; });
}
