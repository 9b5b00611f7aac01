// The building blocks of the checks of operators.
#pragma once

#include <executorch/runtime/platform/log.h>

#include <cinttypes>
#include <cstddef>
#include <cstdint>

#include "runtime/payload/bounds.h"
#include "runtime/payload/calls.h"
#include "runtime/payload/kernel.h"
#include "runtime/payload/multipliers.h"

namespace cmsis_nn_delegate {

/// The checks of one call. Each returns whether it holds; the first that fails logs what is wrong.
class CallCheck {
 public:
  /// Data that a call names.
  struct Bytes {
    payload::Ref ref;
    std::uint32_t count;
  };

  /// `regions` are those of `payload`. Both are borrowed.
  CallCheck(const std::uint8_t* payload, const bounds::Regions& regions)
      : payload_(payload), regions_(regions) {}

  /// Selects what is checked from here on: call number `index`, whose argument block has the size
  /// that its operator needs. Both references are borrowed.
  void look_at(const Kernel& kernel, [[maybe_unused]] std::uint32_t index, const Call& call) {
    kernel_ = &kernel;
    call_ = &call;
#if ET_LOG_ENABLED
    index_ = index;
#endif
  }

  const void* args() const { return call_->args(); }

  bool require(bool condition, [[maybe_unused]] const char* what) const {
    if (!condition) {
      ET_LOG(Error, "malformed payload: call %" PRIu32 " (opcode %u): %s", index_,
             static_cast<unsigned>(call_->opcode), what);
    }
    return condition;
  }

  bool in_ranges(bool condition) const {
    return require(condition, "a number is out of the range of its field");
  }

  /// An operand that the kernel only reads, wherever it lies.
  bool reads(const Bytes& input, bounds::Need alignment = bounds::kByteAligned) const {
    return require(regions_.contain(input.ref, input.count, alignment),
                   "an input reference is out of bounds or misaligned");
  }

  bool writes(const Bytes& output, bounds::Need alignment = bounds::kByteAligned) const {
    return require(regions_.contain(output.ref, output.count, alignment | bounds::kWrite),
                   "the output reference is out of bounds, misaligned or not writable");
  }

  /// The state that the kernel keeps from one execution to the next.
  bool state(const Bytes& state, bounds::Need alignment = bounds::kByteAligned) const {
    return require(
        regions_.contain(state.ref, state.count, alignment | bounds::kWrite | bounds::kPersistent),
        "a state reference is not persistent memory, out of bounds or misaligned");
  }

  bool filter(const Bytes& filter, std::uint32_t alignment = 1) const {
    return require(
        regions_.contain_constants({filter.ref}, filter.count, alignment, kernel_->past.filter),
        "the filter, or what the kernel loads past its end, is out of bounds, misaligned or not a "
        "constant");
  }

  /// Parameters of type T, each with one value per output channel.
  template <typename T, std::size_t kCount>
  bool parameters(const payload::Ref (&refs)[kCount], std::uint32_t channels) const {
    return require(regions_.contain_constants(refs, bounds::product(channels, sizeof(T)),
                                              alignof(T), kernel_->past.parameters),
                   "bias, multiplier or shift is out of bounds, misaligned or not a constant");
  }

  /// Parameters that are in bounds.
  const std::int32_t* constant(payload::Ref ref) const {
    return reinterpret_cast<const std::int32_t*>(payload_ + regions_.offset_of_constant(ref));
  }

  // Not inlined, because many operators end with these.

  /// The values of the multipliers and shifts of `channels` > 0 outputs; both are in bounds.
  [[gnu::noinline]] bool multipliers(payload::Ref multiplier, payload::Ref shift,
                                     std::int32_t channels) const {
    return require(multipliers_valid(constant(multiplier), constant(shift), channels),
                   "a multiplier or shift is out of range");
  }

  /// Whether the kernel may write `output` while it reads `input`; both are in bounds.
  [[gnu::noinline]] bool apart(const Bytes& input, const Bytes& output) const {
    using Overlap = bounds::Regions::Overlap;
    const Overlap overlap = regions_.overlap(input.ref, input.count, output.ref, output.count);
    return require(overlap == Overlap::kNone ||
                       (overlap == Overlap::kSame && kernel_->overwrites_input) ||
                       (kernel_->overlaps != nullptr &&
                        kernel_->overlaps(args(), regions_.distance(output.ref, input.ref))),
                   "the output overlaps an input");
  }

  /// Whether two operands have no byte in common; both are in bounds.
  bool disjoint(const Bytes& a, const Bytes& b) const {
    return require(
        regions_.overlap(a.ref, a.count, b.ref, b.count) == bounds::Regions::Overlap::kNone,
        "an output or a state overlaps another operand");
  }

  /// Whether no two operands have a byte in common, but for the first `inputs` ones, which may. All are in bounds.
  template <std::size_t kCount>
  bool disjoint(const Bytes (&operands)[kCount], std::size_t inputs) const {
    return disjoint(operands, kCount, inputs);
  }

  /// The same of scratch memory, and of all `operands` of a call that has more than two.
  template <std::size_t kCount>
  bool scratch(const Bytes& given, const Bytes (&operands)[kCount]) const {
    return scratch(given, operands[0], operands[1]) &&
           (given.count == 0 || apart_from(given, operands + 2, kCount - 2));
  }

  /// The scratch memory of a call, and whether it lies apart from the call's first two operands.
  /// Scratch memory of 0 bytes has no reference.
  [[gnu::noinline]] bool scratch(const Bytes& given, const Bytes& input,
                                 const Bytes& output) const {
    if (given.count == 0) {
      return require(given.ref == payload::kNoRef, "scratch memory of no bytes has a reference");
    }
    const auto meets = [&](const Bytes& other) {
      return regions_.overlap(given.ref, given.count, other.ref, other.count) !=
             bounds::Regions::Overlap::kNone;
    };
    return require(regions_.contain(given.ref, given.count, bounds::kBlockAligned | bounds::kWrite),
                   "the scratch reference is out of bounds, misaligned or not writable") &&
           require(!(meets(input) || meets(output)),
                   "the scratch memory overlaps the input or the output");
  }

  /// Whether the kernel supports these sizes. Call it after all other checks of fields.
  [[gnu::noinline]] bool accepted() const {
    return require(kernel_->accepts == nullptr || kernel_->accepts(args()),
                   "the kernel does not support these sizes: compile the model again");
  }

  /// Whether the scratch memory is as large as the kernel needs for the call's sizes. Call it after
  /// accepted().
  [[gnu::noinline]] bool scratch_suffices(std::int32_t bytes) const {
    return require(kernel_->scratch_bytes == nullptr ||
                       kernel_->scratch_bytes(args()) <= static_cast<std::uint32_t>(bytes),
                   "the kernel needs more scratch memory than scratch_bytes");
  }

 private:
  [[gnu::noinline]] bool disjoint(const Bytes* operands, std::size_t count,
                                  std::size_t inputs) const {
    for (std::size_t i = inputs; i < count; ++i) {
      if (!apart_from(operands[i], operands, i)) {
        return false;
      }
    }
    return true;
  }

  [[gnu::noinline]] bool apart_from(const Bytes& given, const Bytes* others,
                                    std::size_t count) const {
    for (std::size_t i = 0; i < count; ++i) {
      if (!disjoint(given, others[i])) {
        return false;
      }
    }
    return true;
  }

  const std::uint8_t* payload_;
  const bounds::Regions& regions_;
  const Kernel* kernel_ = nullptr;
  const Call* call_ = nullptr;
#if ET_LOG_ENABLED
  std::uint32_t index_ = 0;
#endif
};

}  // namespace cmsis_nn_delegate
