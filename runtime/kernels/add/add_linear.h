// Elementwise sums as linear functions of both inputs. Assembly for an instruction set has the same
// function as PlainLinearSums (add_linear_tuned.cc).
#pragma once

#include <cstdint>

#include "runtime/kernels/common/broadcast.h"
#include "runtime/kernels/common/repeated.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

/// The numbers of a sum.
struct LinearSum {
  std::int32_t factor1;
  std::int32_t factor2;
  std::int32_t constant;
  std::int32_t limited;  // 0: `least` and `most` are the limits of int8
  // Four times the limits of results, in a word.
  std::uint32_t least;
  std::uint32_t most;
};

namespace linear_sums {

inline constexpr std::int32_t kAtATime = 4;
inline constexpr std::int32_t kFractionBits = 20;

/// SMLAWB of an input in the upper byte of a half-word: sum + factor * input / 2^8.
inline std::int32_t multiply_add(std::int32_t factor, std::int8_t input, std::int32_t sum) {
  const std::int64_t product = (std::int64_t{factor} * input) >> 8;
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(sum) +
                                   static_cast<std::uint32_t>(product));
}

/// Computes `count` elements. The output may be one of the inputs.
inline void add(const std::int8_t* a, const std::int8_t* b, std::int8_t* output, std::int32_t count,
                const LinearSum& p) {
  const auto least = static_cast<std::int8_t>(p.least & 0xFF);
  const auto most = static_cast<std::int8_t>(p.most & 0xFF);
  for (std::int32_t i = 0; i < count; ++i) {
    const std::int32_t sum =
        multiply_add(p.factor2, b[i], multiply_add(p.factor1, a[i], p.constant));
    const std::int32_t value = sum >> kFractionBits;
    output[i] = static_cast<std::int8_t>(value < least ? least : value > most ? most : value);
  }
}

}  // namespace linear_sums

/// The function for plain C++.
struct PlainLinearSums {
  /// Computes `words` > 0 times 4 elements.
  static void add(const std::int8_t* a, const std::int8_t* b, std::int8_t* output,
                  std::int32_t words, const LinearSum& p) {
    linear_sums::add(a, b, output, words * linear_sums::kAtATime, p);
  }
};

/// Computes `count` elements with the numbers of a call, which is a block of either kernel. `Sums` has the function of
/// PlainLinearSums.
template <typename Sums, typename Args>
[[gnu::always_inline]] inline void add_linear_elements(const Args& call, const std::int8_t* a,
                                                       const std::int8_t* b, std::int8_t* output,
                                                       std::int32_t count) {
  const payload::Activation& limits = call.activation;
  const LinearSum p = {call.factor1,
                       call.factor2,
                       call.constant,
                       is_limited<std::int8_t>(limits),
                       repeated<std::int8_t>(limits.min),
                       repeated<std::int8_t>(limits.max)};
  const std::int32_t words = count / linear_sums::kAtATime;
  if (words != 0) {
    Sums::add(a, b, output, words, p);
  }
  const std::int32_t done = words * linear_sums::kAtATime;
  linear_sums::add(a + done, b + done, output + done, count - done, p);
}

/// Computes one call: the body of a kernel's function, which has no call more for it.
template <typename Sums>
[[gnu::always_inline]] inline Error compute_add_linear(const void* args, const Bases& bases) {
  const auto& call = *static_cast<const payload::AddLinearArgs*>(args);
  add_linear_elements<Sums>(call, bases.resolve<const std::int8_t>(call.input1),
                            bases.resolve<const std::int8_t>(call.input2),
                            bases.resolve<std::int8_t>(call.output), call.count);
  return Error::Ok;
}

/// The same for operands that are repeated along some dimensions.
template <typename Sums>
[[gnu::always_inline]] inline Error compute_add_linear_broadcast(const void* args,
                                                                 const Bases& bases) {
  using Args = payload::AddLinearBroadcastArgs;
  return for_each_row(
      *static_cast<const Args*>(args), bases,
      +[](const void* call, const std::int8_t* a, const std::int8_t* b, std::int8_t* output,
          std::int32_t count) {
        add_linear_elements<Sums>(*static_cast<const Args*>(call), a, b, output, count);
        return Error::Ok;
      });
}

/// Returns the kernel whose `run` calls compute_add_linear(). The output may be an input: elements are read before they
/// are written.
constexpr Kernel add_linear_kernel(Kernel::Run run) {
  return Kernel(operators::kAddLinear, run).in_place().only_of(payload::ProviderId::kTuned);
}

/// The same for compute_add_linear_broadcast(). The output may be an input of its size.
constexpr Kernel add_linear_broadcast_kernel(Kernel::Run run) {
  return Kernel(operators::kAddLinearBroadcast, run)
      .in_place()
      .only_of(payload::ProviderId::kTuned);
}

}  // namespace cmsis_nn_delegate::portable
