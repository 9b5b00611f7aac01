// One benchmark of MLPerf Tiny, of which an image has one: kws01.cc, ic01.cc, vww01.cc, ad01.cc or sww01.cc defines it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/payload/kernel.h"

namespace mlperf_tiny {

/// Bytes of the largest input that is sent, that of vww01.
inline constexpr std::size_t kMaxInputBytes = std::size_t{96} * 96 * 3;

/// How the numbers of an input come over the line, in the order of the network's memory (NHWC).
enum class Sent : std::uint8_t {
  kInt8,     ///< one byte each, two's complement
  kUint8,    ///< one byte each
  kFloat32,  ///< four bytes each, little-endian
  kInt16,    ///< two bytes each, little-endian: samples, which the network takes as they are
};

struct Benchmark {
  /// As the runner knows it.
  const char* model;
  Sent sent;
  /// The network, which was trained for floats, takes factor * (number - zero) of each number that is sent.
  float factor;
  std::int32_t zero;
  /// Whether the result is how much the output differs from the input: the mean of the squares. Otherwise it is all
  /// numbers of the output.
  bool reconstructs;

  const unsigned char* payload;
  std::size_t payload_bytes;
  const cmsis_nn_delegate::KernelTable& kernels;
  /// 16-byte aligned.
  unsigned char* arena;
  std::size_t arena_bytes;
  /// What the network remembers, 16-byte aligned; only of sww01.
  unsigned char* state = nullptr;
  std::size_t state_bytes = 0;
};

extern const Benchmark benchmark;

/// Called again and again while the device waits for a command.
void idle();

}  // namespace mlperf_tiny
