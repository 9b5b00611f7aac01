// Linear layer of one row as products with blocks of eight channels.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/row_products.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

/// Computes one call: the body of a kernel's function, which has no call more for it. `Products` has the function of PlainRowProducts.
template <typename Products, typename Args>
[[gnu::always_inline]] inline Error compute_fully_connected_pairs(const void* args,
                                                                  const Bases& bases) {
  using Element = typename Products::Element;
  constexpr std::int32_t kStep = 8;  // inputs
  const auto& a = *static_cast<const Args*>(args);
  RowProductsOf<Element> products;
  products.input = bases.resolve<const Element>(a.input);
  const std::int32_t whole = a.inputs / kStep * kStep;
  products.input_end = products.input + whole;
  products.rest = products.rest_end = products.input_end;
  // Zeros follow the last inputs, because a step reads as many as it takes.
  Element rest[kStep] = {};
  if (whole != a.inputs) {
    for (std::int32_t i = whole; i < a.inputs; ++i) {
      rest[i - whole] = products.input[i];
    }
    products.rest = rest;
    products.rest_end = rest + kStep;
    if (whole == 0) {
      products.input = products.rest;
      products.input_end = products.rest_end;
    }
  }
  products.table = bases.resolve<const std::int32_t>(a.table);
  products.output = bases.resolve<Element>(a.output);
  products.channels = a.outputs;
  products.form = a.form;
  products.scales = bases.resolve<const std::int32_t>(a.scales);
  products.scale_bytes = a.scale_words == RowScale::kWords ? 0 : RowScale::kWords * 4;
  products.least = a.activation.min;
  products.most = a.activation.max;
  Products::multiply(products);
  return Error::Ok;
}

/// Returns whether table and scales have as many words as the sizes ask for; `kWords` are those of 8 inputs.
template <typename Args, std::int32_t kWords = 16>
bool fully_connected_pairs_accepts(const void* args) {
  const auto& a = *static_cast<const Args*>(args);
  return a.block_words == 8 + (a.inputs + 7) / 8 * kWords && a.blocks == (a.outputs + 7) / 8 &&
         (a.scale_words == RowScale::kWords || a.scale_words == RowScale::kWords * a.outputs);
}

/// Returns the kernel whose `run` calls compute_fully_connected_pairs().
constexpr Kernel fully_connected_pairs_kernel(Kernel::Run run) {
  return Kernel(operators::kFullyConnectedPairs, run)
      .limited_to(fully_connected_pairs_accepts<payload::FullyConnectedPairsArgs>)
      .only_of(payload::ProviderId::kTuned);
}

/// The same for weights of two channels in 16 bits.
constexpr Kernel fully_connected_joint_pairs_kernel(Kernel::Run run) {
  return Kernel(operators::kFullyConnectedJointPairs, run)
      .limited_to(fully_connected_pairs_accepts<payload::FullyConnectedJointPairsArgs>)
      .only_of(payload::ProviderId::kTuned);
}

/// The same for int16.
constexpr Kernel fully_connected_pairs_int16_kernel(Kernel::Run run) {
  return Kernel(operators::kFullyConnectedPairsInt16, run)
      .limited_to(fully_connected_pairs_accepts<payload::FullyConnectedPairsInt16Args>)
      .only_of(payload::ProviderId::kTuned);
}

/// The same for weights of 4 bits, of which a word of the table has those of four channels.
constexpr Kernel fully_connected_int4_pairs_kernel(Kernel::Run run) {
  return Kernel(operators::kFullyConnectedInt4Pairs, run)
      .limited_to(fully_connected_pairs_accepts<payload::FullyConnectedInt4PairsArgs, 8>)
      .only_of(payload::ProviderId::kTuned);
}

/// The same for int16 with weights of 4 bits.
constexpr Kernel fully_connected_int4_pairs_int16_kernel(Kernel::Run run) {
  return Kernel(operators::kFullyConnectedInt4PairsInt16, run)
      .limited_to(fully_connected_pairs_accepts<payload::FullyConnectedInt4PairsInt16Args, 8>)
      .only_of(payload::ProviderId::kTuned);
}

}  // namespace cmsis_nn_delegate::portable
