// What the tensors of a payload contain before it is executed.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "runtime/payload/operators.h"
#include "tests/fuzz/accepted.h"
#include "tests/fuzz/random.h"

namespace cmsis_nn_delegate::fuzz {

/// The integers that a payload takes of an input; none of them if `high` < `low`.
struct Integers {
  std::int32_t low = INT32_MIN;
  std::int32_t high = INT32_MAX;
  bool any = true;  // it may have any bytes
};

/// Whether a call with these arguments takes int64 or int32 numbers of rows, as its input.
template <typename Args, typename = void>
inline constexpr bool kTakesIndices = false;
template <typename Args>
inline constexpr bool
    kTakesIndices<Args, std::void_t<decltype(Args::rows), decltype(Args::input_count)>> = true;

/// Whether a call with these arguments takes the lengths of sequences.
template <typename Args, typename = void>
inline constexpr bool kTakesLengths = false;
template <typename Args>
inline constexpr bool
    kTakesLengths<Args, std::void_t<decltype(Args::lengths), decltype(Args::steps)>> = true;

/// Those that all calls of `payload` take of input `index`, as indices or as lengths of sequences.
inline Integers integers_of(const Accepted& payload, unsigned index) {
  Integers found;
  const auto see = [&](payload::Ref input, std::int32_t low, std::int32_t high) {
    if (input >> payload::kRefOffsetBits == payload::kBaseIo + index) {
      found.any = false;
      found.low = low > found.low ? low : found.low;
      found.high = high < found.high ? high : found.high;
    }
  };
  const auto see_call = [&](const auto& args) {
    using Args = std::decay_t<decltype(args)>;
    if constexpr (kTakesIndices<Args>) {
      see(args.input, 0, args.rows - 1);
    }
    if constexpr (kTakesLengths<Args>) {
      see(args.lengths, 1, args.steps);
    }
  };
  for (const Call& call : payload.calls()) {
    switch (static_cast<payload::Opcode>(call.opcode)) {
#define SEE_OPERATOR(Name, name)                                     \
  case payload::Opcode::k##Name:                                     \
    see_call(*static_cast<const payload::Name##Args*>(call.args())); \
    break;
      CMSIS_NN_DELEGATE_OPERATORS(SEE_OPERATOR)
#undef SEE_OPERATOR
      default:
        break;
    }
  }
  return found;
}

/// Fills tensor `index`, which lies at `data`, with random bytes, or with integers that the calls take. If `wild`,
/// they do not take some of these.
inline void fill_tensor(const Accepted& payload, unsigned index, std::uint32_t seed, bool wild,
                        std::uint8_t* data) {
  const payload::IoTensor& tensor = payload.tensor(index);
  Random random(seed);
  const Integers taken = payload.is_input(index) ? integers_of(payload, index) : Integers{};
  if (taken.any || taken.high < taken.low) {
    return random.fill(data, tensor.nbytes);
  }
  const std::int64_t beyond = taken.high + std::int64_t{1};
  const std::int64_t edges[] = {beyond,
                                -1,
                                0,
                                -beyond,
                                -beyond - 1,
                                INT32_MAX,
                                INT32_MIN,
                                INT64_MAX,
                                INT64_MIN,
                                std::int64_t{1} << 32,
                                (std::int64_t{1} << 32) + taken.low};
  const std::uint32_t size =
      tensor.dtype == static_cast<std::uint8_t>(payload::DType::kInt64) ? 8 : 4;
  const std::uint32_t rare = tensor.nbytes / size * 2 + 1;
  for (std::uint32_t at = 0; at + size <= tensor.nbytes; at += size) {
    std::int64_t value = random.in(taken.low, taken.high);
    if (wild && random.one_in(rare)) {
      value = random.pick(edges);
    }
    std::memcpy(data + at, &value, size);  // little-endian: the lower half of it is the int32
  }
}

}  // namespace cmsis_nn_delegate::fuzz
