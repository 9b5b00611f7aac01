// Edits a payload in a buffer: resizes sections, adds and removes calls, and keeps references correct.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/payload/format.h"
#include "tests/fuzz/operands.h"
#include "tests/fuzz/random.h"

namespace cmsis_nn_delegate::fuzz {

/// The size of an element of an input or output; 1 for damaged types.
inline std::uint32_t element_bytes(const payload::IoTensor& tensor) {
  switch (static_cast<payload::DType>(tensor.dtype)) {
    case payload::DType::kInt64:
      return 8;
    case payload::DType::kInt32:
    case payload::DType::kFloat32:
      return 4;
    default:
      return 1;
  }
}

/// Ends the program unless `holds`: the mutator itself would leave the payload, and an access outside of it must not
/// pass for an error of the runtime, or be missed.
void expect(bool holds, const char* what);

/// Every access checks that it stays in the payload.
class Editor {
 public:
  static constexpr unsigned kMaxCalls = 48;

  /// `data`, 16-byte aligned, contains a payload of `size` bytes and has room for `capacity`.
  Editor(std::uint8_t* data, std::size_t size, std::size_t capacity)
      : data_(data), size_(size), capacity_(capacity) {
    expect(size <= capacity, "a payload is larger than its buffer");
  }

  /// Finds the sections and calls. Returns false if it cannot edit them: a damaged header, no calls, or too many.
  bool parse();

  std::size_t size() const { return size_; }
  payload::Header& header() { return at<payload::Header>(0); }
  unsigned tensor_count() { return header().input_count + header().output_count; }
  payload::IoTensor& tensor(unsigned index) {
    expect(index < tensor_count(), "there is no such input or output");
    return at<payload::IoTensor>(header().header_bytes + index * sizeof(payload::IoTensor));
  }

  /// Whether init() copies constants, and the base of the copies.
  bool copies() { return header().copied_bytes != 0; }
  unsigned copies_base() {
    return payload::kBaseIo + tensor_count() + (header().persistent_bytes == 0 ? 0 : 1);
  }

  /// The regions beside the arena: the base of the first one, whose successors follow, and their sizes.
  unsigned region_count() { return header().region_count; }
  unsigned region_base() { return copies_base() + (copies() ? 1 : 0); }
  std::uint32_t& region_size(unsigned index) {
    expect(index < region_count(), "there is no such region");
    return at<std::uint32_t>(header().header_bytes + tensor_count() * sizeof(payload::IoTensor) +
                             index * sizeof(std::uint32_t));
  }

  unsigned call_count() const { return call_count_; }
  std::uint16_t opcode(unsigned call) { return call_header(call).opcode; }
  void* args(unsigned call) {
    const std::uint32_t bytes = call_header(call).bytes;
    expect(bytes >= sizeof(payload::CallHeader) && bytes <= size_ - calls_[call],
           "a call reaches past the end");
    return data_ + calls_[call] + sizeof(payload::CallHeader);
  }
  template <typename Args>
  Args& args_as(unsigned call) {
    void* const at = args(call);
    expect(call_header(call).bytes == sizeof(payload::CallHeader) + sizeof(Args),
           "a call has the arguments of another operator");
    return *static_cast<Args*>(at);
  }
  std::uint32_t& word(unsigned call, std::uint16_t offset) {
    void* const at = args(call);
    expect(sizeof(payload::CallHeader) + offset + sizeof(std::uint32_t) <= call_header(call).bytes,
           "a field lies behind its call");
    return *reinterpret_cast<std::uint32_t*>(static_cast<std::uint8_t*>(at) + offset);
  }

  /// The words of the payload that `ref`, a multiple of 4, names: constants, or the copied ones. nullptr if it names no
  /// `bytes` of these.
  std::int32_t* constants(payload::Ref ref, std::uint32_t bytes);

  /// Returns the number of bytes to which references of `base` may point; 0 if there is no such base.
  std::uint32_t region_bytes(unsigned base);

  /// Returns the reference to byte `offset` of `base`.
  payload::Ref reference(unsigned base, std::uint32_t offset);

  /// Appends `bytes` of `random` values to the constants. Returns false if there is no room, or if something
  /// follows them.
  bool grow_constants(std::uint32_t bytes, Random& random);

  /// Inserts a copy of call `from` before call `to` (or after the last one).
  bool copy_call(unsigned from, unsigned to);
  void remove_call(unsigned call);
  void swap_calls(unsigned a, unsigned b);

  /// Inserts a call of `other`, an editor of another payload, before call `to`. Its references are not changed,
  /// so they point to arbitrary places.
  bool take_call(Editor& other, unsigned from, unsigned to);

  /// Makes arena, regions, constants, their copies, inputs and outputs as small as the calls allow, so that every read past the end of
  /// an operand is out of bounds.
  void fit_arena();
  void fit_region(unsigned index);
  void fit_constants();
  void fit_copies();
  void fit_tensor(unsigned index);

  void resize(std::size_t size) {
    expect(size <= capacity_, "a payload is larger than its buffer");
    size_ = size;
  }

 private:
  template <typename T>
  T& at(std::size_t offset) {
    expect(offset <= size_ && sizeof(T) <= size_ - offset, "an access outside of the payload");
    return *reinterpret_cast<T*>(data_ + offset);
  }
  payload::CallHeader& call_header(unsigned call) {
    expect(call < call_count_, "there is no such call");
    return at<payload::CallHeader>(calls_[call]);
  }
  /// Returns the end of the part of `base` that calls refer to, as an offset.
  std::uint32_t used(unsigned base);
  bool insert(const std::uint8_t* call, std::uint32_t bytes, unsigned to);
  void find_calls();

  std::uint8_t* data_;
  std::size_t size_;
  std::size_t capacity_;
  unsigned call_count_ = 0;
  std::uint32_t calls_[kMaxCalls];
};

}  // namespace cmsis_nn_delegate::fuzz
