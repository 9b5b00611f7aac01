#include <cstring>

#include "tests/extension/words/words.h"

namespace cmsis_nn_delegate::words {
namespace {

using executorch::runtime::Error;

std::int32_t volume(const payload::Dims& dims) { return dims.n * dims.h * dims.w * dims.c; }

std::uint32_t greater(std::uint32_t a, std::uint32_t b) {
#if defined(__ARM_FEATURE_DSP) && __ARM_FEATURE_DSP
  std::uint32_t result;
  asm("ssub8 %0, %1, %2\n\tsel %0, %1, %2" : "=&r"(result) : "r"(a), "r"(b) : "cc");
  return result;
#else
  std::uint32_t result = 0;
  for (unsigned shift = 0; shift < 32; shift += 8) {
    const auto x = static_cast<std::int8_t>(a >> shift);
    const auto y = static_cast<std::int8_t>(b >> shift);
    result |= std::uint32_t{static_cast<std::uint8_t>(x > y ? x : y)} << shift;
  }
  return result;
#endif
}

/// What the compiler's provider takes; payloads of others are refused.
bool accepts(const void* args) {
  const auto& a = *static_cast<const payload::MaximumArgs*>(args);
  return std::memcmp(&a.input1_dims, &a.output_dims, sizeof(a.output_dims)) == 0 &&
         std::memcmp(&a.input2_dims, &a.output_dims, sizeof(a.output_dims)) == 0 &&
         volume(a.output_dims) % 4 == 0;
}

}  // namespace

Error run_maximum(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::MaximumArgs*>(args);
  const auto* input1 = bases.resolve<const std::int8_t>(a.input1);
  const auto* input2 = bases.resolve<const std::int8_t>(a.input2);
  auto* output = bases.resolve<std::int8_t>(a.output);
  for (std::int32_t i = 0; i < volume(a.output_dims); i += 4) {
    std::uint32_t words[2];
    std::memcpy(&words[0], input1 + i, 4);
    std::memcpy(&words[1], input2 + i, 4);
    const std::uint32_t result = greater(words[0], words[1]);
    std::memcpy(output + i, &result, 4);
  }
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kMaximum> kMaximum =
    Kernel(operators::kMaximum, run_maximum).in_place().limited_to(accepts).only_of(3u);

}  // namespace cmsis_nn_delegate::words
