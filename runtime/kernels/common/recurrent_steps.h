// The order of the steps of a recurrent layer, and where each one reads and writes.
#pragma once

#include <executorch/runtime/core/error.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "runtime/kernels/common/sequence_lengths.h"
#include "runtime/payload/bases.h"
#include "runtime/payload/format.h"

namespace cmsis_nn_delegate::portable {

using executorch::runtime::Error;

template <typename Args, typename = void>
inline constexpr bool kHasProjection = false;
/// Whether calls with this argument block compute their outputs of the units.
template <typename Args>
inline constexpr bool kHasProjection<Args, std::void_t<decltype(Args::projection)>> = true;

/// Returns how many numbers the output of a step has: one of each unit, or those of a projection.
template <typename Args>
std::int32_t output_width(const Args& args) {
  if constexpr (kHasProjection<Args>) {
    return args.outputs;
  } else {
    return args.hidden;
  }
}

template <typename Args, typename = void>
inline constexpr bool kHasOutputOffset = false;
template <typename Args>
inline constexpr bool kHasOutputOffset<Args, std::void_t<decltype(Args::output_offset)>> = true;

/// Returns the zero point of the output: 0 where the type of it has no other.
template <typename Args>
std::int32_t output_offset(const Args& args) {
  if constexpr (kHasOutputOffset<Args>) {
    return args.output_offset;
  } else {
    return 0;
  }
}

/// Where a batch starts from: its state of 16 bits a unit, which the steps update, if the layer has one, and the output
/// before its first step. `Element` is the type of inputs and outputs, here and below.
template <typename Element>
struct RecurrentStartOf {
  std::int16_t* state;
  const Element* before;
};
using RecurrentStart = RecurrentStartOf<std::int8_t>;

/// Where a step of one batch lies.
template <typename Element>
struct RecurrentStepOf {
  const Element* input;
  const Element* before;  // the output of the step before
  Element* output;
  std::int16_t* state;
};
using RecurrentStep = RecurrentStepOf<std::int8_t>;

template <typename Args, typename Element = std::int8_t>
class RecurrentSteps {
 public:
  RecurrentSteps(const Args& args, const Bases& bases)
      : args_(args),
        input_(bases.resolve<const Element>(args.input)),
        output_(bases.resolve<Element>(args.output)) {}

  /// Returns step number `index`, in [0, count), of those that the layer computes one after another for `batch`.
  RecurrentStepOf<Element> at(std::int32_t batch, std::int32_t index, std::int32_t count,
                              const RecurrentStartOf<Element>& start) const {
    const std::int32_t time = args_.reverse != 0 ? count - 1 - index : index;
    const std::int32_t between = args_.reverse != 0 ? 1 : -1;
    const std::int32_t row = row_of(batch, time);
    return {
        input_ + row * args_.inputs,
        index == 0 ? start.before : output_ + row_of(batch, time + between) * output_width(args_),
        output_ + row * output_width(args_), start.state};
  }

  /// Writes zeros to the outputs of `batch` after its first `count` steps.
  void end(std::int32_t batch, std::int32_t count) const {
    for (std::int32_t time = count; time < args_.steps; ++time) {
      // A zero point of elements larger than a byte is 0.
      std::memset(output_ + row_of(batch, time) * output_width(args_), output_offset(args_),
                  static_cast<std::size_t>(output_width(args_)) * sizeof(Element));
    }
  }

 private:
  std::int32_t row_of(std::int32_t batch, std::int32_t time) const {
    return args_.batch_first != 0 ? batch * args_.steps + time : time * args_.batch + batch;
  }

  const Args& args_;
  const Element* input_;
  Element* output_;
};

/// Calls step(place) for each step of each batch, from start(batch, its steps). Returns InvalidArgument at the first
/// length that is not in [1, steps].
template <typename Element = std::int8_t, typename Args, typename Start, typename Step>
[[gnu::always_inline]] inline Error for_each_step(const Args& args, const Bases& bases,
                                                  const Start& start, const Step& step) {
  const RecurrentSteps<Args, Element> steps(args, bases);
  for (std::int32_t batch = 0; batch < args.batch; ++batch) {
    std::int32_t count = args.steps;
    if constexpr (kHasLengths<Args>) {
      count = length_of(args, bases, batch);
      if (count == 0) {
        return Error::InvalidArgument;
      }
    }
    const RecurrentStartOf<Element> from = start(batch, count);
    for (std::int32_t index = 0; index < count; ++index) {
      step(steps.at(batch, index, count, from));
    }
    if constexpr (kHasLengths<Args>) {
      steps.end(batch, count);
    }
  }
  return Error::Ok;
}

/// Returns the state of `batch` in `last`, [batch, hidden], where it is updated: that in `initial`, to begin with.
template <typename Args>
std::int16_t* initial_state(const Args& args, const Bases& bases, payload::Ref initial,
                            payload::Ref last, std::int32_t batch) {
  const auto* from = bases.resolve<const std::int16_t>(initial) + batch * args.hidden;
  auto* state = bases.resolve<std::int16_t>(last) + batch * args.hidden;
  for (std::int32_t j = 0; j < args.hidden; ++j) {
    state[j] = from[j];
  }
  return state;
}

/// Returns the output before the first step of `batch`, if the layer is given that.
template <typename Element = std::int8_t, typename Args>
const Element* initial_output(const Args& args, const Bases& bases, std::int32_t batch) {
  return bases.resolve<const Element>(args.initial_hidden) + batch * output_width(args);
}

}  // namespace cmsis_nn_delegate::portable
