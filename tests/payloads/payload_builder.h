// Builds payloads by hand, to test the code that reads them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <new>
#include <utility>
#include <vector>

#include "runtime/payload/format.h"

namespace cmsis_nn_delegate::testing {

/// Zeroed bytes that start 16-byte aligned and end exactly at size(), so that a sanitizer sees every
/// access past them.
class AlignedBytes {
 public:
  explicit AlignedBytes(std::size_t size)
      : data_(static_cast<std::uint8_t*>(::operator new(size, kAlignment))), size_(size) {
    std::memset(data_, 0, size);
  }
  AlignedBytes(const AlignedBytes& other) : AlignedBytes(other.size_) {
    std::memcpy(data_, other.data_, size_);
  }
  AlignedBytes(AlignedBytes&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  AlignedBytes& operator=(AlignedBytes other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~AlignedBytes() { ::operator delete(data_, kAlignment); }

  std::uint8_t* data() { return data_; }
  const std::uint8_t* data() const { return data_; }
  std::size_t size() const { return size_; }

  template <typename T>
  T& at(std::size_t offset) {
    return *reinterpret_cast<T*>(data_ + offset);
  }
  payload::Header& header() { return at<payload::Header>(0); }

 private:
  static constexpr std::align_val_t kAlignment{16};
  std::uint8_t* data_;
  std::size_t size_;
};

constexpr payload::Ref make_ref(unsigned base, std::size_t offset = 0) {
  return static_cast<payload::Ref>(base) << payload::kRefOffsetBits |
         static_cast<payload::Ref>(offset);
}

class PayloadBuilder {
 public:
  /// Constants start at a fixed offset, so that their references are known before the calls.
  static constexpr std::size_t kConstantsOffset = 2048;

  explicit PayloadBuilder(payload::Isa isa = payload::Isa::kScalar) : isa_(isa) {}

  /// Sets the providers that the header names, bits 1 << ProviderId, and their revisions in order; CMSIS-NN's
  /// by default, for which call() compiles calls.
  void name_providers(unsigned providers, const std::vector<std::uint32_t>& revisions) {
    providers_ = static_cast<std::uint8_t>(providers);
    revisions_ = revisions;
  }

  /// Sets the size of the arena; a multiple of 16.
  void set_arena(std::uint32_t bytes) { arena_bytes_ = bytes; }

  /// Each adds an input or output with the default dimension order and returns its reference. Add
  /// inputs before outputs.
  payload::Ref input(payload::DType dtype, std::initializer_list<std::int32_t> sizes);
  payload::Ref output(payload::DType dtype, std::initializer_list<std::int32_t> sizes);

  /// Adds a region beside the arena and returns the reference of its start; `bytes` is a multiple of 16. Add
  /// inputs and outputs before regions.
  payload::Ref region(std::uint32_t bytes);

  template <typename T>
  payload::Ref constant(const std::vector<T>& values) {
    return constant_bytes(values.data(), values.size() * sizeof(T));
  }

  /// Lets init() copy the constants that have been added. Add all inputs and outputs before, and regions after it.
  void copy_constants();

  /// Returns the reference to the copy of `constant`.
  payload::Ref copy_of(payload::Ref constant) const {
    return make_ref(copies_base(), (constant & payload::kMaxRefOffset) - kConstantsOffset);
  }

  /// Appends a call; returns the offset of its arguments relative to calls_offset.
  template <typename Args>
  std::size_t call(payload::Opcode opcode, const Args& args) {
    return call_bytes(opcode, &args, sizeof(Args));
  }

  /// The payload, with its CRC.
  AlignedBytes finish() const;

 private:
  unsigned copies_base() const { return payload::kBaseIo + static_cast<unsigned>(tensors_.size()); }
  payload::Ref tensor(payload::DType dtype, std::initializer_list<std::int32_t> sizes);
  payload::Ref constant_bytes(const void* data, std::size_t size);
  std::size_t call_bytes(payload::Opcode opcode, const void* args, std::size_t size);

  payload::Isa isa_;
  std::uint8_t providers_ = 1u << static_cast<unsigned>(payload::ProviderId::kCmsisNn);
  std::vector<std::uint32_t> revisions_ = {payload::kCmsisNnRevision};
  std::uint32_t arena_bytes_ = 0;
  std::uint8_t input_count_ = 0;
  std::uint8_t output_count_ = 0;
  std::vector<payload::IoTensor> tensors_;
  std::vector<std::uint32_t> region_bytes_;
  std::vector<std::uint8_t> calls_;
  std::uint32_t call_count_ = 0;
  std::vector<std::uint8_t> constants_;
  std::uint32_t copied_bytes_ = 0;
};

/// A small network of eleven kernels, including all kernels with windows or weights: float [1, 3, 6, 6]
/// to int8 [1, 5] and float [1, 5].
AlignedBytes small_network();

/// The same with two regions beside the arena, kSmallRegions: a tensor lies in the first, and scratch memory in the
/// second.
AlignedBytes small_network_in_regions();
inline constexpr std::uint32_t kSmallRegions[2] = {144, 192};

/// The same as small_network() with copies of the constants of the two convolutions.
AlignedBytes small_network_with_copies();

/// A payload with one call of the kernel `opcode`; operator_payloads.h describes it.
AlignedBytes operator_payload(payload::Opcode opcode);

/// The arguments of the first call of `opcode` in `payload`, which must have one.
std::uint8_t* find_args(AlignedBytes& payload, payload::Opcode opcode);

template <typename Args>
Args& args_of(AlignedBytes& payload, payload::Opcode opcode) {
  return *reinterpret_cast<Args*>(find_args(payload, opcode));
}

}  // namespace cmsis_nn_delegate::testing
