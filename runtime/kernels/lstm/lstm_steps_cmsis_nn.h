// The steps of an LSTM layer by CMSIS-NN's function for one.
#pragma once

#include "arm_nnsupportfunctions.h"
#include "runtime/kernels/cmsis_nn/cmsis_nn.h"
#include "runtime/kernels/cmsis_nn/convert.h"

namespace cmsis_nn_delegate {
namespace cmsis_nn {

/// Computes all steps of `batch` for LstmArgs and LstmGivenArgs. `cells` are updated; `gates` are two of them, which the
/// function overwrites; `before` is the output before the first step.
template <typename Args>
Error run_lstm_steps(const Args& a, const Bases& bases, std::int32_t batch, std::int16_t* cells,
                     std::int16_t* gates, const std::int8_t* before) {
  const auto* input = bases.resolve<const std::int8_t>(a.input);
  const auto* filter = bases.resolve<const std::int8_t>(a.filter);
  const auto* recurrent = bases.resolve<const std::int8_t>(a.recurrent);
  const auto* bias = bases.resolve<const std::int32_t>(a.bias);
  const auto* recurrent_bias = bases.resolve<const std::int32_t>(a.recurrent_bias);
  auto* output = bases.resolve<std::int8_t>(a.output);
  const auto gate = [&](std::int32_t index, const payload::Gate& quant,
                        arm_nn_activation_type function) {
    const std::int32_t row = index * a.hidden;
    return cmsis_nn_lstm_gate{quant.input_multiplier,     quant.input_shift,
                              filter + row * a.inputs,    bias + row,
                              quant.recurrent_multiplier, quant.recurrent_shift,
                              recurrent + row * a.hidden, recurrent_bias + row,
                              /*bias=*/nullptr,           function};
  };
  const cmsis_nn_lstm_params params = {
      /*time_major=*/1,
      /*batch_size=*/1,
      /*time_steps=*/1, a.inputs, a.hidden,
      /*input_offset=*/0,
      // Q15 products in the steps of the cells.
      /*forget_to_cell_multiplier=*/std::int32_t{1} << 30,
      /*forget_to_cell_shift=*/-14,
      /*input_to_cell_multiplier=*/std::int32_t{1} << 30,
      /*input_to_cell_shift=*/a.cell_bits - 29,
      /*cell_clip=*/0,
      /*cell_scale_power=*/-a.cell_bits, a.output_multiplier, a.output_shift, a.output_offset,
      gate(1, a.forget_gate, ARM_SIGMOID), gate(0, a.input_gate, ARM_SIGMOID),
      gate(2, a.cell_gate, ARM_TANH), gate(3, a.output_gate, ARM_SIGMOID)};
  cmsis_nn_lstm_context context = {gates, gates + a.hidden, cells, nullptr};
  for (std::int32_t index = 0; index < a.steps; ++index) {
    const std::int32_t time = a.reverse != 0 ? a.steps - 1 - index : index;
    const std::int32_t row = a.batch_first != 0 ? batch * a.steps + time : time * a.batch + batch;
    std::int8_t* step_output = output + row * a.hidden;
    const arm_cmsis_nn_status status =
        arm_nn_lstm_step_s8(input + row * a.inputs, before, step_output, &params, &context, 1);
    if (status != ARM_CMSIS_NN_SUCCESS) {
      return to_error(status);
    }
    before = step_output;
  }
  return Error::Ok;
}

}  // namespace cmsis_nn
}  // namespace cmsis_nn_delegate
