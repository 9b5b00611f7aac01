// The order of the steps of a recurrent layer, and where each one reads and writes.
#pragma once

#include <cstdint>

#include "runtime/payload/bases.h"
#include "runtime/payload/format.h"

namespace cmsis_nn_delegate {
namespace portable {

/// Where a batch starts from: its state of 16 bits a unit, which the steps update, if the layer has one, and the output
/// before its first step.
struct RecurrentStart {
  std::int16_t* state;
  const std::int8_t* before;
};

/// Where a step of one batch lies.
struct RecurrentStep {
  const std::int8_t* input;
  const std::int8_t* before;  // the output of the step before
  std::int8_t* output;
  std::int16_t* state;
};

template <typename Args>
class RecurrentSteps {
 public:
  RecurrentSteps(const Args& args, const Bases& bases)
      : args_(args),
        input_(bases.resolve<const std::int8_t>(args.input)),
        output_(bases.resolve<std::int8_t>(args.output)) {}

  /// Returns step number `index`, in [0, steps), of those that the layer computes one after another for `batch`.
  RecurrentStep at(std::int32_t batch, std::int32_t index, const RecurrentStart& start) const {
    const std::int32_t time = args_.reverse != 0 ? args_.steps - 1 - index : index;
    const std::int32_t between = args_.reverse != 0 ? 1 : -1;
    const std::int32_t row = row_of(batch, time);
    return {input_ + row * args_.inputs,
            index == 0 ? start.before : output_ + row_of(batch, time + between) * args_.hidden,
            output_ + row * args_.hidden, start.state};
  }

 private:
  std::int32_t row_of(std::int32_t batch, std::int32_t time) const {
    return args_.batch_first != 0 ? batch * args_.steps + time : time * args_.batch + batch;
  }

  const Args& args_;
  const std::int8_t* input_;
  std::int8_t* output_;
};

/// Calls step(place) for each step of each batch, from start(batch).
template <typename Args, typename Start, typename Step>
[[gnu::always_inline]] inline void for_each_step(const Args& args, const Bases& bases,
                                                 const Start& start, const Step& step) {
  const RecurrentSteps<Args> steps(args, bases);
  for (std::int32_t batch = 0; batch < args.batch; ++batch) {
    const RecurrentStart from = start(batch);
    for (std::int32_t index = 0; index < args.steps; ++index) {
      step(steps.at(batch, index, from));
    }
  }
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
template <typename Args>
const std::int8_t* initial_output(const Args& args, const Bases& bases, std::int32_t batch) {
  return bases.resolve<const std::int8_t>(args.initial_hidden) + batch * args.hidden;
}

}  // namespace portable
}  // namespace cmsis_nn_delegate
