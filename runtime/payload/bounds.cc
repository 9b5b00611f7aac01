#include "runtime/payload/bounds.h"

namespace cmsis_nn_delegate::bounds {
namespace {

constexpr payload::Ref make_ref(std::uint32_t base, std::uint32_t offset) {
  return base << payload::kRefOffsetBits | offset;
}

/// Not inlined, so that sizes of 16 and of 32 bits share it.
[[gnu::noinline]] std::uint32_t volume(std::uint32_t n, std::uint32_t h, std::uint32_t w,
                                       std::uint32_t c) {
  const std::uint64_t outer = std::uint64_t{n} * h;
  const std::uint64_t inner = std::uint64_t{w} * c;
  const std::uint64_t all =
      std::uint64_t{static_cast<std::uint32_t>(outer)} * static_cast<std::uint32_t>(inner);
  const std::uint64_t lost = (outer | inner) >> 32 << 32;  // what does not go into `all`
  return beyond(lost | all) ? kTooLarge : static_cast<std::uint32_t>(all);
}

}  // namespace

std::uint32_t volume(const payload::Dims& d) {
  return volume(static_cast<std::uint32_t>(d.n), static_cast<std::uint32_t>(d.h),
                static_cast<std::uint32_t>(d.w), static_cast<std::uint32_t>(d.c));
}

std::uint32_t volume(const payload::PackedDims& d) { return volume(d.n, d.h, d.w, d.c); }

Regions::Regions(const payload::Header& header, const payload::IoTensor* tensors) {
  constexpr std::uint32_t kAligned = kByteAligned | kHalfAligned | kWordAligned | kBlockAligned;
  const auto set = [this](unsigned base, std::uint32_t offset, std::uint32_t size,
                          std::uint32_t rights) {
    Region& region = regions_[base];
    region.begin = make_ref(base, offset);
    region.size = size;
    region.rights = rights;
    region.to_place = 0;
  };
  set(payload::kBaseArena, 0, header.arena_bytes, kAligned | kWrite);
  set(payload::kBaseConstant, header.constants_offset, header.constants_bytes,
      kAligned | kConstant);
  const unsigned tensor_count = unsigned{header.input_count} + header.output_count;
  for (unsigned i = 0; i < tensor_count; ++i) {
    const payload::IoTensor& tensor = tensors[i];
    std::uint32_t rights = kByteAligned;
    if (tensor.dtype == static_cast<std::uint8_t>(payload::DType::kFloat32)) {
      rights |= kHalfAligned | kWordAligned;  // execute() checks it
    } else if (tensor.dtype == static_cast<std::uint8_t>(payload::DType::kInt16)) {
      rights |= kHalfAligned;
    }
    if (i >= header.input_count) {
      rights |= kWrite;
    }
    const payload::Ref begin = make_ref(payload::kBaseIo + i, 0);
    const std::uint32_t to_place = tensor.arena_offset == payload::kNoArenaOffset
                                       ? 0
                                       : make_ref(payload::kBaseArena, tensor.arena_offset) - begin;
    regions_[payload::kBaseIo + i] = {begin, tensor.nbytes, rights, to_place};
  }
  unsigned base = payload::kBaseIo + tensor_count;
  if (header.persistent_bytes != 0) {
    set(base++, 0, header.persistent_bytes, kAligned | kWrite | kPersistent);
  }
  if (header.copied_bytes != 0) {
    set(base, 0, header.copied_bytes, kAligned | kConstant);
    regions_[base].to_place =
        make_ref(payload::kBaseConstant, header.constants_offset) - make_ref(base, 0);
    ++base;
  }
  const auto* region_bytes = reinterpret_cast<const std::uint32_t*>(tensors + tensor_count);
  for (unsigned i = 0; i < header.region_count; ++i) {
    set(base++, 0, region_bytes[i], kAligned | kWrite);
  }
  for (; base < payload::kBaseCount; ++base) {
    regions_[base].rights = 0;  // no reference to it is contained, so overlap() never sees one
  }
}

bool Regions::contain(payload::Ref ref, std::uint32_t bytes, std::uint32_t need) const {
  const Region& region = regions_[ref >> payload::kRefOffsetBits];
  const std::uint32_t alignment = need & (kWrite - 1);
  if ((need & ~region.rights) != 0 || (ref & (alignment - 1)) != 0) {
    return false;
  }
  // Size 0 wraps to more bytes than any region has; so does a reference before `begin`.
  return bytes - 1 < region.size && ref - region.begin <= region.size - bytes;
}

bool Regions::contain_constants(const payload::Ref* begin, const payload::Ref* end,
                                std::uint32_t bytes, std::uint32_t alignment,
                                std::uint32_t past) const {
  if (bytes - 1 > payload::kMaxRefOffset) {
    return false;  // none, or too many
  }
  const std::uint32_t last = bytes - 1 + past;  // byte that is loaded, relative to the reference
  std::uint32_t misaligned = 0;
  do {
    const payload::Ref ref = *begin;
    const Region& region = regions_[ref >> payload::kRefOffsetBits];
    if ((region.rights & kConstant) == 0 || last >= region.size ||
        ref - region.begin >= region.size - last) {
      return false;
    }
    misaligned |= ref;
  } while (++begin != end);
  return (misaligned & (alignment - 1)) == 0;
}

Regions::Overlap Regions::overlap(payload::Ref a, std::uint32_t a_bytes, payload::Ref b,
                                  std::uint32_t b_bytes) const {
  const payload::Ref a_place = a + regions_[a >> payload::kRefOffsetBits].to_place;
  const payload::Ref b_place = b + regions_[b >> payload::kRefOffsetBits].to_place;
  if (a_place - b_place >= b_bytes && b_place - a_place >= a_bytes) {
    return Overlap::kNone;
  }
  return a_place == b_place && a_bytes == b_bytes ? Overlap::kSame : Overlap::kPartial;
}

}  // namespace cmsis_nn_delegate::bounds
