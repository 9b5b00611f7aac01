#include "examples/field_update/mcuboot_image.h"

namespace field_update {
namespace {

constexpr std::uint32_t kMagic = 0x96f3b83d;
constexpr std::uint16_t kTagsMagic = 0x6907;
constexpr std::uint16_t kProtectedTagsMagic = 0x6908;
constexpr std::size_t kTagsHeaderBytes = 4;  // magic and size, of which the header is a part
constexpr std::size_t kBodyAlignment = 16;   // of a payload

// By bytes: the header of an image in another folder of flash need not be aligned.
std::uint32_t number(const std::uint8_t* bytes, std::size_t count) {
  std::uint32_t value = 0;
  for (std::size_t i = count; i-- > 0;) {
    value = value << 8 | bytes[i];
  }
  return value;
}

/// Whether tags with this magic begin at `offset` and end within the slot. If `exact_bytes` is not 0, it must be their
/// size.
bool tags_fit(const std::uint8_t* slot, std::size_t slot_bytes, std::size_t offset,
              std::uint16_t magic, std::size_t exact_bytes) {
  if (slot_bytes - offset < kTagsHeaderBytes || number(slot + offset, 2) != magic) {
    return false;
  }
  const std::size_t bytes = number(slot + offset + 2, 2);
  return bytes >= kTagsHeaderBytes && bytes <= slot_bytes - offset &&
         (exact_bytes == 0 || bytes == exact_bytes);
}

}  // namespace

ImageError open_image(const std::uint8_t* slot, std::size_t slot_bytes, Image& image) {
  if (slot_bytes < kImageHeaderBytes) {
    return ImageError::kSizes;
  }
  const std::uint32_t magic = number(slot, 4);
  if (magic != kMagic) {
    return magic == 0xFFFFFFFF ? ImageError::kEmpty : ImageError::kNotAnImage;
  }
  const std::size_t header_bytes = number(slot + 8, 2);
  const std::size_t protected_bytes = number(slot + 10, 2);
  const std::size_t body_bytes = number(slot + 12, 4);
  if (header_bytes < kImageHeaderBytes || header_bytes % kBodyAlignment != 0 ||
      header_bytes > slot_bytes || body_bytes > slot_bytes - header_bytes ||
      protected_bytes > slot_bytes - header_bytes - body_bytes) {
    return ImageError::kSizes;
  }
  const std::size_t end = header_bytes + body_bytes;
  if ((protected_bytes != 0 &&
       !tags_fit(slot, slot_bytes, end, kProtectedTagsMagic, protected_bytes)) ||
      !tags_fit(slot, slot_bytes, end + protected_bytes, kTagsMagic, 0)) {
    return ImageError::kSizes;
  }
  if (number(slot + 16, 4) != 0) {
    return ImageError::kFlags;
  }
  image.version.major = slot[20];
  image.version.minor = slot[21];
  image.version.revision = static_cast<std::uint16_t>(number(slot + 22, 2));
  image.version.build = number(slot + 24, 4);
  image.body = slot + header_bytes;
  image.body_bytes = body_bytes;
  return ImageError::kNone;
}

}  // namespace field_update
