// Runs the digits of examples/firmware as it does, with counted instructions, and prints all scores.
#include <cstddef>
#include <cstdint>

#include "examples/firmware/digits.h"
#include "examples/firmware/digits.kernels.h"
#include "examples/firmware/images.h"
#include "platforms/bsp/bsp.h"
#include "platforms/bsp/mark.h"
#include "runtime/backend/cmsis_nn_backend.h"
#include "runtime/standalone/model.h"

namespace {

using cmsis_nn_delegate::CmsisNnBackend;
using cmsis_nn_delegate::StandaloneModel;
using executorch::runtime::Error;

alignas(DIGITS_ALIGNMENT) std::uint8_t arena[DIGITS_ARENA_BYTES];
StandaloneModel<DIGITS_INPUT_COUNT + DIGITS_OUTPUT_COUNT> model;

/// Writes bytes as two hexadecimal digits each.
void print_bytes(const void* bytes, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    const unsigned byte = static_cast<const std::uint8_t*>(bytes)[i];
    const char text[] = {"0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]};
    bsp_write(text, sizeof(text));
  }
  bsp_write("\n", 1);
}

}  // namespace

int main() {
  const CmsisNnBackend backend(cmsis_nn_delegate::digits_kernels);
  if (model.load(backend, digits_payload, sizeof(digits_payload), arena, sizeof(arena)) !=
      Error::Ok) {
    return 1;
  }
  for (const auto& image : kImages) {
    // Any input does: it is the same on all boards.
    auto* input = static_cast<std::uint8_t*>(model.data(0));
    for (std::size_t i = 0; i < DIGITS_INPUT0_BYTES; ++i) {
      input[i] = static_cast<std::uint8_t>(image[i] * 7);
    }
    MARK_BEGIN();
    const Error error = model.run();
    MARK_END();
    if (error != Error::Ok) {
      return 2;
    }
    print_bytes(model.data(1), DIGITS_OUTPUT0_BYTES);
  }
  return 0;
}
