// What the linear layers with weights of 4 bits and a factor for each group of inputs do with vectors of inputs, in
// plain C++. Assembly for an instruction set has the same function (group_vectors_mve.h).
#pragma once

#include <cstdint>
#include <cstring>

#include "runtime/kernels/common/requantize.h"
#include "runtime/kernels/common/vector_products.h"
#include "runtime/kernels/fully_connected_groups/group_totals.h"
#include "runtime/payload/format.h"

namespace cmsis_nn_delegate::portable {

/// A row of inputs and all weights. `table` has for each 8 channels, of which the last block may lack some: bytes of
/// weights for each group and each 16 inputs, as NibbleWeights in row_vectors.h has them; for each 4 of them: 4 int16
/// factors of each channel for each 4 groups, 0 for groups that are not there; 4 biases, int32; 4 multipliers, int32; 4
/// shifts to the right, int8, 0 or less; 4 to the left, 0 or more.
struct GroupVectors {
  static constexpr std::int32_t kChannels = 8;
  static constexpr std::int32_t kPart = 4;     // channels that are requantized together
  static constexpr std::int32_t kQuad = 4;     // groups
  static constexpr std::int32_t kVector = 16;  // inputs

  const std::int8_t* input;
  const std::int8_t* table;  // 4-byte aligned
  std::int8_t* output;
  std::int32_t channels;  // >= 1
  std::int32_t* sums;     // scratch: kChannels for each group of the quads
  std::int32_t* eights;   // scratch: one for each group of the quads
  std::int32_t vectors;   // of a group, >= 1
  std::int32_t groups;    // >= 1
  std::int32_t quads;     // groups / 4, rounded up
  std::int32_t start;     // of a sum over groups, see group_totals.h
  std::int32_t narrowing;
  std::int32_t offset;  // the zero point of the output
  std::int32_t least;
  std::int32_t most;
};

namespace group_vectors {

inline constexpr std::int32_t kScaleBytes = 40;  // of kPart channels

/// The words of a block of the table.
constexpr std::int64_t block_words(std::int64_t groups, std::int64_t group) {
  constexpr std::int64_t kChannels = GroupVectors::kChannels;
  constexpr std::int64_t kQuad = GroupVectors::kQuad;
  constexpr std::int64_t kScales = kChannels / GroupVectors::kPart * kScaleBytes / 4;
  return groups * group * kChannels / 8 + (groups + kQuad - 1) / kQuad * kQuad * kChannels / 2 +
         kScales;
}

/// Puts the sums of the products with the bytes of 8 channels into p.sums; returns the end of the weights.
inline const std::int8_t* add_products(const GroupVectors& p, const std::int8_t* table) {
  const std::int8_t* input = p.input;
  for (std::int32_t g = 0; g < p.groups; ++g) {
    std::int32_t* sums = p.sums + g * GroupVectors::kChannels;
    std::memset(sums, 0, GroupVectors::kChannels * sizeof(*sums));
    for (std::int32_t v = 0; v < p.vectors; ++v, input += GroupVectors::kVector) {
      for (std::int32_t i = 0; i < GroupVectors::kChannels; i += 2) {
        for (std::int32_t k = 0; k < GroupVectors::kVector; ++k, ++table) {
          sums[i] = wrapping_add(sums[i], input[k] * *table);
          sums[i + 1] = wrapping_add(sums[i + 1], input[k] * (*table >> 4));
        }
      }
    }
  }
  return table;
}

/// Requantizes the sums of kPart channels, from `first` of a block on.
inline const std::int8_t* finish(const GroupVectors& p, std::int32_t first, std::int32_t count,
                                 const std::int8_t* table, std::int8_t* output) {
  constexpr std::int32_t kPart = GroupVectors::kPart;
  constexpr std::int32_t kQuad = GroupVectors::kQuad;
  std::int64_t totals[kPart] = {p.start, p.start, p.start, p.start};
  for (std::int32_t g = 0; g < p.groups; ++g) {
    const std::int32_t* sums = p.sums + g * GroupVectors::kChannels + first;
    for (std::int32_t i = 0; i < kPart; ++i) {
      std::int32_t sum = sums[i];
      if (i % 2 == 0) {
        sum = wrapping_sub(sum, wrapping_add(wrapping_shift_left(sums[i + 1], 4), p.eights[g]));
      }
      std::int16_t factor;
      std::memcpy(&factor, table + 2 * ((g / kQuad * kPart + i) * kQuad + g % kQuad),
                  sizeof(factor));
      totals[i] = group_totals::add(totals[i], factor, sum);
    }
  }
  table += p.quads * kQuad * kPart * 2;
  for (std::int32_t i = 0; i < kPart && i < count; ++i) {
    const std::int32_t bias = vector_products::word(table + 4 * i);
    const std::int32_t multiplier = vector_products::word(table + 4 * (kPart + i));
    const std::int8_t* shift = table + 8 * kPart + i;
    const std::int32_t sum = wrapping_add(group_totals::narrowed(totals[i], p.narrowing), bias);
    const std::int32_t value = requantize(sum, multiplier, shift[0] + shift[kPart]);
    output[i] = clamp(wrapping_add(value, p.offset), payload::Activation{p.least, p.most});
  }
  return table + kScaleBytes;
}

}  // namespace group_vectors

struct PlainGroupVectors {
  static void multiply(const GroupVectors& p) {
    constexpr std::int32_t kInputs = GroupVectors::kVector;
    const std::int8_t* input = p.input;
    for (std::int32_t g = 0; g < p.groups; ++g) {
      std::int32_t eights = 0;
      for (std::int32_t k = 0; k < p.vectors * kInputs; ++k) {
        eights = wrapping_add(eights, 8 * *input++);
      }
      p.eights[g] = eights;
    }
    const std::int8_t* table = p.table;
    for (std::int32_t at = 0; at < p.channels; at += GroupVectors::kChannels) {
      table = group_vectors::add_products(p, table);
      for (std::int32_t first = 0; first < GroupVectors::kChannels; first += GroupVectors::kPart) {
        const std::int32_t channel = at + first;
        table = group_vectors::finish(p, first, p.channels - channel, table, p.output + channel);
      }
    }
  }
};

}  // namespace cmsis_nn_delegate::portable
