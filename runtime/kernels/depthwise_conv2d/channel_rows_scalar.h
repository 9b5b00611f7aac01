// The inner loops of channel_rows.h for instruction sets without DSP: assembly, and form ANY in C++.
#pragma once

#include <cstdint>
#include <cstring>

#include "runtime/kernels/common/requantization_scalar.h"
#include "runtime/kernels/depthwise_conv2d/channel_rows.h"
#include "runtime/kernels/depthwise_conv2d/channel_rows_members.h"

namespace cmsis_nn_delegate::tuned {

extern "C" {
/// Computes a row of outputs of one channel whose form is a product. `column` is the channel's byte in the first
/// column, `table` its words in the table.
void cmsis_nn_delegate_filter_row_stride1(const std::uint8_t* column, const std::int32_t* table,
                                          std::int8_t* output, const portable::ChannelRow* row);
void cmsis_nn_delegate_filter_row_stride2(const std::uint8_t* column, const std::int32_t* table,
                                          std::int8_t* output, const portable::ChannelRow* row);
/// Stores the sums of a row of outputs of one channel, without those for inputs of -128, after the third row of each
/// column where a window ends: at the channel's byte, or in the word that begins there on cores that need that.
void cmsis_nn_delegate_add_row_stride1(const std::uint8_t* column, const std::int32_t* table,
                                       std::int32_t outputs);
void cmsis_nn_delegate_add_row_stride2(const std::uint8_t* column, const std::int32_t* table,
                                       std::int32_t outputs);
}

class ScalarChannelRows {
 public:
  static void filter_stride1(const portable::ChannelRow& row) {
    filter<1>(row, cmsis_nn_delegate_filter_row_stride1, cmsis_nn_delegate_add_row_stride1);
  }
  static void filter_stride2(const portable::ChannelRow& row) {
    filter<2>(row, cmsis_nn_delegate_filter_row_stride2, cmsis_nn_delegate_add_row_stride2);
  }

 private:
#if __ARM_ARCH_ISA_THUMB >= 2
  static constexpr bool kAlignedSums = false;
#else
  static constexpr bool kAlignedSums = true;
#endif

  template <std::int32_t kStride, typename Filter, typename Add>
  static void filter(const portable::ChannelRow& row, Filter filter_row, Add add_row) {
    using namespace portable::channel_rows;  // NOLINT(google-build-using-namespace)
    const std::int32_t* table = row.table;
    for (std::int32_t channel = 0; channel < row.channels; ++channel, table += kWords) {
      const std::uint8_t* const column = row.window + row.first + channel;
      std::int8_t* output = row.output + channel;
      if (is_product(table)) {
        filter_row(column, table, output, &row);
        continue;
      }
      add_row(column, table, row.outputs);
      const std::uint8_t* sum =
          (kAlignedSums ? row.window : column) + (kTaps - 1) * kColumnBytes + kTaps * kRowBytes;
      for (std::int32_t i = 0; i < row.outputs; ++i, sum += kStride * kColumnBytes) {
        std::int32_t products = 0;
        std::memcpy(&products, kAlignedSums ? __builtin_assume_aligned(sum, 4) : sum,
                    sizeof(products));
        *output = static_cast<std::int8_t>(requantization::any(
            portable::wrapping_add(products, table[kStart]), table + kScale, row.least, row.most));
        output += row.column_bytes;
      }
    }
  }
};

}  // namespace cmsis_nn_delegate::tuned
