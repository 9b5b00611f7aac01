// Listens to a tape, 20 ms at a time, and writes which keys are dialled on it. README.md explains the example.
//
// A line for each 20 ms has the probabilities as hexadecimal digits and, if a key begins, which one:
//
//   8080808080807f80808080808080808080 6
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "examples/dial_tones/debouncer.h"
#include "examples/dial_tones/dial_tones.h"
#include "examples/dial_tones/dial_tones.kernels.h"
#include "examples/dial_tones/tape.h"
#include "platforms/bsp/bsp.h"
#include "platforms/bsp/mark.h"
#include "runtime/backend/cmsis_nn_backend.h"
#include "runtime/standalone/model.h"

namespace {

using cmsis_nn_delegate::CmsisNnBackend;
using cmsis_nn_delegate::StandaloneModel;
using dial_tones::kNothing;
using executorch::runtime::Error;

constexpr std::size_t kHop = DIAL_TONES_INPUT0_BYTES / sizeof(std::int16_t);
/// Inferences whose results mean nothing, because the network has not heard enough yet.
constexpr std::size_t kWarmUp = 5;

alignas(DIAL_TONES_ALIGNMENT) std::uint8_t arena[DIAL_TONES_ARENA_BYTES];
alignas(DIAL_TONES_ALIGNMENT) std::uint8_t state[DIAL_TONES_STATE_BYTES];
StandaloneModel<DIAL_TONES_INPUT_COUNT + DIAL_TONES_OUTPUT_COUNT> model;
dial_tones::Debouncer debouncer;

static_assert(DIAL_TONES_OUTPUT0_BYTES == dial_tones::kKeys + 1,
              "one probability for each key, and one for nothing");

/// Runs the network on the next samples, and returns the key that begins with them, or kNothing.
int listen(const std::int16_t* samples, bool valid) {
  std::memcpy(model.data(0), samples, DIAL_TONES_INPUT0_BYTES);
  if (model.run() != Error::Ok) {
    bsp_exit(2);
  }
  std::int8_t probabilities[DIAL_TONES_OUTPUT0_BYTES];
  std::memcpy(probabilities, model.data(1), sizeof(probabilities));
  return valid ? debouncer.take(probabilities) : kNothing;
}

void print(const void* bytes, std::size_t size, int key) {
  for (std::size_t i = 0; i < size; ++i) {
    const unsigned byte = static_cast<const std::uint8_t*>(bytes)[i];
    const char text[] = {"0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]};
    bsp_write(text, sizeof(text));
  }
  const char end[] = {' ', dial_tones::kNames[key], '\n'};
  bsp_write(key == kNothing ? end + 2 : end, key == kNothing ? 1 : 3);
}

}  // namespace

int main() {
  const CmsisNnBackend backend(cmsis_nn_delegate::dial_tones_kernels);
  if (model.load(backend, dial_tones_payload, sizeof(dial_tones_payload), arena, sizeof(arena),
                 state, sizeof(state)) != Error::Ok) {
    return 1;
  }
  constexpr std::size_t kHops = sizeof(kTape) / DIAL_TONES_INPUT0_BYTES;
  for (std::size_t i = 0; i < kHops; ++i) {
    MARK_BEGIN();
    const int key = listen(kTape + i * kHop, i >= kWarmUp);
    MARK_END();
    print(model.data(1), DIAL_TONES_OUTPUT0_BYTES, key);
  }
  return 0;
}
