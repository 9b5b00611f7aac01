// Draws a period of the sine that the network computes, and compares it with the C library's.
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "platforms/bsp/bsp.h"
#include "runtime/backend/cmsis_nn_backend.h"
#include "runtime/standalone/model.h"
#include "sine.h"
#include "sine.kernels.h"

namespace {

using executorch::runtime::Error;

constexpr int kPoints = 20;
constexpr float kStep = 2.0f * 3.14159265f / (kPoints - 1);
constexpr float kTolerance = 0.1f;
constexpr int kColumns = 41;

alignas(SINE_ALIGNMENT) std::uint8_t arena[SINE_ARENA_BYTES];
cmsis_nn_delegate::StandaloneModel<SINE_INPUT_COUNT + SINE_OUTPUT_COUNT> sine;

template <std::size_t kSize>
void print(const char (&text)[kSize]) {
  bsp_write(text, kSize - 1);
}

/// Prints a line with a star at `value`, from -1 to 1.
void draw(float value) {
  char line[kColumns + 2];
  const int star = static_cast<int>((value + 1.0f) * (kColumns - 1) / 2.0f + 0.5f);
  for (int i = 0; i < kColumns; ++i) {
    line[i] = i == star ? '*' : i == kColumns / 2 ? '|' : ' ';
  }
  line[kColumns] = '\n';
  bsp_write(line, kColumns + 1);
}

}  // namespace

int main() {
  const cmsis_nn_delegate::CmsisNnBackend backend(cmsis_nn_delegate::sine_kernels);
  if (sine.load(backend, sine_payload, sizeof(sine_payload), arena, sizeof(arena)) != Error::Ok) {
    print("FAIL: the model cannot be loaded\n");
    return 1;
  }
  float worst = 0.0f;
  for (int i = 0; i < kPoints; ++i) {
    const float angle = static_cast<float>(i) * kStep;
    *static_cast<float*>(sine.data(0)) = angle;
    if (sine.run() != Error::Ok) {
      print("FAIL: the model cannot be run\n");
      return 2;
    }
    const float value = *static_cast<const float*>(sine.data(SINE_INPUT_COUNT));
    draw(value);
    const float error = std::fabs(value - std::sin(angle));
    worst = error > worst ? error : worst;
  }
  if (worst > kTolerance) {
    print("FAIL: more than 0.1 from the sine\n");
    return 3;
  }
  print("PASS: within 0.1 of the sine\n");
  return 0;
}
