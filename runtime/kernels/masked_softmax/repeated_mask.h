// The mask of a softmax.
#pragma once

#include <cstdint>

namespace cmsis_nn_delegate::portable {

/// The rows of a mask in turn, again and again.
class RepeatedMask {
 public:
  RepeatedMask(const std::int8_t* rows, std::int32_t count, std::int32_t row_size)
      : first_(rows), row_(rows), end_(rows + count * row_size), row_size_(row_size) {}

  bool counts(std::int32_t i) const { return row_[i] == 0; }

  void next_row() {
    row_ += row_size_;
    if (row_ == end_) {
      row_ = first_;
    }
  }

 private:
  const std::int8_t* first_;
  const std::int8_t* row_;
  const std::int8_t* end_;
  std::int32_t row_size_;
};

}  // namespace cmsis_nn_delegate::portable
