// Runs one network once, with inputs of 0: an image with the kernels that the network calls and no others.
#include <cstdint>

#include "network.h"
#include "network.kernels.h"
#include "runtime/backend/cmsis_nn_backend.h"
#include "runtime/standalone/model.h"

namespace {

alignas(NETWORK_ALIGNMENT) std::uint8_t arena[NETWORK_ARENA_BYTES];
cmsis_nn_delegate::StandaloneModel<NETWORK_INPUT_COUNT + NETWORK_OUTPUT_COUNT> model;

}  // namespace

int main() {
  using executorch::runtime::Error;
  const cmsis_nn_delegate::CmsisNnBackend backend(cmsis_nn_delegate::network_kernels);
  const Error loaded =
      model.load(backend, network_payload, sizeof(network_payload), arena, sizeof(arena));
  return loaded == Error::Ok && model.run() == Error::Ok ? 0 : 1;
}
