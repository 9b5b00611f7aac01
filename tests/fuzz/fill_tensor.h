// What the tensors of a payload contain before it is executed.
#pragma once

#include <cstdint>
#include <cstring>

#include "tests/fuzz/accepted.h"
#include "tests/fuzz/random.h"

namespace cmsis_nn_delegate::fuzz {

/// The integers that a payload takes of an input; none if `high` < `low`.
struct Integers {
  std::int32_t low = 1;
  std::int32_t high = 0;
};

/// Those that all calls of `payload` take of input `index`, as indices or as lengths of sequences.
inline Integers integers_of(const Accepted& payload, unsigned index) {
  Integers found;
  const auto see = [&](payload::Ref input, std::int32_t low, std::int32_t high) {
    if (input >> payload::kRefOffsetBits == payload::kBaseIo + index) {
      const bool is_first = found.high < found.low;
      found.low = is_first || low > found.low ? low : found.low;
      found.high = is_first || high < found.high ? high : found.high;
    }
  };
  const auto rows = [&](const auto& args) { see(args.input, 0, args.rows - 1); };
  const auto lengths = [&](const auto& args) { see(args.lengths, 1, args.steps); };
  for (const Call& call : payload.calls()) {
    const void* args = call.args();
    switch (static_cast<payload::Opcode>(call.opcode)) {
      case payload::Opcode::kEmbedding:
        rows(*static_cast<const payload::EmbeddingArgs*>(args));
        break;
      case payload::Opcode::kEmbeddingInt32:
        rows(*static_cast<const payload::EmbeddingInt32Args*>(args));
        break;
      case payload::Opcode::kEmbeddingInt16:
        rows(*static_cast<const payload::EmbeddingInt16Args*>(args));
        break;
      case payload::Opcode::kEmbeddingInt32Int16:
        rows(*static_cast<const payload::EmbeddingInt32Int16Args*>(args));
        break;
      case payload::Opcode::kEmbeddingInt4:
        rows(*static_cast<const payload::EmbeddingInt4Args*>(args));
        break;
      case payload::Opcode::kEmbeddingInt32Int4:
        rows(*static_cast<const payload::EmbeddingInt32Int4Args*>(args));
        break;
      case payload::Opcode::kEmbeddingFloat32:
        rows(*static_cast<const payload::EmbeddingFloat32Args*>(args));
        break;
      case payload::Opcode::kEmbeddingInt32Float32:
        rows(*static_cast<const payload::EmbeddingInt32Float32Args*>(args));
        break;
      case payload::Opcode::kGruLengths:
        lengths(*static_cast<const payload::GruLengthsArgs*>(args));
        break;
      case payload::Opcode::kGruLengthsPairs:
        lengths(*static_cast<const payload::GruLengthsPairsArgs*>(args));
        break;
      case payload::Opcode::kGruLengthsVectors:
        lengths(*static_cast<const payload::GruLengthsVectorsArgs*>(args));
        break;
      case payload::Opcode::kGruLengthsPairsInt16:
        lengths(*static_cast<const payload::GruLengthsPairsInt16Args*>(args));
        break;
      case payload::Opcode::kGruLengthsVectorsInt16:
        lengths(*static_cast<const payload::GruLengthsVectorsInt16Args*>(args));
        break;
      case payload::Opcode::kGruLengthsInt16:
        lengths(*static_cast<const payload::GruLengthsInt16Args*>(args));
        break;
      case payload::Opcode::kGruLengthsInt4:
        lengths(*static_cast<const payload::GruLengthsInt4Args*>(args));
        break;
      case payload::Opcode::kGruLengthsInt4Int16:
        lengths(*static_cast<const payload::GruLengthsInt4Int16Args*>(args));
        break;
      case payload::Opcode::kLastStep:
        lengths(*static_cast<const payload::LastStepArgs*>(args));
        break;
      case payload::Opcode::kLastStepInt16:
        lengths(*static_cast<const payload::LastStepInt16Args*>(args));
        break;
      case payload::Opcode::kLstmLengths:
        lengths(*static_cast<const payload::LstmLengthsArgs*>(args));
        break;
      case payload::Opcode::kLstmLengthsPairs:
        lengths(*static_cast<const payload::LstmLengthsPairsArgs*>(args));
        break;
      case payload::Opcode::kLstmLengthsVectors:
        lengths(*static_cast<const payload::LstmLengthsVectorsArgs*>(args));
        break;
      case payload::Opcode::kLstmLengthsPairsInt16:
        lengths(*static_cast<const payload::LstmLengthsPairsInt16Args*>(args));
        break;
      case payload::Opcode::kLstmLengthsVectorsInt16:
        lengths(*static_cast<const payload::LstmLengthsVectorsInt16Args*>(args));
        break;
      case payload::Opcode::kLstmLengthsInt16:
        lengths(*static_cast<const payload::LstmLengthsInt16Args*>(args));
        break;
      case payload::Opcode::kLstmLengthsInt4:
        lengths(*static_cast<const payload::LstmLengthsInt4Args*>(args));
        break;
      case payload::Opcode::kLstmLengthsInt4Int16:
        lengths(*static_cast<const payload::LstmLengthsInt4Int16Args*>(args));
        break;
      case payload::Opcode::kLstmProjectedLengths:
        lengths(*static_cast<const payload::LstmProjectedLengthsArgs*>(args));
        break;
      case payload::Opcode::kLstmProjectedLengthsInt16:
        lengths(*static_cast<const payload::LstmProjectedLengthsInt16Args*>(args));
        break;
      case payload::Opcode::kLstmProjectedLengthsInt4:
        lengths(*static_cast<const payload::LstmProjectedLengthsInt4Args*>(args));
        break;
      case payload::Opcode::kLstmProjectedLengthsInt4Int16:
        lengths(*static_cast<const payload::LstmProjectedLengthsInt4Int16Args*>(args));
        break;
      case payload::Opcode::kRnnLengths:
        lengths(*static_cast<const payload::RnnLengthsArgs*>(args));
        break;
      case payload::Opcode::kRnnLengthsInt16:
        lengths(*static_cast<const payload::RnnLengthsInt16Args*>(args));
        break;
      case payload::Opcode::kRnnLengthsInt4:
        lengths(*static_cast<const payload::RnnLengthsInt4Args*>(args));
        break;
      case payload::Opcode::kRnnLengthsInt4Int16:
        lengths(*static_cast<const payload::RnnLengthsInt4Int16Args*>(args));
        break;
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
  if (taken.high < taken.low) {
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
