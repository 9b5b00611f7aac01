// Classifies handwritten digits: a firmware with one model, without ExecuTorch's runtime.
//
// The model is a constant in flash, its arena is a static buffer, and only the kernels that it
// needs are linked: digits.kernels.h lists them.
#include <cstddef>
#include <cstdint>

#include "examples/firmware/digits.h"
#include "examples/firmware/digits.kernels.h"
#include "examples/firmware/images.h"
#include "platforms/bsp/bsp.h"
#include "runtime/backend/cmsis_nn_backend.h"
#include "runtime/standalone/model.h"

namespace {

using cmsis_nn_delegate::CmsisNnBackend;
using cmsis_nn_delegate::StandaloneModel;
using executorch::runtime::Error;

alignas(DIGITS_ALIGNMENT) std::uint8_t arena[DIGITS_ARENA_BYTES];
StandaloneModel<DIGITS_INPUT_COUNT + DIGITS_OUTPUT_COUNT> model;

/// Writes a text of a known size: strlen() would be another 220 bytes of the image.
template <std::size_t kSize>
void print(const char (&text)[kSize]) {
  bsp_write(text, kSize - 1);
}

/// Converts a pixel from 0 to 16 to int8, with the scale that the model was calibrated with.
std::int8_t quantize(std::uint8_t pixel) {
  const float steps = static_cast<float>(pixel) / 16.0f / DIGITS_INPUT0_SCALE;
  const auto q = static_cast<std::int32_t>(steps + 0.5f) + DIGITS_INPUT0_ZERO_POINT;
  return static_cast<std::int8_t>(q > 127 ? 127 : q);
}

/// Returns the digit that the model recognizes in `image`, or -1 if it cannot run.
int classify(const std::uint8_t (&image)[DIGITS_INPUT0_BYTES]) {
  auto* input = static_cast<std::int8_t*>(model.data(0));
  for (std::size_t i = 0; i < DIGITS_INPUT0_BYTES; ++i) {
    input[i] = quantize(image[i]);
  }
  if (model.run() != Error::Ok) {
    return -1;
  }
  const auto* scores = static_cast<const std::int8_t*>(model.data(1));
  int best = 0;
  for (std::size_t i = 1; i < DIGITS_OUTPUT0_BYTES; ++i) {
    best = scores[i] > scores[best] ? static_cast<int>(i) : best;
  }
  return best;
}

}  // namespace

int main() {
  const CmsisNnBackend backend(cmsis_nn_delegate::digits_kernels);
  const Error error =
      model.load(backend, digits_payload, sizeof(digits_payload), arena, sizeof(arena));
  if (error != Error::Ok) {
    print("the model cannot be loaded\n");
    return 1;
  }
  int right = 0;
  for (int i = 0; i < kImageCount; ++i) {
    const int digit = classify(kImages[i]);
    right += digit == kLabels[i] ? 1 : 0;
    const char line[] = {static_cast<char>('0' + kLabels[i]),
                         ' ',
                         '-',
                         '>',
                         ' ',
                         static_cast<char>(digit < 0 ? '?' : '0' + digit),
                         '\n',
                         '\0'};
    print(line);
  }
  if (right * 10 < kImageCount * 9) {
    print("FAIL\n");
    return 1;
  }
  print("PASS: at least 9 of 10 are right\n");
  return 0;
}
