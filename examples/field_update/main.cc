// Classifies digits with a model that can be updated without the firmware.
//
// The memory at the mailbox stands for the board's external flash and for its radio. A simulator loads it before reset:
// first the partition with two slots, as a programmer has written it, then the images that are received one after the
// other, each after its size in 4 bytes and padded to 4, and at the end a size of 0.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "examples/field_update/model_slots.h"
#include "examples/firmware/images.h"
#include "platforms/bsp/bsp.h"
#include "runtime/kernels/selected.h"
#include "runtime/payload/crc32.h"

namespace {

using cmsis_nn_delegate::CmsisNnBackend;
using cmsis_nn_delegate::Config;
using cmsis_nn_delegate::StandaloneModelBase;
using executorch::runtime::Error;
using field_update::ModelSlots;
using field_update::Refusal;
using field_update::Version;

constexpr std::size_t kSlotBytes = 32 * 1024;
constexpr std::size_t kPartitionBytes = ModelSlots::kCount * kSlotBytes;
constexpr std::size_t kPartBytes = 192;  // what arrives at once
constexpr std::size_t kArenaBytes = 8 * 1024;
constexpr std::size_t kPixels = sizeof(kImages[0]);
constexpr std::size_t kDigits = 10;

alignas(cmsis_nn_delegate::payload::kAlignment) std::uint8_t arena[kArenaBytes];

/// On a board these are calls of the driver of its flash. Flash that is not erased keeps its zeros.
class MailboxFlash final : public field_update::Flash {
 public:
  bool erase(std::size_t offset, std::size_t bytes) override {
    std::memset(__mailbox_start + offset, 0xFF, bytes);
    return true;
  }
  bool write(std::size_t offset, const std::uint8_t* data, std::size_t bytes) override {
    for (std::size_t i = 0; i < bytes; ++i) {
      __mailbox_start[offset + i] &= data[i];
    }
    return true;
  }
  const std::uint8_t* memory() const override { return __mailbox_start; }
};

void print(const char* text) { bsp_write(text, std::strlen(text)); }

void print(std::uint32_t number) {
  char digits[10];
  std::size_t first = sizeof(digits);
  do {
    digits[--first] = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number != 0);
  bsp_write(digits + first, sizeof(digits) - first);
}

void print(const Version& version) {
  print(std::uint32_t{version.major});
  print(".");
  print(std::uint32_t{version.minor});
  print(".");
  print(std::uint32_t{version.revision});
  print("+");
  print(version.build);
}

/// Classifies all images; prints how many are right, and the CRC-32 of all outputs.
void classify(ModelSlots& slots) {
  StandaloneModelBase& model = *slots.model();
  const auto& input = model.tensor(0);
  std::uint32_t right = 0;
  std::uint32_t crc = 0;
  for (int i = 0; i < kImageCount; ++i) {
    auto* pixels = static_cast<std::int8_t*>(model.data(0));
    for (std::size_t k = 0; k < kPixels; ++k) {
      const float steps = static_cast<float>(kImages[i][k]) / 16.0f / input.scale;
      const auto q = static_cast<std::int32_t>(steps + 0.5f) + input.zero_point;
      pixels[k] = static_cast<std::int8_t>(q > 127 ? 127 : q);
    }
    if (model.run() != Error::Ok) {
      print("the model cannot run\n");
      bsp_exit(1);
    }
    const auto* scores = static_cast<const std::int8_t*>(model.data(1));
    crc = cmsis_nn_delegate::crc32(scores, kDigits, crc);
    std::size_t best = 0;
    for (std::size_t k = 1; k < kDigits; ++k) {
      best = scores[k] > scores[best] ? k : best;
    }
    right += best == kLabels[i] ? 1 : 0;
  }
  print("model ");
  print(slots.version(slots.used()));
  print(" in slot ");
  print(std::uint32_t{slots.used()});
  print(": ");
  print(right);
  print(" of ");
  print(std::uint32_t{kImageCount});
  print(" are right, crc ");
  print(crc);
  print("\n");
}

/// Takes an image in parts, as it would arrive.
Refusal receive(ModelSlots& slots, const std::uint8_t* image, std::size_t bytes) {
  Refusal refusal = slots.begin_update();
  for (std::size_t at = 0; at < bytes && refusal == Refusal::kNone; at += kPartBytes) {
    refusal = slots.append(image + at, bytes - at < kPartBytes ? bytes - at : kPartBytes);
  }
  return refusal == Refusal::kNone ? slots.finish_update() : refusal;
}

}  // namespace

int main() {
  print("MCUboot checks signatures before this firmware starts; this firmware does not\n");
  Config config;
  config.verify_crc = true;
  // All kernels, because the next model may need others than the first one.
  const CmsisNnBackend backend(cmsis_nn_delegate::selected_kernels(), config);
  MailboxFlash flash;
  ModelSlots slots(backend, flash, kSlotBytes, {kPixels, kDigits}, arena, sizeof(arena));
  const bool found = slots.start();
  for (unsigned slot = 0; slot < ModelSlots::kCount; ++slot) {
    if (slots.refusal(slot) != Refusal::kNone) {
      print("slot ");
      print(std::uint32_t{slot});
      print(" is not used: ");
      print(explain(slots.refusal(slot)));
      print("\n");
    }
  }
  if (!found) {
    print("there is no model\n");
  } else {
    classify(slots);
  }
  const std::uint8_t* message = __mailbox_start + kPartitionBytes;
  for (;;) {
    std::uint32_t bytes = 0;
    std::memcpy(&bytes, message, sizeof(bytes));
    if (bytes == 0) {
      break;
    }
    const Refusal refusal = receive(slots, message + sizeof(bytes), bytes);
    print("update ");
    if (refusal == Refusal::kNone) {
      print("taken\n");
    } else {
      print("refused: ");
      print(explain(refusal));
      print("\n");
    }
    if (slots.model() != nullptr) {
      classify(slots);
    }
    message += sizeof(bytes) + (bytes + 3) / 4 * 4;
  }
  return slots.model() == nullptr ? 1 : 0;
}
