// Classifies handwritten digits with the model of examples/firmware as C++ calls: the image has no payload and nothing
// that reads one, and calls no function of ExecuTorch.
#include <cstddef>
#include <cstdint>

#include "examples/firmware/digits.model.h"
#include "examples/firmware/images.h"
#include "platforms/bsp/bsp.h"

namespace {

using executorch::runtime::Error;

alignas(DIGITS_ALIGNMENT) std::uint8_t arena[DIGITS_ARENA_BYTES];

template <std::size_t kSize>
void print(const char (&text)[kSize]) {
  bsp_write(text, kSize - 1);
}

/// Returns the digit that the model recognizes in `image`, or -1 if it cannot run.
int classify(const std::uint8_t (&image)[DIGITS_INPUT0_BYTES]) {
  std::int8_t* input = cmsis_nn_delegate::digits_input0(arena);
  for (std::size_t i = 0; i < DIGITS_INPUT0_BYTES; ++i) {
    const float steps = static_cast<float>(image[i]) / 16.0f / DIGITS_INPUT0_SCALE;
    const auto q = static_cast<std::int32_t>(steps + 0.5f) + DIGITS_INPUT0_ZERO_POINT;
    input[i] = static_cast<std::int8_t>(q > 127 ? 127 : q);
  }
  if (cmsis_nn_delegate::digits_run(arena) != Error::Ok) {
    return -1;
  }
  const std::int8_t* scores = cmsis_nn_delegate::digits_output0(arena);
  int best = 0;
  for (std::size_t i = 1; i < DIGITS_OUTPUT0_BYTES; ++i) {
    best = scores[i] > scores[best] ? static_cast<int>(i) : best;
  }
  return best;
}

}  // namespace

int main() {
  int right = 0;
  for (int i = 0; i < kImageCount; ++i) {
    right += classify(kImages[i]) == kLabels[i] ? 1 : 0;
  }
  if (right * 10 < kImageCount * 9) {
    print("FAIL\n");
    return 1;
  }
  print("PASS: at least 9 of 10 are right\n");
  return 0;
}
