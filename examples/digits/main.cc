// Classifies all held-out images with the network that was trained with quantization. README.md explains the example.
#include <cstddef>
#include <cstdint>

#include "examples/digits/images.h"
#include "examples/digits/quantized.h"
#include "examples/digits/quantized.kernels.h"
#include "platforms/bsp/bsp.h"
#include "runtime/backend/cmsis_nn_backend.h"
#include "runtime/standalone/model.h"

namespace {

using cmsis_nn_delegate::CmsisNnBackend;
using cmsis_nn_delegate::StandaloneModel;
using executorch::runtime::Error;

alignas(QUANTIZED_ALIGNMENT) std::uint8_t arena[QUANTIZED_ARENA_BYTES];
StandaloneModel<QUANTIZED_INPUT_COUNT + QUANTIZED_OUTPUT_COUNT> model;

template <std::size_t kSize>
void print(const char (&text)[kSize]) {
  bsp_write(text, kSize - 1);
}

/// Writes a number from 0 to 999.
void print(int number) {
  const char text[] = {static_cast<char>('0' + number / 100),
                       static_cast<char>('0' + number / 10 % 10),
                       static_cast<char>('0' + number % 10), '\0'};
  print(text);
}

/// Converts a pixel from 0 to 16 to int8, with the scale that training found.
std::int8_t quantize(std::uint8_t pixel) {
  const float steps = static_cast<float>(pixel) / 16.0f / QUANTIZED_INPUT0_SCALE;
  const auto q = static_cast<std::int32_t>(steps + 0.5f) + QUANTIZED_INPUT0_ZERO_POINT;
  return static_cast<std::int8_t>(q > 127 ? 127 : q);
}

/// Returns the digit that the model recognizes in `image`, or -1 if it cannot run.
int classify(const std::uint8_t (&image)[QUANTIZED_INPUT0_BYTES]) {
  auto* input = static_cast<std::int8_t*>(model.data(0));
  for (std::size_t i = 0; i < QUANTIZED_INPUT0_BYTES; ++i) {
    input[i] = quantize(image[i]);
  }
  if (model.run() != Error::Ok) {
    return -1;
  }
  const auto* scores = static_cast<const std::int8_t*>(model.data(1));
  int best = 0;
  for (std::size_t i = 1; i < QUANTIZED_OUTPUT0_BYTES; ++i) {
    best = scores[i] > scores[best] ? static_cast<int>(i) : best;
  }
  return best;
}

}  // namespace

int main() {
  const CmsisNnBackend backend(cmsis_nn_delegate::quantized_kernels);
  const Error error =
      model.load(backend, quantized_payload, sizeof(quantized_payload), arena, sizeof(arena));
  if (error != Error::Ok) {
    print("the model cannot be loaded\n");
    return 1;
  }
  int right = 0;
  for (int i = 0; i < kImageCount; ++i) {
    right += classify(kImages[i]) == kLabels[i] ? 1 : 0;
  }
  print(right);
  print(" of ");
  print(kImageCount);
  print(" images are right; in PyTorch ");
  print(kRightInPyTorch);
  print("\n");
  // A step of an output may decide between two digits that are nearly as likely.
  if (right + 1 < kRightInPyTorch) {
    print("FAIL\n");
    return 1;
  }
  print("PASS\n");
  return 0;
}
