#include "examples/field_update/model_slots.h"

#include "runtime/payload/crc32.h"
#include "runtime/payload/format.h"

namespace field_update {
namespace {

using cmsis_nn_delegate::payload::DType;
using cmsis_nn_delegate::payload::Header;
using executorch::runtime::Error;

namespace payload = cmsis_nn_delegate::payload;

Refusal refusal_of(ImageError error) {
  switch (error) {
    case ImageError::kNone:
      return Refusal::kNone;
    case ImageError::kEmpty:
      return Refusal::kEmpty;
    case ImageError::kNotAnImage:
      return Refusal::kNotAnImage;
    case ImageError::kSizes:
      return Refusal::kImageSizes;
    case ImageError::kFlags:
      return Refusal::kImageFlags;
  }
  return Refusal::kNotAnImage;
}

Refusal refusal_of(Error error) {
  switch (error) {
    case Error::Ok:
      return Refusal::kNone;
    case Error::DelegateInvalidCompatibility:
      return Refusal::kOtherKernels;
    case Error::MemoryAllocationFailed:
      return Refusal::kTooLittleMemory;
    case Error::InvalidArgument:
      return Refusal::kOtherTensors;
    default:
      return Refusal::kMalformed;
  }
}

bool is_int8(const payload::IoTensor& tensor, std::size_t bytes) {
  return tensor.dtype == static_cast<std::uint8_t>(DType::kInt8) && tensor.nbytes == bytes;
}

}  // namespace

const char* explain(Refusal refusal) {
  switch (refusal) {
    case Refusal::kNone:
      return "it can be used";
    case Refusal::kEmpty:
      return "there is no image";
    case Refusal::kNotAnImage:
      return "it does not begin with MCUboot's header: sign payloads with imgtool";
    case Refusal::kImageSizes:
      return "the image is cut off, larger than its slot, or not 16-byte aligned";
    case Refusal::kImageFlags:
      return "the image has flags: it is encrypted, compressed, or not verified by MCUboot";
    case Refusal::kNotNewer:
      return "its version is not newer than the one in use";
    case Refusal::kNotAPayload:
      return "the image has no payload of this delegate";
    case Refusal::kOtherFormat:
      return "the payload has another format version: compile the model with the release of this "
             "firmware";
    case Refusal::kPayloadBytes:
      return "the payload has another size than the image around it";
    case Refusal::kDamaged:
      return "the payload is damaged: its CRC is wrong";
    case Refusal::kOtherInstructionSet:
      return "the payload is for another instruction set: compile the model for this core";
    case Refusal::kOtherKernels:
      return "the payload needs kernels, or a revision of kernels, that this firmware does not "
             "have";
    case Refusal::kMalformed:
      return "the payload is malformed";
    case Refusal::kTooLittleMemory:
      return "the model needs more RAM than this firmware has for it";
    case Refusal::kOtherTensors:
      return "the model has other inputs or outputs";
    case Refusal::kFlash:
      return "the flash could not be written";
    case Refusal::kOutOfOrder:
      return "no update has begun";
  }
  return "";
}

ModelSlots::ModelSlots(const cmsis_nn_delegate::CmsisNnBackend& backend, Flash& flash,
                       std::size_t slot_bytes, Interface interface, std::uint8_t* arena,
                       std::size_t arena_bytes)
    : backend_(backend),
      flash_(flash),
      slot_bytes_(slot_bytes),
      interface_(interface),
      arena_(arena),
      arena_bytes_(arena_bytes) {}

bool ModelSlots::start() {
  used_ = kCount;
  updating_ = false;
  for (unsigned slot = 0; slot < kCount; ++slot) {
    refusals_[slot] = find(slot);
  }
  const bool second_is_newer = images_[0].version < images_[1].version;
  const bool first_has_image = refusals_[0] == Refusal::kNone;
  const unsigned preferred = !first_has_image || second_is_newer ? 1 : 0;
  for (const unsigned slot : {preferred, 1 - preferred}) {
    if (refusals_[slot] != Refusal::kNone) {
      continue;
    }
    if (has_model()) {
      refusals_[slot] = Refusal::kNotNewer;
      continue;
    }
    refusals_[slot] = load(slot);
    if (refusals_[slot] == Refusal::kNone) {
      used_ = slot;
    }
  }
  return has_model();
}

Refusal ModelSlots::begin_update() {
  target_ = used_ == 0 ? 1 : 0;
  refusals_[target_] = Refusal::kEmpty;
  received_ = 0;
  updating_ = flash_.erase(offset_of(target_), slot_bytes_);
  return updating_ ? Refusal::kNone : Refusal::kFlash;
}

Refusal ModelSlots::append(const std::uint8_t* data, std::size_t bytes) {
  if (!updating_) {
    return Refusal::kOutOfOrder;
  }
  if (bytes > slot_bytes_ - received_) {
    return Refusal::kImageSizes;
  }
  // The header waits until everything else is written.
  while (received_ < kImageHeaderBytes && bytes != 0) {
    header_[received_++] = *data++;
    --bytes;
  }
  if (bytes != 0 && !flash_.write(offset_of(target_) + received_, data, bytes)) {
    return Refusal::kFlash;
  }
  received_ += bytes;
  return Refusal::kNone;
}

Refusal ModelSlots::finish_update() {
  if (!updating_) {
    return Refusal::kOutOfOrder;
  }
  updating_ = false;
  Refusal refusal = Refusal::kImageSizes;
  if (received_ >= kImageHeaderBytes) {
    refusal = write_header() ? find(target_) : Refusal::kFlash;
  }
  if (refusal == Refusal::kNone && has_model() &&
      !(images_[used_].version < images_[target_].version)) {
    refusal = Refusal::kNotNewer;
  }
  if (refusal == Refusal::kNone) {
    refusal = load(target_);
  }
  if (refusal == Refusal::kNone) {
    if (has_model()) {
      refusals_[used_] = Refusal::kNotNewer;
    }
    used_ = target_;
  } else {
    // If this fails, start() refuses the slot for the same reason.
    static_cast<void>(flash_.erase(offset_of(target_), slot_bytes_));
  }
  refusals_[target_] = refusal;
  return refusal;
}

// In two steps: with the version first, a header whose writing was interrupted never has the magic number and another
// version than that of the image.
bool ModelSlots::write_header() {
  constexpr std::size_t kHalf = kImageHeaderBytes / 2;
  const std::size_t offset = offset_of(target_);
  return flash_.write(offset + kHalf, header_ + kHalf, kHalf) &&
         flash_.write(offset, header_, kHalf);
}

Refusal ModelSlots::find(unsigned slot) {
  images_[slot] = {};
  return refusal_of(open_image(flash_.memory() + offset_of(slot), slot_bytes_, images_[slot]));
}

// init() makes all of these checks too, and those of the calls. Here they are made one by one, because an image without
// logging learns of a refusal only by its Error, and in an order in which damage is told from foreign payloads.
Refusal ModelSlots::check_payload(const Image& image) const {
  const auto& header = *reinterpret_cast<const Header*>(image.body);
  if (image.body_bytes < sizeof(Header) || header.magic != payload::kMagic) {
    return Refusal::kNotAPayload;
  }
  if (header.format_version != payload::kFormatVersion) {
    return Refusal::kOtherFormat;
  }
  if (header.payload_bytes != image.body_bytes) {
    return Refusal::kPayloadBytes;
  }
  if (cmsis_nn_delegate::payload_crc32(image.body, image.body_bytes) != header.crc32) {
    return Refusal::kDamaged;
  }
  const auto isa = static_cast<payload::Isa>(header.isa);
  if (header.isa > static_cast<std::uint8_t>(payload::Isa::kMve) ||
      (backend_.kernels().provider->isas & cmsis_nn_delegate::isa_set(isa)) == 0) {
    return Refusal::kOtherInstructionSet;
  }
  return Refusal::kNone;
}

Refusal ModelSlots::load(unsigned slot) {
  Refusal refusal = check_payload(images_[slot]);
  if (refusal != Refusal::kNone) {
    return refusal;
  }
  auto& model = models_[slot];
  refusal = refusal_of(
      model.load(backend_, images_[slot].body, images_[slot].body_bytes, arena_, arena_bytes_));
  if (refusal != Refusal::kNone) {
    return refusal;
  }
  const auto& header = *reinterpret_cast<const Header*>(images_[slot].body);
  const bool usable = header.input_count == 1 && header.output_count == 1 &&
                      is_int8(model.tensor(0), interface_.input_bytes) &&
                      is_int8(model.tensor(1), interface_.output_bytes) &&
                      model.data(0) != nullptr && model.data(1) != nullptr;
  return usable ? Refusal::kNone : Refusal::kOtherTensors;
}

}  // namespace field_update
