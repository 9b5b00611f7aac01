#include "runtime/payload/format.h"
#include "tests/forms/cases.h"

namespace cmsis_nn_delegate::forms {
namespace {

constexpr std::size_t padded(std::size_t bytes) {
  return (bytes + payload::kAlignment - 1) / payload::kAlignment * payload::kAlignment;
}

}  // namespace

std::size_t differing_bytes(const Case& test, std::uint8_t* memory, std::size_t size) {
  std::uint8_t* outputs[payload::kMaxIo];
  std::size_t used = padded(test.arena_bytes);
  for (std::size_t i = 0; i < test.output_count; ++i) {
    outputs[i] = memory + used;
    used += padded(test.expected[i].size);
  }
  if (used > size) {
    return kNotRun;
  }
  for (std::size_t i = 0; i < used; ++i) {
    memory[i] = static_cast<std::uint8_t>(37 * i + 90);
  }
  if (test.run(memory, outputs) != executorch::runtime::Error::Ok) {
    return kNotRun;
  }
  std::size_t differing = 0;
  for (std::size_t i = 0; i < test.output_count; ++i) {
    for (std::size_t byte = 0; byte < test.expected[i].size; ++byte) {
      differing += outputs[i][byte] != test.expected[i].data[byte] ? 1 : 0;
    }
  }
  return differing;
}

}  // namespace cmsis_nn_delegate::forms
