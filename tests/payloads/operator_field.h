// The members of argument blocks: see operator_fields.h.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>

namespace cmsis_nn_delegate {

/// What a member is. From kInput on it is a reference, from kFilter on one that names constants.
enum class FieldKind : std::uint8_t {
  kInteger,
  kFloat,
  kInput,
  kOutput,
  kState,
  kScratch,
  kFilter,
  kBias,
  kMultiplier,
  kShift,
};

/// A number of an argument block, in two bytes: test images, which have all kernels, keep some 25,000 of these in flash.
struct NumberAt {
  std::uint16_t offset : 12;  // aot/codegen refuses larger ones
  std::uint16_t bytes : 3;    // 2 or 4
  std::uint16_t is_signed : 1;

  constexpr std::int64_t low() const {
    return is_signed != 0 ? -(std::int64_t{1} << (8 * bytes - 1)) : 0;
  }
  constexpr std::int64_t high() const { return (std::int64_t{1} << (8 * bytes - is_signed)) - 1; }

  std::int32_t get(const void* args) const {
    const auto* at = static_cast<const char*>(args) + offset;
    if (bytes == sizeof(std::int32_t)) {
      return read<std::int32_t>(at);
    }
    return is_signed != 0 ? read<std::int16_t>(at) : read<std::uint16_t>(at);
  }

  /// Writes as many low bits of `value` as the number has.
  void set(void* args, std::int32_t value) const {
    std::memcpy(static_cast<char*>(args) + offset, &value, bytes);  // little-endian
  }

 private:
  template <typename T>
  static T read(const char* at) {
    T value;
    std::memcpy(&value, at, sizeof(value));
    return value;
  }
};

constexpr NumberAt i16(std::uint16_t offset) { return {offset, 2, 1}; }
constexpr NumberAt u16(std::uint16_t offset) { return {offset, 2, 0}; }
constexpr NumberAt i32(std::uint16_t offset) { return {offset, 4, 1}; }

/// A member of an argument block; nested structs are taken apart. References and floats have 4 bytes. There are thousands of
/// these in the flash of test images, so that their order leaves no gaps.
struct OperatorField {
#ifndef __arm__  // devices have no room for all of the names
  const char* name;
#endif
  NumberAt at;
  FieldKind kind;
  /// Of an integer with a range of its own, which is [low, high]. `related`: other members limit it, too.
  bool ranged = false;
  bool related = false;
  std::int32_t low = 0;
  std::int32_t high = 0;
  /// Of a reference: the data is so many elements as the product of these members.
  std::uint8_t alignment = 1;
  std::uint8_t element_bytes = 0;
  std::uint8_t factor_count = 0;
  std::uint8_t per_byte = 1;  // elements that share a byte
  NumberAt factors[4] = {};

  constexpr bool is_reference() const { return kind >= FieldKind::kInput; }
  constexpr bool is_constant() const { return kind >= FieldKind::kFilter; }

  /// The size of the data that this member of `args` names; 0 if a factor is not positive, at most 2^40.
  std::uint64_t bytes(const void* args) const {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 40;
    std::uint64_t size = element_bytes;
    for (unsigned i = 0; i < factor_count; ++i) {
      const std::int32_t factor = factors[i].get(args);
      if (factor <= 0) {
        return 0;
      }
      size *= static_cast<std::uint32_t>(factor);
      size = size < kMost ? size : kMost;
    }
    return (size + per_byte - 1) / per_byte;
  }
};

constexpr OperatorField member([[maybe_unused]] const char* name, NumberAt at, FieldKind kind) {
  OperatorField field = {};
#ifndef __arm__
  field.name = name;
#endif
  field.at = at;
  field.kind = kind;
  return field;
}

constexpr OperatorField integer(const char* name, NumberAt at) {
  return member(name, at, FieldKind::kInteger);
}

constexpr OperatorField ranged(const char* name, NumberAt at, std::int32_t low, std::int32_t high) {
  OperatorField field = integer(name, at);
  field.ranged = true;
  field.low = low;
  field.high = high;
  return field;
}

constexpr OperatorField related(const char* name, NumberAt at, std::int32_t low,
                                std::int32_t high) {
  OperatorField field = ranged(name, at, low, high);
  field.related = true;
  return field;
}

constexpr OperatorField real(const char* name, std::uint16_t offset) {
  return member(name, {offset, 4, 0}, FieldKind::kFloat);
}

constexpr OperatorField reference(const char* name, std::uint16_t offset, FieldKind kind,
                                  std::uint8_t alignment, std::uint8_t element_bytes,
                                  std::initializer_list<NumberAt> factors,
                                  std::uint8_t per_byte = 1) {
  OperatorField field = member(name, {offset, 4, 0}, kind);
  field.alignment = alignment;
  field.element_bytes = element_bytes;
  field.per_byte = per_byte;
  for (const NumberAt& factor : factors) {
    field.factors[field.factor_count++] = factor;
  }
  return field;
}

/// The members of an operator's argument block.
struct OperatorFields {
  const OperatorField* fields;
  std::uint16_t count;
  std::uint16_t bytes;  // of the argument block; 0: no operator has this opcode

  const OperatorField* begin() const { return fields; }
  const OperatorField* end() const { return fields + count; }
};

}  // namespace cmsis_nn_delegate
