// Linear layers with weights of 4 bits and a factor for each group of inputs, by pairs of inputs and blocks of eight
// channels, in plain C++. Assembly for an instruction set has the same functions (group_pairs_dsp.h).
#pragma once

#include <cstdint>
#include <cstring>

#include "runtime/kernels/common/pair_products.h"
#include "runtime/kernels/fully_connected_groups/group_totals.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

/// The sums over groups of eight channels. The table has for each eight channels and each group: two words for each 2
/// inputs, with the weights of four channels as JointNibbles takes them; eight int16 factors.
struct GroupPairs {
  static constexpr std::int32_t kChannels = 8;
  static constexpr std::int32_t kFactorWords = 4;
  static constexpr std::int32_t kDepth = 8;  // a group is a multiple of as many inputs

  const std::int16_t* inputs;        // of a row, widened
  const std::int32_t* minus_eights;  // for each group, -8 times the sum of its inputs
  std::int32_t groups;               // >= 1
  std::int32_t group_bytes;          // of the widened inputs of a group, >= 16
  const std::int32_t* table;         // after the call, that of the next channels
  std::int32_t reserved;  // so that totals lie at the same place wherever pointers have 32 bits
  std::int64_t totals[kChannels];  // factors times sums are added to these
};

struct PlainGroupPairs {
  /// Widens `count` inputs, of each four 0 2 1 3. Returns -8 times their sum, which wraps.
  static std::int32_t widen(const std::int8_t* from, std::int32_t count, std::int16_t* to) {
    std::uint32_t sum = 0;
    for (std::int32_t i = 0; i < count; i += 4, from += 4) {
      for (const std::int32_t place : {0, 2, 1, 3}) {
        *to++ = from[place];
        sum -= static_cast<std::uint32_t>(8 * from[place]);
      }
    }
    return static_cast<std::int32_t>(sum);
  }

  static void multiply(GroupPairs& p) {
    using pair_products::kBlock;
    const std::int16_t* input = p.inputs;
    for (std::int32_t g = 0; g < p.groups; ++g) {
      std::uint32_t sums[GroupPairs::kChannels] = {};
      const auto* end = input + p.group_bytes / static_cast<std::int32_t>(sizeof(*input));
      for (; input != end; input += 2) {
        for (std::int32_t i = 0; i < GroupPairs::kChannels; ++i) {
          const std::int32_t word = p.table[i / kBlock];
          sums[i] += static_cast<std::uint32_t>(
              input[0] * pair_products::joint_nibble(word, i % kBlock, 0) +
              input[1] * pair_products::joint_nibble(word, i % kBlock, 1));
        }
        p.table += GroupPairs::kChannels / kBlock;
      }
      std::int16_t factors[GroupPairs::kChannels];
      std::memcpy(factors, p.table, sizeof(factors));
      p.table += GroupPairs::kFactorWords;
      for (std::int32_t i = 0; i < GroupPairs::kChannels; ++i) {
        const std::int32_t sum = pair_products::JointNibbles::kept(sums[i], i % kBlock);
        p.totals[i] = group_totals::add(p.totals[i], factors[i], sum);
      }
    }
  }
};

/// Computes one call: the body of a kernel's function. `Loops` has the functions of PlainGroupPairs.
template <typename Loops>
[[gnu::always_inline]] inline Error compute_group_pairs(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::FullyConnectedInt4GroupsPairsArgs*>(args);
  const auto* input = bases.resolve<const std::int8_t>(a.input);
  const auto* table = bases.resolve<const std::int32_t>(a.table);
  const auto* bias = bases.resolve<const std::int32_t>(a.bias);
  const auto* multiplier = bases.resolve<const std::int32_t>(a.multiplier);
  const auto* shift = bases.resolve<const std::int32_t>(a.shift);
  auto* output = bases.resolve<std::int8_t>(a.output);
  auto* minus_eights = bases.resolve<std::int32_t>(a.scratch);
  auto* inputs = reinterpret_cast<std::int16_t*>(minus_eights + a.groups);
  GroupPairs pairs = {inputs, minus_eights, a.groups, 2 * a.group, nullptr, 0, {}};
  for (std::int32_t n = 0; n < a.batch; ++n) {
    for (std::int32_t g = 0; g < a.groups; ++g, input += a.group) {
      minus_eights[g] = Loops::widen(input, a.group, inputs + g * a.group);
    }
    pairs.table = table;
    for (std::int32_t channel = 0; channel < a.outputs;) {
      for (std::int64_t& total : pairs.totals) {
        total = group_totals::start(a.narrowing);
      }
      Loops::multiply(pairs);
      for (std::int32_t i = 0; i < GroupPairs::kChannels && channel < a.outputs; ++i, ++channel) {
        const std::int32_t sum =
            wrapping_add(group_totals::narrowed(pairs.totals[i], a.narrowing), bias[channel]);
        const std::int32_t value = requantize(sum, multiplier[channel], shift[channel]);
        *output++ = clamp(wrapping_add(value, a.output_offset), a.activation);
      }
    }
  }
  return Error::Ok;
}

/// FullyConnectedInt4GroupsPairs.scratch_bytes in Python: for each group a sum, and the widened inputs of a row.
inline std::uint32_t group_pairs_scratch_bytes(const void* args) {
  const auto& a = *static_cast<const payload::FullyConnectedInt4GroupsPairsArgs*>(args);
  const auto groups = static_cast<std::uint32_t>(a.groups);
  return (4 * groups + 2 * groups * static_cast<std::uint32_t>(a.group) + 15) / 16 * 16;
}

/// Returns whether the table has as many words as the sizes ask for, and groups are whole.
inline bool group_pairs_accepts(const void* args) {
  constexpr std::int64_t kChannels = GroupPairs::kChannels;
  constexpr std::int64_t kFactorWords = GroupPairs::kFactorWords;
  const auto& a = *static_cast<const payload::FullyConnectedInt4GroupsPairsArgs*>(args);
  return a.group % GroupPairs::kDepth == 0 && a.blocks == (a.outputs + kChannels - 1) / kChannels &&
         a.block_words == a.groups * (a.group + kFactorWords);
}

/// Returns the kernel whose `run` calls compute_group_pairs().
constexpr Kernel group_pairs_kernel(Kernel::Run run) {
  return Kernel(operators::kFullyConnectedInt4GroupsPairs, run, group_pairs_scratch_bytes)
      .limited_to(group_pairs_accepts)
      .only_of(payload::ProviderId::kTuned);
}

}  // namespace cmsis_nn_delegate::portable
