// Classifies handwritten digits with two models: a small one, and a large one for what the small one is unsure of.
//
// The models never run at the same time, so they share an arena as large as the larger one needs,
// and the image links the kernels of both, each once.
#include <cstddef>
#include <cstdint>

#include "examples/firmware/digits.h"
#include "examples/firmware/digits.kernels.h"
#include "examples/firmware/images.h"
#include "examples/two_models/linear.h"
#include "examples/two_models/linear.kernels.h"
#include "platforms/bsp/bsp.h"
#include "runtime/backend/cmsis_nn_backend.h"
#include "runtime/standalone/model.h"

namespace {

using cmsis_nn_delegate::CmsisNnBackend;
using cmsis_nn_delegate::KernelTable;
using cmsis_nn_delegate::StandaloneModel;
using cmsis_nn_delegate::StandaloneModelBase;
using executorch::runtime::Error;

constexpr KernelTable kKernels =
    cmsis_nn_delegate::digits_kernels_to_join.joined(cmsis_nn_delegate::linear_kernels_to_join);

constexpr std::size_t kArenaBytes =
    DIGITS_ARENA_BYTES > LINEAR_ARENA_BYTES ? DIGITS_ARENA_BYTES : LINEAR_ARENA_BYTES;
alignas(DIGITS_ALIGNMENT) std::uint8_t arena[kArenaBytes];

StandaloneModel<LINEAR_INPUT_COUNT + LINEAR_OUTPUT_COUNT> linear;
StandaloneModel<DIGITS_INPUT_COUNT + DIGITS_OUTPUT_COUNT> digits;

constexpr int kDigits = 10;
static_assert(LINEAR_OUTPUT0_BYTES == kDigits && DIGITS_OUTPUT0_BYTES == kDigits);

/// The best digit, and by how much its logit is above the next one's; -1 if the model failed.
struct Answer {
  int digit;
  float margin;
};

Answer classify(StandaloneModelBase& model, const std::uint8_t (&image)[64], float input_scale,
                int zero_point, float output_scale) {
  auto* input = static_cast<std::int8_t*>(model.data(0));
  for (std::size_t i = 0; i < sizeof(image); ++i) {
    const float steps = static_cast<float>(image[i]) / 16.0f / input_scale;
    const auto q = static_cast<std::int32_t>(steps + 0.5f) + zero_point;
    input[i] = static_cast<std::int8_t>(q > 127 ? 127 : q);
  }
  if (model.run() != Error::Ok) {
    return {-1, 0.0f};
  }
  const auto* scores = static_cast<const std::int8_t*>(model.data(1));
  int best = 0;
  int next = -128;
  for (int i = 1; i < kDigits; ++i) {
    const bool better = scores[i] > scores[best];
    const int other = better ? scores[best] : scores[i];
    next = other > next ? other : next;
    best = better ? i : best;
  }
  return {best, static_cast<float>(scores[best] - next) * output_scale};
}

template <std::size_t kSize>
void print(const char (&text)[kSize]) {
  bsp_write(text, kSize - 1);
}

void print_count(int count) {
  const char text[] = {static_cast<char>('0' + count / 10), static_cast<char>('0' + count % 10)};
  bsp_write(text, sizeof(text));
}

}  // namespace

int main() {
  const CmsisNnBackend backend(kKernels);
  if (linear.load(backend, linear_payload, sizeof(linear_payload), arena, sizeof(arena)) !=
          Error::Ok ||
      digits.load(backend, digits_payload, sizeof(digits_payload), arena, sizeof(arena)) !=
          Error::Ok) {
    print("the models cannot be loaded\n");
    return 1;
  }
  constexpr float kSure = 3.0f;  // logits apart
  int by_linear = 0;
  int right = 0;
  for (int i = 0; i < kImageCount; ++i) {
    Answer answer = classify(linear, kImages[i], LINEAR_INPUT0_SCALE, LINEAR_INPUT0_ZERO_POINT,
                             LINEAR_OUTPUT0_SCALE);
    if (answer.margin >= kSure) {
      ++by_linear;
    } else {
      answer = classify(digits, kImages[i], DIGITS_INPUT0_SCALE, DIGITS_INPUT0_ZERO_POINT,
                        DIGITS_OUTPUT0_SCALE);
    }
    right += answer.digit == kLabels[i] ? 1 : 0;
  }
  print_count(right);
  print(" of ");
  print_count(kImageCount);
  print(" are right; the small model decided ");
  print_count(by_linear);
  print("\n");
  if (by_linear == 0 || by_linear == kImageCount || right * 10 < kImageCount * 9) {
    print("FAIL\n");
    return 1;
  }
  print("PASS\n");
  return 0;
}
