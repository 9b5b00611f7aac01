// Reads the envelope of an image that MCUboot's imgtool has made: header, body, trailer of tags.
//
// MCUboot's documentation, "Image format" (docs/design.md), defines it. All numbers are little-endian.
#pragma once

#include <cstddef>
#include <cstdint>

namespace field_update {

/// A version as imgtool writes it: major.minor.revision+build.
struct Version {
  std::uint8_t major = 0;
  std::uint8_t minor = 0;
  std::uint16_t revision = 0;
  std::uint32_t build = 0;
};

/// Whether `a` is older than `b`. The build number counts too; MCUboot ignores it unless it is configured otherwise.
constexpr bool operator<(const Version& a, const Version& b) {
  if (a.major != b.major) {
    return a.major < b.major;
  }
  if (a.minor != b.minor) {
    return a.minor < b.minor;
  }
  if (a.revision != b.revision) {
    return a.revision < b.revision;
  }
  return a.build < b.build;
}

/// The bytes of the header at the start of an image.
inline constexpr std::size_t kImageHeaderBytes = 32;

struct Image {
  Version version;
  /// Lies in the slot, aligned like the slot to 16 bytes.
  const std::uint8_t* body = nullptr;
  std::size_t body_bytes = 0;
};

enum class ImageError : std::uint8_t {
  kNone,
  /// The slot is erased: its header consists of 0xFF.
  kEmpty,
  /// There is something else than an image.
  kNotAnImage,
  /// The image does not fit into the slot, its body is not 16-byte aligned, or its tags are missing.
  kSizes,
  /// The image has flags: its body is encrypted or compressed, so that it cannot be used where it is, or the image is marked as
  /// one that is not started, which MCUboot does not verify.
  kFlags,
};

/// Describes the image at the start of the `slot_bytes` bytes at `slot`, which is 16-byte aligned. Checks only that header
/// and tags are in their places: hash and signature are MCUboot's to check. `image` is unchanged after an error.
[[nodiscard]] ImageError open_image(const std::uint8_t* slot, std::size_t slot_bytes, Image& image);

}  // namespace field_update
