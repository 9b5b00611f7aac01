// Checks the sizes and references of a payload.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/payload/format.h"

namespace cmsis_nn_delegate::bounds {

/// More bytes than any reference can reach; stands for every size that is too large.
inline constexpr std::uint32_t kTooLarge = 0xFFFFFFFF;

/// Returns a * b, or kTooLarge. Negative dimensions become too large when they are converted to
/// unsigned; a product of 0 is refused wherever it is used as a size.
inline std::uint32_t product(std::uint32_t a, std::uint32_t b) {
  const std::uint64_t wide = static_cast<std::uint64_t>(a) * b;
  return wide > payload::kMaxRefOffset ? kTooLarge : static_cast<std::uint32_t>(wide);
}

/// Whether a number is more than any reference can reach.
inline bool beyond(std::uint64_t number) {
  // Half by half, because cores have 32 bits.
  return (static_cast<std::uint32_t>(number >> 32) |
          static_cast<std::uint32_t>(number) >> payload::kRefOffsetBits) != 0;
}

/// Returns the bytes of `count` elements that share bytes in twos, or kTooLarge.
inline std::uint32_t half(std::uint32_t count) {
  return beyond(count) ? kTooLarge : (count + 1) / 2;
}

/// The number of elements of a tensor with these dimensions, as product() computes it.
inline std::uint32_t volume(std::int32_t a) { return static_cast<std::uint32_t>(a); }
inline std::uint32_t volume(std::int32_t a, std::int32_t b) {
  return product(static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b));
}
inline std::uint32_t volume(std::int32_t a, std::int32_t b, std::int32_t c) {
  return product(volume(a, b), static_cast<std::uint32_t>(c));
}
/// The same for dimensions in [1, kMaxDim]. Not inlined, because the checks of most operators use it several
/// times.
std::uint32_t volume(const payload::Dims& d);
std::uint32_t volume(const payload::PackedDims& d);

/// Whether `value` is in [low, high].
inline bool in_range(std::int32_t value, std::int32_t low, std::int32_t high) {
  return static_cast<std::uint32_t>(value) - static_cast<std::uint32_t>(low) <=
         static_cast<std::uint32_t>(high) - static_cast<std::uint32_t>(low);
}

/// Whether [offset, offset + bytes) lies in [0, size) and offset is a multiple of 16.
inline bool section_fits(std::uint32_t offset, std::uint32_t bytes, std::uint32_t size) {
  return offset % payload::kAlignment == 0 && offset <= size && bytes <= size - offset;
}

/// What an access through a reference needs of its base, as bits: one of the alignments, kWrite,
/// kPersistent, and kConstant.
enum Need : std::uint32_t {
  kByteAligned = 1,
  kHalfAligned = 2,
  kWordAligned = 4,
  kBlockAligned = 16,
  kWrite = 256,
  kPersistent = 512,
  kConstant = 1024,
};

/// The memory that the references of one payload may name.
class Regions {
 public:
  /// `tensors` are the inputs and outputs of the payload, followed by the sizes of its regions; they
  /// and `header` must have been checked.
  Regions(const payload::Header& header, const payload::IoTensor* tensors);

  /// Whether `ref` names `bytes` > 0 bytes of something that exists - the arena or a region beside it,
  /// the constants and the copied ones (read only), an input (read only), an output or the persistent memory - and may be used as `need`
  /// says. The data of float tensors is 4-byte aligned; that of other tensors may have any alignment.
  [[nodiscard]] bool contain(payload::Ref ref, std::uint32_t bytes, std::uint32_t need) const;

  /// How the bytes of two contained references overlap. Inputs and outputs are taken to lie where
  /// the payload has room for them in its arena; a caller who keeps them elsewhere must keep them
  /// apart from everything else.
  enum class Overlap : std::uint8_t { kNone, kSame, kPartial };
  [[nodiscard]] Overlap overlap(payload::Ref a, std::uint32_t a_bytes, payload::Ref b,
                                std::uint32_t b_bytes) const;

  /// Returns by how many bytes the place of `from` lies before that of `to`; both are contained and
  /// overlap each other.
  [[nodiscard]] std::int32_t distance(payload::Ref from, payload::Ref to) const {
    return static_cast<std::int32_t>(to + regions_[to >> payload::kRefOffsetBits].to_place - from -
                                     regions_[from >> payload::kRefOffsetBits].to_place);
  }

  /// Returns the offset in the payload of the constant that `ref`, which is contained, names, whether it is copied or
  /// not.
  [[nodiscard]] std::uint32_t offset_of_constant(payload::Ref ref) const {
    return (ref + regions_[ref >> payload::kRefOffsetBits].to_place) & payload::kMaxRefOffset;
  }

  /// Whether each of `refs` names `bytes` > 0 bytes of the constants, or of the copied ones, aligned to
  /// `alignment`, with at least `past` more bytes of these after them.
  /// Not inlined, because the checks of most operators use it twice.
  template <std::size_t kCount>
  [[nodiscard]] bool contain_constants(const payload::Ref (&refs)[kCount], std::uint32_t bytes,
                                       std::uint32_t alignment, std::uint32_t past) const {
    return contain_constants(refs, refs + kCount, bytes, alignment, past);
  }

 private:
  [[nodiscard]] bool contain_constants(const payload::Ref* begin, const payload::Ref* end,
                                       std::uint32_t bytes, std::uint32_t alignment,
                                       std::uint32_t past) const;

  struct Region {
    payload::Ref begin;  // the lowest reference
    std::uint32_t size;
    std::uint32_t rights;    // the needs that it satisfies; 0 if there is no such base
    std::uint32_t to_place;  // added to a reference, gives the place of its bytes modulo 2^32
  };
  Region regions_[payload::kBaseCount];
};

}  // namespace cmsis_nn_delegate::bounds
