// What the tensors of a payload contain before it is executed.
#pragma once

#include <cstdint>
#include <cstring>

#include "tests/fuzz/accepted.h"
#include "tests/fuzz/random.h"

namespace cmsis_nn_delegate {
namespace fuzz {

/// How many rows the smallest table has that input `index` of `payload` chooses from; 0 if it is no
/// index.
inline std::int32_t rows_of(const Accepted& payload, unsigned index) {
  std::int32_t least = 0;
  const auto see = [&](payload::Ref input, std::int32_t rows) {
    if (input >> payload::kRefOffsetBits == payload::kBaseIo + index) {
      least = least == 0 || rows < least ? rows : least;
    }
  };
  for (const Call& call : payload.calls()) {
    if (call.opcode == static_cast<std::uint16_t>(payload::Opcode::kEmbedding)) {
      const auto& args = *static_cast<const payload::EmbeddingArgs*>(call.args());
      see(args.input, args.rows);
    } else if (call.opcode == static_cast<std::uint16_t>(payload::Opcode::kEmbeddingInt32)) {
      const auto& args = *static_cast<const payload::EmbeddingInt32Args*>(call.args());
      see(args.input, args.rows);
    }
  }
  return least;
}

/// Fills tensor `index`, which lies at `data`, with random bytes, or with indices. If `wild`, some
/// of these are not in their tables.
inline void fill_tensor(const Accepted& payload, unsigned index, std::uint32_t seed, bool wild,
                        std::uint8_t* data) {
  const payload::IoTensor& tensor = payload.tensor(index);
  Random random(seed);
  const std::int32_t rows = payload.is_input(index) ? rows_of(payload, index) : 0;
  if (rows == 0) {
    return random.fill(data, tensor.nbytes);
  }
  const std::int64_t edges[] = {rows,      -1,        -rows,     -rows - std::int64_t{1}, INT32_MAX,
                                INT32_MIN, INT64_MAX, INT64_MIN, std::int64_t{1} << 32};
  const std::uint32_t size =
      tensor.dtype == static_cast<std::uint8_t>(payload::DType::kInt64) ? 8 : 4;
  const std::uint32_t rare = tensor.nbytes / size * 2 + 1;
  for (std::uint32_t at = 0; at + size <= tensor.nbytes; at += size) {
    std::int64_t value = random.in(0, rows - 1);
    if (wild && random.one_in(rare)) {
      value = random.pick(edges);
    }
    std::memcpy(data + at, &value, size);  // little-endian: the lower half of it is the int32
  }
}

}  // namespace fuzz
}  // namespace cmsis_nn_delegate
