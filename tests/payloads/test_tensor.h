// Arguments of a delegate call, for tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <executorch/runtime/core/evalue.h>

#include "tests/payloads/payload_builder.h"

namespace cmsis_nn_delegate::testing {

/// A tensor with its storage.
class TestTensor {
 public:
  TestTensor(executorch::runtime::etensor::ScalarType type, std::vector<std::int32_t> sizes,
             std::vector<std::uint8_t> dim_order)
      : sizes_(std::move(sizes)),
        dim_order_(std::move(dim_order)),
        strides_(sizes_.size(), 1),
        data_(4096),
        impl_(type, static_cast<ssize_t>(sizes_.size()), sizes_.data(), data_.data(),
              dim_order_.data(), strides_.data()),
        value_(executorch::runtime::etensor::Tensor(&impl_)) {}

  executorch::runtime::EValue* value() { return &value_; }
  void move_data(std::ptrdiff_t bytes) { impl_.set_data(data_.data() + bytes); }
  void drop_data() { impl_.set_data(nullptr); }
  template <typename T>
  T* data() {
    return reinterpret_cast<T*>(data_.data());
  }

 private:
  std::vector<std::int32_t> sizes_;
  std::vector<std::uint8_t> dim_order_;
  std::vector<std::int32_t> strides_;
  AlignedBytes data_;
  executorch::runtime::etensor::TensorImpl impl_;
  executorch::runtime::EValue value_;
};

}  // namespace cmsis_nn_delegate::testing
