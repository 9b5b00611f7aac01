#include "runtime/payload/bounds.h"

namespace cmsis_nn_delegate {
namespace bounds {
namespace {

constexpr payload::Ref make_ref(std::uint32_t base, std::uint32_t offset) {
  return base << payload::kRefOffsetBits | offset;
}

}  // namespace

Regions::Regions(const payload::Header& header, const payload::IoTensor* tensors) {
  for (Region& region : regions_) {
    region.rights = 0;
    region.to_place = 0;
  }
  regions_[payload::kBaseArena] = {make_ref(payload::kBaseArena, 0), header.arena_bytes,
                                   kByteAligned | kWordAligned | kBlockAligned | kWrite, 0};
  regions_[payload::kBaseConstant] = {make_ref(payload::kBaseConstant, header.constants_offset),
                                      header.constants_bytes,
                                      kByteAligned | kWordAligned | kBlockAligned, 0};
  const unsigned tensor_count = unsigned{header.input_count} + header.output_count;
  for (unsigned i = 0; i < tensor_count; ++i) {
    const payload::IoTensor& tensor = tensors[i];
    std::uint32_t rights = kByteAligned;
    if (tensor.dtype == static_cast<std::uint8_t>(payload::DType::kFloat32)) {
      rights |= kWordAligned;  // execute() checks it
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
}

bool Regions::contain(payload::Ref ref, std::uint32_t bytes, std::uint32_t need) const {
  const Region& region = regions_[ref >> payload::kRefOffsetBits];
  const std::uint32_t alignment = need & ~std::uint32_t{kWrite};
  if ((need & ~region.rights) != 0 || (ref & (alignment - 1)) != 0) {
    return false;
  }
  // Size 0 wraps to more than any region has, a reference before `begin` likewise.
  return bytes - 1 < region.size && ref - region.begin <= region.size - bytes;
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

}  // namespace bounds
}  // namespace cmsis_nn_delegate
