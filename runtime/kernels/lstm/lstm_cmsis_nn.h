// Computes LSTM layers by CMSIS-NN's function for a step.
#pragma once

#include "arm_nnsupportfunctions.h"
#include "runtime/kernels/cmsis_nn/cmsis_nn.h"
#include "runtime/kernels/cmsis_nn/convert.h"
#include "runtime/kernels/common/recurrent_steps.h"

namespace cmsis_nn_delegate::cmsis_nn {

/// Two gates of one batch, since the function overwrites those that it no longer needs.
template <typename Args>
std::uint32_t lstm_scratch_bytes(const void* args) {
  return 2 * 2 * static_cast<std::uint32_t>(static_cast<const Args*>(args)->hidden);
}

/// `kStep` is arm_nn_lstm_step_s8.
template <auto kStep, typename Args>
Error compute_lstm(const Args& a, const Bases& bases) {
  const auto* filter = bases.resolve<const std::int8_t>(a.filter);
  const auto* recurrent = bases.resolve<const std::int8_t>(a.recurrent);
  const auto* bias = bases.resolve<const std::int32_t>(a.bias);
  const auto* recurrent_bias = bases.resolve<const std::int32_t>(a.recurrent_bias);
  auto* gates = bases.resolve<std::int16_t>(a.scratch);
  const auto gate = [&](std::int32_t index, const payload::Gate& quant,
                        arm_nn_activation_type function) {
    const std::int32_t row = index * a.hidden;
    return cmsis_nn_lstm_gate{quant.input_multiplier,     quant.input_shift,
                              filter + row * a.inputs,    bias + row,
                              quant.recurrent_multiplier, quant.recurrent_shift,
                              recurrent + row * a.hidden, recurrent_bias + row,
                              /*bias=*/nullptr,           function};
  };
  // A step of one batch: CMSIS-NN's loop over steps knows no order but one.
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
  cmsis_nn_lstm_context context = {gates, gates + a.hidden, nullptr, nullptr};
  Error error = Error::Ok;
  const Error ended = portable::for_each_step(
      a, bases,
      [&](std::int32_t batch, std::int32_t /*steps*/) {
        return portable::RecurrentStart{
            portable::initial_state(a, bases, a.initial_cells, a.last_cells, batch),
            portable::initial_output(a, bases, batch)};
      },
      [&](const portable::RecurrentStep& step) {
        context.cell_state = step.state;
        const Error found =
            to_error(kStep(step.input, step.before, step.output, &params, &context, 1));
        error = found == Error::Ok ? error : found;
      });
  return ended == Error::Ok ? error : ended;
}

}  // namespace cmsis_nn_delegate::cmsis_nn
