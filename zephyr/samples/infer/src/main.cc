// Runs the model `net` once on a pattern of bytes and prints its output.
#include <zephyr/devicetree.h>
#include <zephyr/linker/devicetree_regions.h>
#include <zephyr/sys/printk.h>
#include <zephyr/toolchain.h>

#include <cstddef>
#include <cstdint>

#include "net.h"
#include "net.kernels.h"
#include "runtime/backend/cmsis_nn_backend.h"
#include "runtime/standalone/model.h"

namespace {

using executorch::runtime::Error;

// The overlays in boards/ choose a memory for the arena: tightly coupled memory makes kernels faster than SRAM with
// wait states. The linker does not initialize such memory, and the arena does not need that.
#if DT_HAS_CHOSEN(cmsis_nn_delegate_arena)
#define ARENA_MEMORY \
  Z_GENERIC_SECTION(LINKER_DT_NODE_REGION_NAME(DT_CHOSEN(cmsis_nn_delegate_arena)))
#else
#define ARENA_MEMORY
#endif
alignas(NET_ALIGNMENT) std::uint8_t arena[NET_ARENA_BYTES] ARENA_MEMORY;

cmsis_nn_delegate::StandaloneModel<NET_INPUT_COUNT + NET_OUTPUT_COUNT> net;

}  // namespace

int main() {
  const cmsis_nn_delegate::CmsisNnBackend backend(cmsis_nn_delegate::net_kernels);
  Error error = net.load(backend, net_payload, sizeof(net_payload), arena, sizeof(arena));
  if (error == Error::Ok) {
    auto* image = static_cast<std::uint8_t*>(net.data(0));
    for (std::size_t i = 0; i < NET_INPUT0_BYTES; ++i) {
      image[i] = static_cast<std::uint8_t>(37 * i);
    }
    error = net.run();
  }
  if (error != Error::Ok) {
    printk("error 0x%x\n", static_cast<unsigned>(error));
    return 0;
  }
  printk("scores ");
  const auto* scores = static_cast<const std::uint8_t*>(net.data(NET_INPUT_COUNT));
  for (std::size_t i = 0; i < NET_OUTPUT0_BYTES; ++i) {
    printk("%02x", scores[i]);
  }
  printk("\n");
  return 0;
}
