// Models as C++ calls, with what they must compute; write_cases.py writes the definitions.
#pragma once

#include <cstddef>
#include <cstdint>

#include <executorch/runtime/core/error.h>

namespace cmsis_nn_delegate::forms {

struct Bytes {
  const unsigned char* data;
  std::size_t size;
};

struct Case {
  /// Its operators.
  const char* text;
  /// Runs it on its inputs. `arena` is arena_bytes, 16-byte aligned; `outputs` are as large as expected.
  executorch::runtime::Error (*run)(std::uint8_t* arena, std::uint8_t* const* outputs);
  std::size_t arena_bytes;
  /// The outputs of the integer reference.
  const Bytes* expected;
  std::size_t output_count;
};

struct Cases {
  const Case* first;
  std::size_t count;
};
extern const Cases kCases;

/// Returned by differing_bytes() for a case that did not run.
inline constexpr std::size_t kNotRun = SIZE_MAX;

/// Runs `test` in the `size` bytes at `memory`, 16-byte aligned, which it fills with a pattern before. Returns how many
/// bytes of its outputs differ from the expected ones, or kNotRun if a kernel failed or the memory is too small.
std::size_t differing_bytes(const Case& test, std::uint8_t* memory, std::size_t size);

}  // namespace cmsis_nn_delegate::forms
