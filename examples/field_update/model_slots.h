// Two slots of flash for the payload of a model: one is used, the other one takes the next payload.
//
// Each slot has an image with MCUboot's header and signature around the payload. A payload is used only if it is newer than
// the one in use, undamaged, made for this firmware's instruction set and kernels, and a model with the same inputs and
// outputs; otherwise the reason is returned and the payload in use stays.
//
// After a reset at any point start() finds a payload that was in use before or has passed all checks: the slot in use is
// never written, and the header of an image, without which its slot counts as empty, is written last.
#pragma once

#include <cstddef>
#include <cstdint>

#include "examples/field_update/mcuboot_image.h"
#include "runtime/backend/cmsis_nn_backend.h"
#include "runtime/standalone/model.h"

namespace field_update {

/// The flash partition with both slots. It is mapped into memory, where payloads are used in place.
class Flash {
 public:
  /// Sets `bytes` bytes from `offset` on to 0xFF; both are multiples of the slots' size. Returns false if that failed.
  virtual bool erase(std::size_t offset, std::size_t bytes) = 0;

  /// Writes to erased flash, whose units of writing must divide 16 bytes. What append() is given must begin and end at
  /// such units. Returns false if that failed.
  virtual bool write(std::size_t offset, const std::uint8_t* data, std::size_t bytes) = 0;

  /// Where the partition begins, 16-byte aligned.
  virtual const std::uint8_t* memory() const = 0;

 protected:
  ~Flash() = default;
};

/// Why a slot, or what was received, is not used.
enum class Refusal : std::uint8_t {
  kNone,
  kEmpty,
  kNotAnImage,
  kImageSizes,
  kImageFlags,
  kNotNewer,
  kNotAPayload,
  kOtherFormat,
  kPayloadBytes,
  kDamaged,
  kOtherInstructionSet,
  kOtherKernels,
  kMalformed,
  kTooLittleMemory,
  kOtherTensors,
  kFlash,
  kOutOfOrder,
};

/// Returns a sentence without a full stop.
const char* explain(Refusal refusal);

/// What every payload must have: one input and one output of int8. Scales and zero points may change.
struct Interface {
  std::size_t input_bytes;
  std::size_t output_bytes;
};

class ModelSlots {
 public:
  static constexpr unsigned kCount = 2;

  /// `flash` has kCount slots of `slot_bytes` each, a multiple of 16. `arena` has memory for the activations of any
  /// payload that shall be accepted, 16-byte aligned. `backend`, `flash` and `arena` must outlive this. The backend
  /// must have Config::verify_crc.
  ModelSlots(const cmsis_nn_delegate::CmsisNnBackend& backend, Flash& flash, std::size_t slot_bytes,
             Interface interface, std::uint8_t* arena, std::size_t arena_bytes);

  /// Loads the newest payload that can be used. Returns whether there is one; refusal() says what is wrong with the
  /// others. Call this first.
  bool start();

  /// Begins an update: erases the slot that is not in use.
  [[nodiscard]] Refusal begin_update();

  /// Writes the next part of the image that is received. Errors: kImageSizes if the image exceeds its slot, kFlash,
  /// kOutOfOrder without begin_update().
  [[nodiscard]] Refusal append(const std::uint8_t* data, std::size_t bytes);

  /// Ends the update. After kNone model() is the new one. After a refusal the slot is erased, and model() is as before.
  [[nodiscard]] Refusal finish_update();

  /// The model in use; nullptr if there is none.
  cmsis_nn_delegate::StandaloneModelBase* model() {
    return has_model() ? &models_[used_] : nullptr;
  }

  /// The slot in use, less than kCount if there is one.
  unsigned used() const { return used_; }

  /// The version in `slot`, if refusal(slot) is kNone or the image could be read.
  const Version& version(unsigned slot) const { return images_[slot].version; }

  /// Why `slot` is not used, as found by start() or finish_update().
  Refusal refusal(unsigned slot) const { return refusals_[slot]; }

 private:
  bool has_model() const { return used_ < kCount; }
  std::size_t offset_of(unsigned slot) const { return slot * slot_bytes_; }
  bool write_header();
  Refusal find(unsigned slot);
  Refusal check_payload(const Image& image) const;
  Refusal load(unsigned slot);

  const cmsis_nn_delegate::CmsisNnBackend& backend_;
  Flash& flash_;
  const std::size_t slot_bytes_;
  const Interface interface_;
  std::uint8_t* const arena_;
  const std::size_t arena_bytes_;
  cmsis_nn_delegate::StandaloneModel<2> models_[kCount];
  Image images_[kCount];
  Refusal refusals_[kCount] = {Refusal::kEmpty, Refusal::kEmpty};
  unsigned used_ = kCount;

  // Of an update.
  bool updating_ = false;
  unsigned target_ = 0;
  std::size_t received_ = 0;
  std::uint8_t header_[kImageHeaderBytes] = {};
};

}  // namespace field_update
