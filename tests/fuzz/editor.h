// Edits a payload in a buffer: its sections grow and shrink, calls come and go, references follow.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/payload/format.h"
#include "tests/fuzz/operands.h"
#include "tests/fuzz/random.h"

namespace cmsis_nn_delegate {
namespace fuzz {

class Editor {
 public:
  static constexpr unsigned kMaxCalls = 48;

  /// `data`, 16-byte aligned, has a payload of `size` bytes and room for `capacity`.
  Editor(std::uint8_t* data, std::size_t size, std::size_t capacity)
      : data_(data), size_(size), capacity_(capacity) {}

  /// Finds the sections and calls. False if there are none to edit: a damaged header, no calls, or too many.
  bool parse();

  std::size_t size() const { return size_; }
  payload::Header& header() { return at<payload::Header>(0); }
  payload::IoTensor* tensors() { return &at<payload::IoTensor>(header().tensors_offset); }
  unsigned tensor_count() { return header().input_count + header().output_count; }

  unsigned call_count() const { return call_count_; }
  std::uint16_t opcode(unsigned call) { return at<payload::CallHeader>(calls_[call]).opcode; }
  void* args(unsigned call) { return data_ + calls_[call] + sizeof(payload::CallHeader); }
  template <typename Args>
  Args& args_as(unsigned call) {
    return *static_cast<Args*>(args(call));
  }
  std::uint32_t& word(unsigned call, std::uint16_t offset) {
    return *reinterpret_cast<std::uint32_t*>(static_cast<std::uint8_t*>(args(call)) + offset);
  }

  /// The bytes that references of `base` may name; 0 if there is no such base.
  std::uint32_t region_bytes(unsigned base);

  /// The reference to byte `offset` of `base`.
  payload::Ref reference(unsigned base, std::uint32_t offset);

  /// Appends `bytes` of `random` values to the constants. False if there is no room, or something
  /// stands after them.
  bool grow_constants(std::uint32_t bytes, Random& random);

  /// Puts a copy of call `from` in front of call `to` (or after the last one).
  bool copy_call(unsigned from, unsigned to);
  void remove_call(unsigned call);
  void swap_calls(unsigned a, unsigned b);

  /// Puts a call of `other`, an editor of another payload, in front of call `to`. Its references go
  /// where they happen to point.
  bool take_call(Editor& other, unsigned from, unsigned to);

  /// Arena, constants, inputs and outputs as small as the calls allow: what is read past an end
  /// is then read outside of it.
  void fit_arena();
  void fit_constants();
  void fit_tensor(unsigned index);

  void resize(std::size_t size) { size_ = size; }

 private:
  template <typename T>
  T& at(std::size_t offset) {
    return *reinterpret_cast<T*>(data_ + offset);
  }
  /// The end of what calls name in `base`, from its offset 0.
  std::uint32_t used(unsigned base);
  bool insert(const std::uint8_t* call, std::uint32_t bytes, unsigned to);
  void find_calls();

  std::uint8_t* data_;
  std::size_t size_;
  std::size_t capacity_;
  unsigned call_count_ = 0;
  std::uint32_t calls_[kMaxCalls];
};

}  // namespace fuzz
}  // namespace cmsis_nn_delegate
