// Runs one model twice: in one memory, and in three with a copy of its weights. Compares every output byte.
#include <cstddef>
#include <cstdint>

#include "examples/firmware/digits.h"
#include "examples/firmware/digits.kernels.h"
#include "examples/firmware/images.h"
#include "examples/several_memories/spread.h"
#include "examples/several_memories/spread.kernels.h"
#include "platforms/bsp/bsp.h"
#include "runtime/backend/cmsis_nn_backend.h"
#include "runtime/standalone/model.h"

namespace {

using cmsis_nn_delegate::CmsisNnBackend;
using cmsis_nn_delegate::Config;
using cmsis_nn_delegate::MemoryRegion;
using cmsis_nn_delegate::StandaloneModel;
using executorch::runtime::Error;

constexpr std::size_t kTensors = DIGITS_INPUT_COUNT + DIGITS_OUTPUT_COUNT;

alignas(DIGITS_ALIGNMENT) std::uint8_t arena[DIGITS_ARENA_BYTES];
StandaloneModel<kTensors> model;

// The board of cortex_m55 has a memory beside its RAM, which images of other cores only stand in for.
#ifdef BOARD_HAS_SRAM
#define IN_SRAM __attribute__((section(".memory.SRAM")))
#else
#define IN_SRAM
#endif

alignas(SPREAD_ALIGNMENT) IN_SRAM std::uint8_t sram[SPREAD_ARENA_BYTES];
alignas(SPREAD_ALIGNMENT) std::uint8_t tcm[SPREAD_REGION1_BYTES];
alignas(SPREAD_ALIGNMENT) std::uint8_t fast[SPREAD_REGION2_BYTES];
alignas(SPREAD_ALIGNMENT) std::uint8_t kept[SPREAD_STATE_BYTES];
constexpr MemoryRegion kRegions[] = {{tcm, sizeof(tcm)}, {fast, sizeof(fast)}};
static_assert(SPREAD_REGION_COUNT == 2, "one region for each memory but the last");
static_assert(SPREAD_STATE_BYTES > 16, "some weights are copied");
static_assert(sizeof(sram) < sizeof(arena), "less is left in the slowest memory");
StandaloneModel<kTensors> spread;

template <std::size_t kSize>
void print(const char (&text)[kSize]) {
  bsp_write(text, kSize - 1);
}

/// Runs `digits` on an image and returns its outputs, or nullptr.
const std::int8_t* run(StandaloneModel<kTensors>& digits,
                       const std::uint8_t (&image)[DIGITS_INPUT0_BYTES]) {
  auto* const input = static_cast<std::int8_t*>(digits.data(0));
  for (std::size_t i = 0; i < sizeof(image); ++i) {
    input[i] = static_cast<std::int8_t>(image[i] * 8 - 128);
  }
  return digits.run() == Error::Ok ? static_cast<const std::int8_t*>(digits.data(1)) : nullptr;
}

}  // namespace

int main() {
  const CmsisNnBackend plain(cmsis_nn_delegate::digits_kernels);
  Config config;
  config.regions = kRegions;
  config.region_count = SPREAD_REGION_COUNT;
  const CmsisNnBackend backend(cmsis_nn_delegate::spread_kernels, config);
  if (model.load(plain, digits_payload, sizeof(digits_payload), arena, sizeof(arena)) !=
          Error::Ok ||
      spread.load(backend, spread_payload, sizeof(spread_payload), sram, sizeof(sram), kept,
                  sizeof(kept)) != Error::Ok) {
    print("FAIL: a model cannot be loaded\n");
    return 1;
  }
  int different = 0;  // outputs that are not those of the image before
  std::int8_t last = 0;
  for (const auto& image : kImages) {
    const std::int8_t* expected = run(model, image);
    const std::int8_t* found = run(spread, image);
    if (expected == nullptr || found == nullptr) {
      print("FAIL: a model cannot run\n");
      return 1;
    }
    for (std::size_t i = 0; i < DIGITS_OUTPUT0_BYTES; ++i) {
      if (expected[i] != found[i]) {
        print("FAIL: an output byte differs\n");
        return 1;
      }
    }
    different += expected[0] != last ? 1 : 0;
    last = expected[0];
  }
  if (different < 2) {
    print("FAIL: the outputs do not depend on the inputs\n");
    return 1;
  }
  print("PASS: the same bytes in one memory and in three\n");
  return 0;
}
