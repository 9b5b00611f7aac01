// The order of the steps of a recurrent layer, and where each one reads and writes.
#pragma once

#include <cstdint>

#include "runtime/payload/bases.h"

namespace cmsis_nn_delegate {
namespace portable {

/// Where a step of one batch lies.
struct RecurrentStep {
  const std::int8_t* input;
  const std::int8_t* before;  // the output of the step before; nullptr before the first one
  std::int8_t* output;
};

template <typename Args>
class RecurrentSteps {
 public:
  RecurrentSteps(const Args& args, const Bases& bases)
      : args_(args),
        input_(bases.resolve<const std::int8_t>(args.input)),
        output_(bases.resolve<std::int8_t>(args.output)) {}

  /// Returns step number `index`, in [0, steps), of those that the layer computes one after another for `batch`.
  RecurrentStep at(std::int32_t batch, std::int32_t index) const {
    const std::int32_t time = args_.reverse != 0 ? args_.steps - 1 - index : index;
    const std::int32_t between = args_.reverse != 0 ? 1 : -1;
    const std::int32_t row = row_of(batch, time);
    return {input_ + row * args_.inputs,
            index == 0 ? nullptr : output_ + row_of(batch, time + between) * args_.hidden,
            output_ + row * args_.hidden};
  }

 private:
  std::int32_t row_of(std::int32_t batch, std::int32_t time) const {
    return args_.batch_first != 0 ? batch * args_.steps + time : time * args_.batch + batch;
  }

  const Args& args_;
  const std::int8_t* input_;
  std::int8_t* output_;
};

/// Calls step(place) for each step of each batch; a batch begins with a `state` of zeros.
template <typename Args, typename Step>
void for_each_step(const Args& args, const Bases& bases, std::int16_t* state, const Step& step) {
  const RecurrentSteps<Args> steps(args, bases);
  for (std::int32_t batch = 0; batch < args.batch; ++batch) {
    for (std::int32_t j = 0; state != nullptr && j < args.hidden; ++j) {
      state[j] = 0;
    }
    for (std::int32_t index = 0; index < args.steps; ++index) {
      step(steps.at(batch, index));
    }
  }
}

}  // namespace portable
}  // namespace cmsis_nn_delegate
