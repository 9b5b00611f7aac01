// LSTM layers with a projection, from tables of weights in the order of the products: the gates and units of an LSTM, and
// a linear layer of one row behind them in each step.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/lstm_units.h"
#include "runtime/kernels/common/row_products.h"
#include "runtime/kernels/common/vector_products.h"

namespace cmsis_nn_delegate::portable {

/// By pairs of units. `Products` has the function of PlainRowProducts.
template <typename Products>
class PairProjection {
 public:
  static constexpr std::int32_t kChannels = 8;  // of a block
  static constexpr std::int32_t kDepth = 8;
  static constexpr std::int32_t kLeast = 1;  // outputs

  static std::int64_t block_words(std::int64_t depth) { return kChannels + 2 * depth; }

  template <typename Args>
  PairProjection(const Args& a, const Bases& bases, const std::int8_t* units, std::int32_t depth) {
    // As requantization.py packs them: form ANY.
    const std::int32_t correction = 2 * a.output_offset + 1;
    scale_[0] = static_cast<std::int32_t>(static_cast<std::uint32_t>(correction) << 8 |
                                          (static_cast<std::uint32_t>(-a.output_shift) & 0xFF));
    scale_[1] = a.output_multiplier;
    products_ = {units,
                 units + depth,
                 units + depth,
                 units + depth,
                 bases.resolve<const std::int32_t>(a.projection),
                 nullptr,
                 a.outputs,
                 0,
                 scale_,
                 0,
                 INT8_MIN,
                 INT8_MAX};
  }
  PairProjection(const PairProjection&) = delete;
  PairProjection& operator=(const PairProjection&) = delete;

  void compute(std::int8_t* output) {
    RowProducts row = products_;  // in which the loop counts
    row.output = output;
    Products::multiply(row);
  }

 private:
  std::int32_t scale_[RowScale::kWords];
  RowProducts products_;
};

/// By vectors of units, which are all four windows of a group. `Products` has the functions of PlainVectorProducts.
template <typename Products>
class VectorProjection {
 public:
  static constexpr std::int32_t kChannels = vector_products::kChannels;
  static constexpr std::int32_t kDepth = vector_products::kVector;
  static constexpr std::int32_t kLeast = kChannels;

  static std::int64_t block_words(std::int64_t depth) { return 3 * kChannels + depth / 2; }

  template <typename Args>
  VectorProjection(const Args& a, const Bases& bases, const std::int8_t* units,
                   std::int32_t depth) {
    products_ = {{units, units, units, units},
                 bases.resolve<const std::int8_t>(a.projection),
                 nullptr,
                 a.outputs,
                 depth / kDepth,
                 0,
                 1,
                 a.output_offset,
                 INT8_MIN,
                 INT8_MAX,
                 0,
                 {0, 1, 0, 1, 0, 1, 0, 1}};
  }

  void compute(std::int8_t* output) {
    products_.output = output;
    Products::multiply(products_);
  }

 private:
  VectorProducts products_;
};

/// How many units a row of the projection has weights for.
template <typename Projection, typename Args>
std::int64_t projection_depth(const Args& a) {
  constexpr std::int64_t kDepth = Projection::kDepth;
  return (a.hidden + kDepth - 1) / kDepth * kDepth;
}

/// The units lie behind the gates: _Projected.scratch_bytes in Python.
template <typename Gates, typename Projection, typename Args>
std::uint32_t lstm_projected_rows_scratch_bytes(const void* args) {
  const auto& a = *static_cast<const Args*>(args);
  return gate_rows_scratch_bytes<Gates, Args>(args) +
         static_cast<std::uint32_t>(projection_depth<Projection>(a));
}

/// Returns whether both tables have as many words as the sizes ask for.
template <typename Gates, typename Projection, typename Args>
bool lstm_projected_rows_accept(const void* args) {
  const auto& a = *static_cast<const Args*>(args);
  constexpr std::int64_t kChannels = Projection::kChannels;
  return gate_rows_accept<Gates, Args, 4>(args) && a.outputs >= Projection::kLeast &&
         a.projection_blocks == (a.outputs + kChannels - 1) / kChannels &&
         a.projection_words == Projection::block_words(projection_depth<Projection>(a));
}

/// Computes one call: the body of a kernel's function.
template <typename Gates, typename Units, typename Projection, typename Args>
[[gnu::always_inline]] inline Error compute_lstm_projected_rows(const Args& a, const Bases& bases) {
  GatesOfStep<Gates, Args, 4> gates = lstm_gates<Gates>(a, bases);
  auto* units = bases.resolve<std::int8_t>(a.scratch) + gate_rows_scratch_bytes<Gates, Args>(&a);
  const auto depth = static_cast<std::int32_t>(projection_depth<Projection>(a));
  // What follows the last unit is multiplied with weights of 0.
  for (std::int32_t j = a.hidden; j < depth; ++j) {
    units[j] = 0;
  }
  LstmUnits of_step = {gates.gates(),
                       nullptr,
                       units,
                       a.hidden,
                       gates.gate_step(),
                       &kGateLines,
                       a.cell_bits,
                       a.unit_offset,
                       Gates::output_scale(a.unit_multiplier, a.unit_shift, a.unit_offset)};
  Projection projection(a, bases, units, depth);
  const auto start = [&](std::int32_t batch, std::int32_t /*steps*/) {
    return lstm_start(a, bases, batch);
  };
  return for_each_step(a, bases, start, [&](const RecurrentStep& step) {
    gates.compute(step.input, step.before);
    of_step.state = step.state;
    Units::compute(of_step);
    projection.compute(step.output);
  });
}

/// Returns the kernel whose `run` calls compute_lstm_projected_rows().
template <typename Gates, typename Projection, typename Args>
constexpr Kernel lstm_projected_rows_kernel(const Operator& op, Kernel::Run run) {
  return Kernel(op, run, lstm_projected_rows_scratch_bytes<Gates, Projection, Args>)
      .limited_to(lstm_projected_rows_accept<Gates, Projection, Args>)
      .only_of(payload::ProviderId::kTuned);
}

}  // namespace cmsis_nn_delegate::portable
